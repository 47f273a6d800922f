//! Builds the peers into the target folder.

pub(crate) mod jacorb;
pub(crate) mod omniorb;
