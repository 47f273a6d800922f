//! Multicast over UDP: membership of groups, and how datagrams to a group are sent.

use crate::traffic;
use rustix::net::{AddressFamily, SocketAddrAny, SocketFlags, SocketType, ipproto, sockopt};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;

/// Network interface for a group's datagrams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Interface {
    /// Interface that the kernel chooses by its routes.
    #[default]
    Any,
    /// Interface that has this address: for groups of IPv4.
    Address(Ipv4Addr),
    /// Interface of this name, such as `eth0`.
    Name(String),
}

impl Interface {
    /// Parses an IPv4 address, or a name.
    #[must_use]
    pub fn of(text: &str) -> Self {
        match text.parse() {
            Ok(address) => Self::Address(address),
            Err(_) => Self::Name(text.to_owned()),
        }
    }

    /// Returns address and index, each zero if it is not given.
    fn resolve(&self, socket: impl AsFd) -> io::Result<(Ipv4Addr, u32)> {
        Ok(match self {
            Self::Any => (Ipv4Addr::UNSPECIFIED, 0),
            Self::Address(address) => (*address, 0),
            Self::Name(name) => {
                let index = rustix::net::netdevice::name_to_index(socket, name);
                (Ipv4Addr::UNSPECIFIED, index.map_err(self.failed())?)
            }
        })
    }

    /// Returns the index of the interface for an IPv6 group, or 0 for the kernel's choice.
    fn index(&self, socket: impl AsFd, group: Ipv6Addr) -> io::Result<u32> {
        match self {
            Self::Address(_) => Err(unsupported(
                "the interface of an IPv6 group is given by its name",
            )),
            // The same address is another group at each interface.
            Self::Any if is_of_one_interface(group) => Err(unsupported(
                "an IPv6 group of one interface or link needs the interface's name",
            )),
            other => other.resolve(socket).map(|(_, index)| index),
        }
    }

    /// Returns a function that says of an error which interface it is about.
    fn failed<E: Into<io::Error>>(&self) -> impl Fn(E) -> io::Error {
        let name = match self {
            Self::Any => None,
            Self::Address(address) => Some(address.to_string()),
            Self::Name(name) => Some(name.clone()),
        };
        move |error| {
            let error: io::Error = error.into();
            match &name {
                Some(name) => {
                    io::Error::new(error.kind(), format!("network interface {name}: {error}"))
                }
                None => error,
            }
        }
    }
}

/// Returns whether an address of IPv6 means a group of each interface or each link of its own (RFC 4291, §2.7).
fn is_of_one_interface(group: Ipv6Addr) -> bool {
    let [_, flags_and_scope, ..] = group.octets();
    matches!(flags_and_scope & 0x0f, 1 | 2)
}

fn unsupported(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, why)
}

/// Makes a socket that receives what is sent to `group` and nothing else: neither datagrams to this host's own addresses
/// nor to other groups of the port. Other sockets, of other processes too, may be bound to the group beside it, and each
/// gets all datagrams. An IPv6 group of one interface or link is bound at `interface`.
///
/// # Errors
/// Errors of `socket` and `bind`, and those of an interface that cannot be had.
pub fn bind(mut group: SocketAddr, interface: &Interface) -> io::Result<UdpSocket> {
    let family = match group {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let (kind, flags) = (SocketType::DGRAM, SocketFlags::CLOEXEC);
    let socket = rustix::net::socket_with(family, kind, flags, Some(ipproto::UDP))?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    if let SocketAddr::V6(group) = &mut group
        && is_of_one_interface(*group.ip())
    {
        group.set_scope_id(interface.index(&socket, *group.ip())?);
    }
    rustix::net::bind(&socket, &SocketAddrAny::from(group))?;
    Ok(UdpSocket::from(socket))
}

/// Joins a group at an interface: for datagrams of all hosts or, with `sources`, of these hosts alone (source-specific
/// multicast). An IPv6 group is joined for all hosts in any case, and its receiver has to look at the sources.
///
/// # Errors
/// Errors of `setsockopt(2)`, and `Unsupported` for a combination that cannot be had.
pub fn join(
    socket: &UdpSocket,
    group: IpAddr,
    interface: &Interface,
    sources: &[IpAddr],
) -> io::Result<()> {
    match group {
        IpAddr::V4(group) => {
            // Otherwise the socket gets datagrams from interfaces where another socket of this host is a member.
            traffic::receive_all_groups(socket, false)?;
            let (address, index) = interface.resolve(socket)?;
            if sources.is_empty() {
                sockopt::set_ip_add_membership_with_ifindex(socket, &group, &address, index)
                    .map_err(interface.failed())?;
            }
            for source in sources {
                let IpAddr::V4(source) = source else {
                    return Err(unsupported("a source of an IPv4 group has an IPv4 address"));
                };
                if index != 0 {
                    return Err(unsupported(
                        "with sources, the interface is given by its address",
                    ));
                }
                sockopt::set_ip_add_source_membership(socket, &group, &address, source)
                    .map_err(interface.failed())?;
            }
        }
        IpAddr::V6(group) => {
            if sources.iter().any(IpAddr::is_ipv4) {
                return Err(unsupported("a source of an IPv6 group has an IPv6 address"));
            }
            traffic::receive_all_groups_of_ipv6(socket, false)?;
            let index = interface.index(socket, group)?;
            sockopt::set_ipv6_add_membership(socket, &group, index).map_err(interface.failed())?;
        }
    }
    Ok(())
}

/// Sets how a socket sends to `group`: by which interface, over how many routers (`ttl`: 1 for none), and whether members
/// on this host get the datagrams (the loopback interface delivers them anyway).
///
/// # Errors
/// Errors of `setsockopt(2)`, e.g. of an interface that does not exist.
pub fn set_sending(
    socket: &UdpSocket,
    group: IpAddr,
    interface: &Interface,
    ttl: u8,
    loopback: bool,
) -> io::Result<()> {
    match group {
        IpAddr::V4(_) => {
            let (address, index) = interface.resolve(socket)?;
            if *interface != Interface::Any {
                let none = Ipv4Addr::UNSPECIFIED;
                sockopt::set_ip_multicast_if_with_ifindex(socket, &none, &address, index)
                    .map_err(interface.failed())?;
            }
            sockopt::set_ip_multicast_ttl(socket, ttl.into())?;
            sockopt::set_ip_multicast_loop(socket, loopback)?;
        }
        IpAddr::V6(group) => {
            match interface.index(socket, group)? {
                0 => {}
                index => {
                    sockopt::set_ipv6_multicast_if(socket, index).map_err(interface.failed())?
                }
            }
            sockopt::set_ipv6_multicast_hops(socket, ttl.into())?;
            sockopt::set_ipv6_multicast_loop(socket, loopback)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const LOOPBACK: Interface = Interface::Address(Ipv4Addr::LOCALHOST);

    fn sender(loopback: bool) -> UdpSocket {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let group = IpAddr::V4(Ipv4Addr::new(239, 255, 77, 1));
        set_sending(&socket, group, &LOOPBACK, 0, loopback).unwrap();
        socket
    }

    #[test]
    fn each_socket_of_a_group_gets_what_is_sent_to_it() {
        let group: SocketAddr = "239.255.77.1:0".parse().unwrap();
        let first = bind(group, &LOOPBACK).unwrap();
        let group = first.local_addr().unwrap();
        let second = bind(group, &LOOPBACK).unwrap();
        for socket in [&first, &second] {
            socket
                .set_read_timeout(Some(Duration::from_secs(20)))
                .unwrap();
            join(socket, group.ip(), &LOOPBACK, &[]).unwrap();
        }
        if let Err(error) = sender(true).send_to(b"all", group) {
            eprintln!("skipped: there is no multicast on the loopback interface: {error}");
            return;
        }
        for socket in [&first, &second] {
            let mut buffer = [0; 8];
            assert_eq!(socket.recv(&mut buffer).unwrap(), 3);
        }
    }

    #[test]
    fn a_membership_for_sources_excludes_others() {
        let socket = bind("239.255.77.2:0".parse().unwrap(), &LOOPBACK).unwrap();
        let group = socket.local_addr().unwrap();
        let other = "127.0.0.99".parse().unwrap();
        join(&socket, group.ip(), &LOOPBACK, &[other]).unwrap();
        let sender = sender(true);
        if let Err(error) = sender.send_to(b"from another", group) {
            eprintln!("skipped: there is no multicast on the loopback interface: {error}");
            return;
        }
        let wanted = UdpSocket::bind("127.0.0.99:0").unwrap();
        set_sending(&wanted, group.ip(), &LOOPBACK, 0, true).unwrap();
        wanted.send_to(b"wanted", group).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let mut buffer = [0; 16];
        let (length, from) = socket.recv_from(&mut buffer).unwrap();
        assert_eq!((&buffer[..length], from.ip()), (&b"wanted"[..], other));
    }

    #[test]
    fn what_is_set_for_sending_is_read_back() {
        let group = "239.255.77.3".parse().unwrap();
        for (ttl, loopback) in [(7, false), (1, true)] {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            set_sending(&socket, group, &LOOPBACK, ttl, loopback).unwrap();
            assert_eq!(socket.multicast_ttl_v4().unwrap(), u32::from(ttl));
            assert_eq!(socket.multicast_loop_v4().unwrap(), loopback);
            let interface = sockopt::ip_multicast_if(&socket).unwrap();
            assert_eq!(interface, Ipv4Addr::LOCALHOST);
        }
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        set_sending(&socket, group, &Interface::of("lo"), 0, true).unwrap();
        assert_eq!(socket.multicast_ttl_v4().unwrap(), 0);
    }

    #[test]
    fn interfaces_are_given_by_address_or_name() {
        assert_eq!(Interface::of("127.0.0.1"), LOOPBACK);
        assert_eq!(Interface::of("lo"), Interface::Name("lo".to_owned()));
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert_ne!(Interface::of("lo").resolve(&socket).unwrap().1, 0);
        let error = Interface::of("none").resolve(&socket).unwrap_err();
        assert!(error.to_string().contains("network interface none"));
        assert!(LOOPBACK.index(&socket, Ipv6Addr::LOCALHOST).is_err());
    }
    #[test]
    fn an_address_that_no_interface_has_is_named() {
        let group = IpAddr::V4(Ipv4Addr::new(239, 255, 77, 4));
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let foreign = Interface::of("192.0.2.77");
        for failed in [
            join(&socket, group, &foreign, &[]),
            set_sending(&socket, group, &foreign, 1, true),
        ] {
            let error = failed.unwrap_err().to_string();
            assert!(error.contains("network interface 192.0.2.77"), "{error}");
        }
    }

    #[test]
    fn ipv6_groups_of_a_link_are_bound_at_the_interface_that_is_named() {
        if let Err(error) = UdpSocket::bind("[::1]:0") {
            eprintln!("skipped: there is no IPv6: {error}");
            return;
        }
        let lo = Interface::of("lo");
        for (group, of_one) in [
            ("ff01::77:1", true),
            ("ff02::77:1", true),
            ("ff05::77:1", false),
        ] {
            let group = SocketAddr::new(group.parse().unwrap(), 0);
            let socket = bind(group, &lo).unwrap();
            // The source is for the receiver to look at.
            join(&socket, group.ip(), &lo, &["::1".parse().unwrap()]).unwrap();
            assert!(!traffic::receives_all_groups_of_ipv6(&socket).unwrap());
            set_sending(&socket, group.ip(), &lo, 1, true).unwrap();
            assert_eq!(bind(group, &Interface::Any).is_err(), of_one, "{group}");
        }
    }
}
