//! Addresses of links.

use std::fmt;
use std::net::IpAddr;

/// Name of the TCP link in addresses and options.
pub const IIOP: &str = "iiop";

/// Notation of the places in a link's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places {
    /// Host and port, as `host:port`. For an endpoint without a host an ORB listens at the wildcard addresses of IPv6 and IPv4,
    /// and references contain an address of this host in their place.
    Internet,
    /// Notation of the link alone. A link gets the place of an endpoint as it was written, even if it is empty, and references
    /// contain the place of [`crate::Acceptor::address`], which therefore has to be one that peers can use.
    Own,
}

/// Address of an endpoint: the name of its link and, in the link's own notation, the location, such
/// as host and port.
///
/// Equality is by text, which suits a connection cache: two spellings of one host are two
/// addresses, and at worst two connections.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    link: Box<str>,
    place: Box<str>,
}

impl Address {
    /// Makes an address from a link's name and a location in that link's notation.
    #[must_use]
    pub fn new(link: &str, place: &str) -> Self {
        Self {
            link: link.into(),
            place: place.into(),
        }
    }

    /// Makes a TCP address. `host` is a name or an IP address; an IPv6 address is given without
    /// brackets.
    #[must_use]
    pub fn iiop(host: &str, port: u16) -> Self {
        let place = if host.contains(':') {
            format!("[{host}]:{port}")
        } else {
            format!("{host}:{port}")
        };
        Self {
            link: IIOP.into(),
            place: place.into(),
        }
    }

    /// Returns the name of the link to which the address belongs.
    #[must_use]
    pub fn link(&self) -> &str {
        &self.link
    }

    /// Returns the location in the link's notation, e.g. `host:port`.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Returns host and port, if the location has that form.
    #[must_use]
    pub fn host_and_port(&self) -> Option<(&str, u16)> {
        let (host, port) = self.place.rsplit_once(':')?;
        let port = port.parse().ok()?;
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        match bare {
            Some(host) => Some((host, port)),
            None if host.contains(':') => None,
            None => Some((host, port)),
        }
    }
}

/// Returns whether a connection ends on this host: its link is local, or its ends have one IP
/// address or that of the loopback interface. A tunnel or a proxy on this host looks the same.
#[must_use]
pub fn stays_on_this_host(link_is_local: bool, local: &Address, peer: &Address) -> bool {
    let ip = |address: &Address| {
        let (host, _) = address.host_and_port()?;
        host.parse::<IpAddr>().ok().map(|ip| ip.to_canonical())
    };
    let (local, peer) = (ip(local), ip(peer));
    link_is_local || local.is_some_and(|ip| ip.is_loopback()) || (local.is_some() && local == peer)
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.link, self.place)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_host_is_bracketed_and_given_back_bare() {
        let address = Address::iiop("::1", 2809);
        assert_eq!(address.to_string(), "iiop://[::1]:2809");
        assert_eq!(address.host_and_port(), Some(("::1", 2809)));
    }

    #[test]
    fn a_connection_stays_here_by_its_link_or_by_its_ends() {
        let at = |host| Address::iiop(host, 1);
        let (near, far) = (at("10.0.0.1"), at("10.0.0.2"));
        assert!(stays_on_this_host(true, &near, &far));
        assert!(!stays_on_this_host(false, &near, &far));
        assert!(stays_on_this_host(false, &near, &near));
        assert!(stays_on_this_host(
            false,
            &at("127.0.0.1"),
            &at("localhost")
        ));
        assert!(stays_on_this_host(false, &at("::1"), &at("::1")));
        assert!(stays_on_this_host(false, &at("::ffff:127.0.0.1"), &far));
        let nameless = Address::new("diop", "somewhere");
        assert!(!stays_on_this_host(false, &nameless, &nameless));
    }

    #[test]
    fn a_place_without_a_port_has_no_host_and_port() {
        assert_eq!(Address::new("iiop", "host").host_and_port(), None);
        assert_eq!(Address::new("iiop", "host:99999").host_and_port(), None);
        assert_eq!(Address::new("iiop", "::1:80").host_and_port(), None);
        assert_eq!(Address::new("uiop", "/tmp/x").host_and_port(), None);
    }
}
