//! Addresses of the link.

use crate::{Address, Cause, LinkError, Phase};

/// Name of the in-process link in addresses and options.
pub const NAME: &str = "inproc";

/// Returns the name in an address on such a network; empty to listen at a name that the network
/// chooses.
pub(super) fn checked(address: &Address, phase: Phase) -> Result<&str, LinkError> {
    if address.place().chars().any(char::is_control) {
        return Err(bad_address(phase));
    }
    Ok(address.place())
}

pub(super) fn bad_address(phase: Phase) -> LinkError {
    let cause = Cause::BadAddress("a name without control characters");
    LinkError { phase, cause }
}
