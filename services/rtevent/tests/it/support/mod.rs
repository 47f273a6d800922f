//! Peers that record what they are called with, and an allocator that counts.

pub(crate) mod allocator;
pub(crate) mod peers;
pub(crate) mod reports;
