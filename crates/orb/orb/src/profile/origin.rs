//! Origins of references, which determine which endpoints in them may be used.

use punctual_link::{Connection, Link};

/// Origin of an object reference, which determines the endpoints that may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Created by the ORB that the reference belongs to, so that the object belongs to its adapter.
    OwnOrb,
    /// Received from a process on this host, or parsed from a text.
    ThisHost,
    /// Received from a process on another host.
    Elsewhere,
}

impl Origin {
    /// Returns the origin of data received over a connection.
    pub(crate) fn of(link: &dyn Link, connection: &dyn Connection) -> Self {
        let (local, peer) = (connection.local(), connection.peer());
        match link.stays_on_this_host(local, peer) {
            true => Self::ThisHost,
            false => Self::Elsewhere,
        }
    }
}
