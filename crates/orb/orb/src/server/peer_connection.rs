//! Handle by which a servant sees whether a client's connection still exists.

use std::sync::{Arc, Weak};

/// Connection of a client, as a servant keeps it: it says whether the connection still exists, and holds nothing of it.
#[derive(Clone, Debug)]
pub struct PeerConnection(Weak<()>);

impl PeerConnection {
    /// Returns whether the connection exists. Neither blocks nor enters the kernel. Calls inside of a process have one
    /// that exists for as long as the process' ORB serves them.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.0.strong_count() > 0
    }
}

/// Life of a connection, which ends when this is dropped.
#[derive(Debug, Default)]
pub(super) struct Life(Arc<()>);

impl Life {
    pub(super) fn connection(&self) -> PeerConnection {
        PeerConnection(Arc::downgrade(&self.0))
    }
}
