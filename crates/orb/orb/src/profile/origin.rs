//! Origins of references, which decide to which endpoints they may lead.

use punctual_link::{Connection, Link, stays_on_this_host};

/// Origin of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Created by the reference's own ORB, so that the object is its adapter's.
    OwnOrb,
    /// Received from a process of this host, or parsed from a text.
    ThisHost,
    /// Received from another host.
    Elsewhere,
}

impl Origin {
    /// Returns the origin of data received by a connection.
    pub(crate) fn of(link: &dyn Link, connection: &dyn Connection) -> Self {
        let (local, peer) = (connection.local(), connection.peer());
        match stays_on_this_host(link.is_local(), local, peer) {
            true => Self::ThisHost,
            false => Self::Elsewhere,
        }
    }
}
