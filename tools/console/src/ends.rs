//! Addresses of both ends of a request's connection.

use std::net::SocketAddr;

/// Addresses of both ends of a request's connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionAddresses {
    /// Address of the browser.
    pub(crate) peer: SocketAddr,
    /// Address of the console.
    pub(crate) here: SocketAddr,
}
