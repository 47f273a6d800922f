//! Links between channels, as settings describe them.

use super::datagram::HEADER;
use punctual_rtevent::Selector;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::str::FromStr;
use thiserror::Error;

/// Link from or to another channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// Channel of another server, by a reference: `corbaloc:…`, `corbaname:…` or `IOR:…`.
    Reference(String),
    /// UDP, to or from an address or a multicast group.
    Udp(UdpLink),
}

/// UDP, to or from an address or a multicast group: `udp://239.255.1.1:10001?ttl=2&types=16,17`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UdpLink {
    /// Address to send to, or to receive at; a multicast group is joined.
    pub address: SocketAddrV4,
    /// Interface of a multicast group by its address (`interface`). Default: that of the system's route.
    pub interface: Ipv4Addr,
    /// Number of routers that datagrams to a multicast group may cross, plus one (`ttl`). Default: 1.
    pub ttl: u32,
    /// Maximum octets of a datagram (`datagram`), 64 to 65,507. Default: 1,024, as TAO sends.
    pub datagram: usize,
    /// Maximum octets a second (`rate`), with bursts of at most 64 KiB. Default: 12,500,000, that is 100 Mbit/s.
    pub rate: u32,
    /// Send, or check, the CRC-32 of each datagram (`checksum`). Default: false; all peers have to agree.
    pub has_checksum: bool,
    /// Types of events that are sent (`types`). Default: all.
    pub types: Vec<i32>,
}

/// Reason why a text describes no link.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("`{text}` is no link to another channel: {problem}")]
pub struct LinkError {
    /// Text of the setting.
    pub text: String,
    /// Part of the text that is wrong.
    pub problem: String,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Shows the link's reference or address, without its parameters.
impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reference(text) => f.write_str(text),
            Self::Udp(link) => write!(f, "udp://{}", link.address),
        }
    }
}

impl FromStr for Link {
    type Err = LinkError;

    fn from_str(text: &str) -> Result<Self, LinkError> {
        let parsed = match text.strip_prefix("udp://") {
            Some(rest) => rest.parse().map(Self::Udp),
            None if is_reference(text) => Ok(Self::Reference(text.to_owned())),
            None => Err(
                "it begins with none of `udp://`, `corbaloc:`, `corbaname:` and `IOR:`".to_owned(),
            ),
        };
        parsed.map_err(|problem| LinkError {
            text: text.to_owned(),
            problem,
        })
    }
}

fn is_reference(text: &str) -> bool {
    let schemes = ["corbaloc:", "corbaname:", "IOR:"];
    schemes.iter().any(|scheme| text.starts_with(scheme))
}

/// Parses what stands behind `udp://`.
impl FromStr for UdpLink {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (address, parameters) = text.split_once('?').unwrap_or((text, ""));
        let address = address.parse::<SocketAddr>();
        let address = address
            .map_err(|_| "an IPv4 address and port is missing, such as 239.255.1.1:10001")?;
        let SocketAddr::V4(address) = address else {
            return Err("events go over IPv4 alone".to_owned());
        };
        if address.port() == 0 {
            return Err("the port is 0".to_owned());
        }
        let mut link = Self::new(address);
        for parameter in parameters.split('&').filter(|it| !it.is_empty()) {
            let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            link.set(key, value)?;
        }
        Ok(link)
    }
}

impl UdpLink {
    /// Returns a link with the defaults.
    #[must_use]
    pub const fn new(address: SocketAddrV4) -> Self {
        Self {
            address,
            interface: Ipv4Addr::UNSPECIFIED,
            ttl: 1,
            datagram: 1_024,
            rate: 12_500_000,
            has_checksum: false,
            types: Vec::new(),
        }
    }

    /// Returns true for a multicast group.
    #[must_use]
    pub const fn is_group(&self) -> bool {
        self.address.ip().is_multicast()
    }

    /// Returns the types and sources of events that are sent.
    pub(super) fn selectors(&self) -> Vec<Selector> {
        match self.types.as_slice() {
            [] => vec![Selector::default()],
            types => types.iter().map(|kind| Selector::new(*kind, 0)).collect(),
        }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let bad = |range: &str| format!("`{key}` is `{value}`, and takes {range}");
        let number = |least: u32, most: u32| {
            let parsed = value.parse::<u32>().ok();
            let inside = parsed.filter(|number| (least..=most).contains(number));
            inside.ok_or_else(|| bad(&format!("a number from {least} to {most}")))
        };
        match key {
            "interface" => {
                self.interface = value.parse().map_err(|_| bad("an IPv4 address"))?;
            }
            "ttl" => self.ttl = number(0, 255)?,
            "datagram" => self.datagram = number(2 * HEADER as u32, 65_507)? as usize,
            "rate" => self.rate = number(1_000, u32::MAX)?,
            "checksum" if value.is_empty() => self.has_checksum = true,
            "types" => {
                let types = value.split(',').map(str::parse).collect::<Result<_, _>>();
                self.types = types.map_err(|_| bad("numbers, with commas between"))?;
            }
            "checksum" => return Err(bad("no value")),
            _ => {
                let known = "interface, ttl, datagram, rate, checksum, types";
                return Err(format!("there is no `{key}`, but {known}"));
            }
        }
        Ok(())
    }
}
