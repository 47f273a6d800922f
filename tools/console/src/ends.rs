//! Addresses of both ends of a request's connection.

use std::net::SocketAddr;

/// Addresses of both ends of an HTTP connection to the console.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionAddresses {
    /// Address of the browser's end of the connection.
    pub(crate) peer: SocketAddr,
    /// Address of the console's end of the connection.
    pub(crate) here: SocketAddr,
}
