//! The strategies by name.

use super::per_connection::PerConnection;
use super::reactor::OnReactor;

/// Who serves a connection.
#[derive(Debug)]
pub(in crate::server) enum Strategy {
    /// A thread of its own, which blocks in receiving, and others while that one is in an upcall.
    PerConnection(PerConnection),
    /// The threads of a reactor.
    Reactor(Box<OnReactor>),
}

impl Strategy {
    /// What it has where a reactor serves it.
    #[inline]
    pub(in crate::server) fn reactor(&self) -> Option<&OnReactor> {
        match self {
            Self::PerConnection(_) => None,
            Self::Reactor(on) => Some(on),
        }
    }
}
