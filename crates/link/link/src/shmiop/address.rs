//! Addresses of the link.

use crate::Address;

/// Name of the shared-memory link in addresses and options.
pub const NAME: &str = "shmiop";

/// Addresses of both ends of a shared-memory connection.
#[derive(Clone, Debug)]
pub(super) struct Addresses {
    pub(super) local: Address,
    pub(super) peer: Address,
}

/// Returns the address of the client's end of a connection to the socket at `path`.
pub(super) fn client_address(path: &str, end: &str) -> Address {
    Address::new(NAME, &format!("{path}#{end}"))
}
