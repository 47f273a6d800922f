//! Addresses of the link.

use crate::Address;

/// Name of the link in addresses and options.
pub const NAME: &str = "shmiop";

/// Addresses of the two ends of a connection.
#[derive(Clone, Debug)]
pub(super) struct Addresses {
    pub(super) local: Address,
    pub(super) peer: Address,
}

/// Returns the address of the client's end of a connection to the socket at `path`.
pub(super) fn client_address(path: &str, end: &str) -> Address {
    Address::new(NAME, &format!("{path}#{end}"))
}
