//! Name and address of this host as its peers may reach it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Address families of a listener, for choosing an address to publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// Returns the address from which packets to another host would be sent, if this host has one.
///
/// Nothing is sent: a datagram socket is connected to an address of the documentation range (RFC
/// 5737, RFC 3849) and the kernel's routing choice is read back. Loopback and unspecified addresses
/// do not count, so the result is `None` on a host without a network.
#[must_use]
pub fn outbound_address(family: Family) -> Option<IpAddr> {
    let (local, remote): (SocketAddr, SocketAddr) = match family {
        Family::V4 => (
            (Ipv4Addr::UNSPECIFIED, 0).into(),
            (Ipv4Addr::new(192, 0, 2, 1), 9).into(),
        ),
        Family::V6 => (
            (Ipv6Addr::UNSPECIFIED, 0).into(),
            (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1), 9).into(),
        ),
    };
    let socket = UdpSocket::bind(local).ok()?;
    socket.connect(remote).ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then_some(address)
}

/// Returns this host's own name (`uname(2)`), if it is text.
#[must_use]
pub fn name() -> Option<String> {
    let name = rustix::system::uname();
    name.nodename().to_str().ok().map(str::to_owned)
}

/// Returns the identifier of this start of the kernel, which no other host or start has; `None` where the kernel does not
/// tell. Reads a file of `/proc`.
#[must_use]
pub fn boot() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

/// Returns the name of the time namespace of this process (`time_namespaces(7)`): processes of one start of the kernel and
/// one time namespace have the same monotonic clock. `None` where the kernel has none. Reads a link of `/proc`.
#[must_use]
pub fn time_namespace() -> Option<String> {
    let name = std::fs::read_link("/proc/self/ns/time").ok()?;
    name.to_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outbound_address_is_never_loopback_or_a_wildcard() {
        for family in [Family::V4, Family::V6] {
            if let Some(address) = outbound_address(family) {
                assert!(!address.is_loopback() && !address.is_unspecified());
            }
        }
    }
}
