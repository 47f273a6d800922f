//! Budget of the memory that all peers of one ORB together may occupy.

mod received;

pub(crate) use received::{Account, Evictable, Evicted, Hold, NoRoom, Received, host_of};
