//! What the peers of one ORB, all together, may have it hold.

mod received;

pub(crate) use received::{Account, Evictable, Evicted, Hold, NoRoom, Received, host_of};
