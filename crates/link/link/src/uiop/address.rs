//! Addresses of the link.

use crate::Address;

/// Name of the Unix-socket link in addresses and options.
pub const NAME: &str = "uiop";

/// Returns the address of a client's end: the socket's path and, after a `#`, the part that
/// distinguishes clients.
pub(super) fn client_address(path: &str, end: &str) -> Address {
    Address::new(NAME, &format!("{path}#{end}"))
}
