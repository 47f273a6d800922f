//! Peers that record what they are called with.

pub(crate) mod peers;
pub(crate) mod reports;
