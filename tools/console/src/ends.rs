//! The two ends of a request's connection.

use std::net::SocketAddr;

/// The two ends of a request's connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    /// The browser's.
    pub(crate) peer: SocketAddr,
    /// The console's.
    pub(crate) here: SocketAddr,
}
