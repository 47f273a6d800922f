//! Addresses of the link: multicast groups.

use crate::{Address, Cause, LinkError, Phase};
use std::net::{IpAddr, SocketAddr};

/// Name of the multicast link in addresses and options.
pub const NAME: &str = "miop";

/// Returns the group's address. Names are not looked up: a group has none.
pub(super) fn group(address: &Address, phase: Phase) -> Result<SocketAddr, LinkError> {
    let parsed = address.host_and_port().and_then(|(host, port)| {
        let ip: IpAddr = host.parse().ok()?;
        ip.is_multicast().then(|| SocketAddr::new(ip, port))
    });
    let bad = "a multicast group's IP address and port, as in 239.255.0.1:5555";
    parsed.ok_or(LinkError {
        phase,
        cause: Cause::BadAddress(bad),
    })
}
