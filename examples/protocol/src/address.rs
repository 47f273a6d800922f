//! Addresses: an IP number and a port. Host names are left out: looking one up needs a separate
//! thread, as the resolver knows no deadline.

use crate::NAME;
use punctual_link::{Address, Cause, LinkError, Phase};
use std::net::SocketAddr;

/// Converts an address of the link to a socket address.
///
/// # Errors
/// [`Cause::BadAddress`] for anything other than an IP number and a port.
pub fn socket(address: &Address) -> Result<SocketAddr, LinkError> {
    let own = (address.link() == NAME).then_some(address.place());
    own.and_then(|place| place.parse().ok()).ok_or(LinkError {
        phase: Phase::Resolve,
        cause: Cause::BadAddress("an IP number and a port: 127.0.0.1:2809 or [::1]:2809"),
    })
}

/// Converts a socket address to an address of the link.
#[must_use]
pub fn link(address: SocketAddr) -> Address {
    Address::new(NAME, &address.to_string())
}
