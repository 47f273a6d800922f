//! Where references come from: what they may lead to depends on that.

use punctual_link::{Connection, Link, stays_on_this_host};

/// Where a reference came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The reference's own ORB has made it, so that the object is its adapter's.
    OwnOrb,
    /// A process of this host, or a text.
    ThisHost,
    /// Another host.
    Elsewhere,
}

impl Origin {
    /// Of what came by a connection.
    pub(crate) fn of(link: &dyn Link, connection: &dyn Connection) -> Self {
        let (local, peer) = (connection.local(), connection.peer());
        match stays_on_this_host(link.is_local(), local, peer) {
            true => Self::ThisHost,
            false => Self::Elsewhere,
        }
    }
}
