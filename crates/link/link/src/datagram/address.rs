//! Addresses of the link.

use crate::Address;
use std::net::SocketAddr;

/// Name of the UDP link in addresses and options.
pub const NAME: &str = "diop";

/// Formats a socket address in the notation of UDP link addresses.
pub(super) fn from_socket(socket: SocketAddr) -> Address {
    let plain = SocketAddr::new(socket.ip().to_canonical(), socket.port());
    Address::new(NAME, &plain.to_string())
}
