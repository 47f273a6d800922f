//! Priority of packets in networks: the differentiated services code point (RFC 2474).

use crate::traffic::Traffic;
use rustix::net::{AddressFamily, getsockname, sockopt};
use std::fmt;
use std::io;
use std::os::fd::AsFd;
use std::str::FromStr;
use std::sync::OnceLock;

/// Differentiated services code point, 0 to 63, of the packets that a socket sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dscp(u8);

/// Error for a text that names no code point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoDscp;

impl fmt::Display for NoDscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a DSCP is 0 to 63, EF, CS0 to CS7 or AF11 to AF43")
    }
}

impl Dscp {
    /// DSCP code point for expedited forwarding (RFC 3246).
    pub const EF: Self = Self(46);

    /// Makes a code point of its number; `None` above 63.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        match number {
            0..=63 => Some(Self(number)),
            _ => None,
        }
    }

    /// Returns the number of the DSCP code point.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }

    /// Sets the code point of a socket's packets: `IP_TOS`, and `IPV6_TCLASS` for an IPv6 socket. Sockets of other
    /// families have none, and stay as they are.
    ///
    /// With `IP_TOS` the kernel also sets the class of packets in this host (`SO_PRIORITY`), by bits of RFC 1349: to that of
    /// bulk transfers for AF11 and AF21, and to none in particular for most others. A class that was set
    /// ([`Traffic::socket_priority`]) stays.
    ///
    /// # Errors
    /// Errors of `setsockopt(2)`.
    pub fn apply(self, socket: impl AsFd) -> io::Result<()> {
        // The two low bits belong to congestion notification.
        let octet = self.0 << 2;
        let socket = socket.as_fd();
        match getsockname(socket)?.address_family() {
            AddressFamily::INET6 => {
                sockopt::set_ipv6_tclass(socket, octet.into())?;
            }
            AddressFamily::INET => {}
            _ => return Ok(()),
        }
        // An IPv6 socket may also send IPv4 packets.
        let before = sockopt::ip_tos(socket)?;
        let class = Traffic::of(socket)?.socket_priority;
        sockopt::set_ip_tos(socket, octet)?;
        match class {
            Some(class) if class != class_of(before) => Traffic {
                socket_priority: Some(class),
                ..Traffic::default()
            }
            .apply(socket),
            _ => Ok(()),
        }
    }

    /// Returns the code point of a socket's packets; `None` for a socket of another family than IPv4 and IPv6.
    ///
    /// # Errors
    /// Errors of `getsockopt(2)`.
    pub fn of(socket: impl AsFd) -> io::Result<Option<Self>> {
        let socket = socket.as_fd();
        let octet = match getsockname(socket)?.address_family() {
            AddressFamily::INET6 => sockopt::ipv6_tclass(socket)?,
            AddressFamily::INET => sockopt::ip_tos(socket)?.into(),
            _ => return Ok(None),
        };
        Ok(u8::try_from(octet >> 2).ok().and_then(Self::new))
    }
}

/// Code point of one socket's packets that changes with the priority of its messages, and goes back to the one before.
#[derive(Debug, Default)]
pub struct Marking {
    /// Class of packets in this host that was chosen for the socket: no code point changes it, 0 included.
    class: Option<u8>,
    /// Code point before the first change; inside, `None` for a socket that has none.
    unmarked: OnceLock<Option<Dscp>>,
}

impl Marking {
    /// Makes the marking of a socket that has been given this class ([`Traffic::socket_priority`]).
    #[must_use]
    pub const fn new(class: Option<u8>) -> Self {
        Self {
            class,
            unmarked: OnceLock::new(),
        }
    }

    /// Gives the socket's packets this code point; `None` gives them the one that they had before the first change.
    ///
    /// # Errors
    /// Errors of `setsockopt(2)` and `getsockopt(2)`.
    pub fn set(&self, socket: impl AsFd, dscp: Option<Dscp>) -> io::Result<()> {
        let socket = socket.as_fd();
        let dscp = match (dscp, self.unmarked.get()) {
            (Some(dscp), Some(_)) => dscp,
            (Some(dscp), None) => {
                let unmarked = Dscp::of(socket)?;
                // Where another thread was first, the code point that it read holds: that from before any change.
                self.unmarked.get_or_init(|| unmarked);
                dscp
            }
            (None, Some(Some(unmarked))) => *unmarked,
            (None, _) => return Ok(()),
        };
        dscp.apply(socket)?;
        Traffic {
            socket_priority: self.class,
            ..Traffic::default()
        }
        .apply(socket)
    }
}

/// Returns the class that the kernel derives from an octet of `IP_TOS`, by bits of RFC 1349.
fn class_of(octet: u8) -> u8 {
    match octet >> 3 & 0b11 {
        0 => 0,
        // Throughput: bulk.
        1 => 2,
        // Delay: interactive; both: interactive bulk.
        2 => 6,
        _ => 4,
    }
}

/// Parses a number, or a name of RFC 4594: `46`, `EF`, `CS5`, `AF41`.
impl FromStr for Dscp {
    type Err = NoDscp;

    fn from_str(text: &str) -> Result<Self, NoDscp> {
        if let Ok(number) = text.parse() {
            return Self::new(number).ok_or(NoDscp);
        }
        let upper = text.to_ascii_uppercase();
        if upper == "EF" {
            return Ok(Self::EF);
        }
        let (kind, digits) = upper.split_at_checked(2).ok_or(NoDscp)?;
        let digits: Vec<u8> = digits
            .bytes()
            .map(|digit| digit.wrapping_sub(b'0'))
            .collect();
        match (kind, digits.as_slice()) {
            ("CS", &[class @ 0..=7]) => Ok(Self(class << 3)),
            ("AF", &[class @ 1..=4, drop @ 1..=3]) => Ok(Self(class << 3 | drop << 1)),
            _ => Err(NoDscp),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn code_points_are_numbers_or_names() {
        let number = |text: &str| text.parse().map(Dscp::get);
        for (text, expected) in [
            ("0", 0),
            ("63", 63),
            ("EF", 46),
            ("ef", 46),
            ("CS0", 0),
            ("CS5", 40),
            ("AF11", 10),
            ("AF41", 34),
            ("AF43", 38),
        ] {
            assert_eq!(number(text), Ok(expected), "{text}");
        }
        for none in [
            "", "64", "-1", "E", "CS8", "CS", "AF14", "AF51", "AF4", "É1",
        ] {
            assert_eq!(number(none), Err(NoDscp), "{none}");
        }
    }

    #[test]
    fn a_class_that_was_set_stays_and_others_are_those_that_the_kernel_derives() {
        let class = |socket: &UdpSocket| Traffic::of(socket).unwrap().socket_priority.unwrap();
        let own = UdpSocket::bind("127.0.0.1:0").unwrap();
        for number in 0..64 {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            Dscp::new(number).unwrap().apply(&socket).unwrap();
            assert_eq!(class(&socket), class_of(number << 2), "{number}");
            Dscp::new(number).unwrap().apply(&own).unwrap();
            assert_eq!(class(&own), class_of(number << 2), "{number}");
        }
        let set = Traffic {
            socket_priority: Some(5),
            ..Traffic::default()
        };
        set.apply(&own).unwrap();
        for dscp in ["EF", "AF21", "0", "EF"] {
            dscp.parse::<Dscp>().unwrap().apply(&own).unwrap();
            assert_eq!(class(&own), 5, "{dscp}");
        }
    }

    #[test]
    fn a_marking_goes_back_to_the_code_point_before_it() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let of = |socket: &UdpSocket| Dscp::of(socket).unwrap().map(Dscp::get);
        let marking = Marking::default();
        // What was never marked stays.
        marking.set(&socket, None).unwrap();
        Dscp(10).apply(&socket).unwrap();
        marking.set(&socket, None).unwrap();
        assert_eq!(of(&socket), Some(10));
        for (dscp, expected) in [(Some(Dscp::EF), 46), (Some(Dscp(8)), 8), (None, 10)] {
            marking.set(&socket, dscp).unwrap();
            assert_eq!(of(&socket), Some(expected));
        }
        let (unix, _peer) = std::os::unix::net::UnixStream::pair().unwrap();
        let marking = Marking::default();
        marking.set(&unix, Some(Dscp::EF)).unwrap();
        marking.set(&unix, None).unwrap();
    }

    #[test]
    fn a_chosen_class_holds_whatever_the_marking_also_if_the_kernel_would_derive_it() {
        for chosen in [0, 2, 4, 6] {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            let marking = Marking::new(Some(chosen));
            let set = Traffic {
                socket_priority: Some(chosen),
                ..Traffic::default()
            };
            set.apply(&socket).unwrap();
            for dscp in ["EF", "AF21", "CS1", "AF11"].map(|text| text.parse().ok()) {
                for dscp in [dscp, None] {
                    marking.set(&socket, dscp).unwrap();
                    let class = Traffic::of(&socket).unwrap().socket_priority;
                    assert_eq!(class, Some(chosen), "{dscp:?}");
                }
            }
        }
    }

    #[test]
    fn a_socket_has_the_code_point_it_was_given() {
        let of_ipv4 = UdpSocket::bind("127.0.0.1:0").unwrap();
        Dscp::EF.apply(&of_ipv4).unwrap();
        assert_eq!(sockopt::ip_tos(&of_ipv4).unwrap(), 46 << 2);
        assert_eq!(Dscp::of(&of_ipv4).unwrap(), Some(Dscp::EF));
        // A machine may be without IPv6.
        if let Ok(of_ipv6) = UdpSocket::bind("[::1]:0") {
            Dscp::EF.apply(&of_ipv6).unwrap();
            assert_eq!(sockopt::ipv6_tclass(&of_ipv6).unwrap(), 46 << 2);
            assert_eq!(Dscp::of(&of_ipv6).unwrap(), Some(Dscp::EF));
        }
        let (unix, _peer) = std::os::unix::net::UnixStream::pair().unwrap();
        Dscp::EF.apply(&unix).unwrap();
        assert_eq!(Dscp::of(&unix).unwrap(), None);
    }
}
