//! Where something can be reached, for one link.

use std::fmt;

/// An address of some link: the link's name and, in the link's own notation, the rest.
///
/// Equality is by text, which is what a connection cache wants: two spellings of one host are two
/// addresses, and at worst two connections.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    link: Box<str>,
    place: Box<str>,
}

impl Address {
    /// `place` on `link`.
    #[must_use]
    pub fn new(link: &str, place: &str) -> Self {
        Self {
            link: link.into(),
            place: place.into(),
        }
    }

    /// A TCP address. `host` is a name or a number; an IPv6 number goes without brackets.
    #[must_use]
    pub fn iiop(host: &str, port: u16) -> Self {
        let place = if host.contains(':') {
            format!("[{host}]:{port}")
        } else {
            format!("{host}:{port}")
        };
        Self {
            link: crate::iiop::NAME.into(),
            place: place.into(),
        }
    }

    /// The link's name.
    #[must_use]
    pub fn link(&self) -> &str {
        &self.link
    }

    /// The place in the link's notation, e.g. `host:port`.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Host and port, where the place has that shape.
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
    fn a_place_without_a_port_has_no_host_and_port() {
        assert_eq!(Address::new("iiop", "host").host_and_port(), None);
        assert_eq!(Address::new("iiop", "host:99999").host_and_port(), None);
        assert_eq!(Address::new("iiop", "::1:80").host_and_port(), None);
        assert_eq!(Address::new("uiop", "/tmp/x").host_and_port(), None);
    }
}
