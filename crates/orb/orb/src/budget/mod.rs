//! Budget of the memory that all peers of one ORB together may occupy.

mod evictable;
mod host;
mod received;
#[cfg(test)]
mod received_tests;
mod usage;

pub(crate) use evictable::Evictable;
pub(crate) use host::host_of;
pub(crate) use received::{Account, Evicted, FREE, Hold, NoRoom, Received};
