//! Addresses of the links over UDP.

use crate::Address;
use std::net::SocketAddr;

/// Formats a socket address in the notation of UDP link addresses.
pub(crate) fn from_socket(link: &str, socket: SocketAddr) -> Address {
    let plain = SocketAddr::new(socket.ip().to_canonical(), socket.port());
    Address::new(link, &plain.to_string())
}
