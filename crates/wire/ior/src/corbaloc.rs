//! `corbaloc:` URLs (CORBA 3.3 part 2, §7.6.10): references that people can type.
//!
//! ```text
//! corbaloc:rir:/NameService
//! corbaloc:iiop:1.2@host:2809,:[::1]:2810/Key%20with%20space
//! ```

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use punctual_cdr::{ByteOrder, CdrError};
use thiserror::Error;

use crate::iiop::{Endpoint, IiopProfile, IiopVersion};
use crate::reference::Ior;

/// The port that an address without one means.
pub const DEFAULT_IIOP_PORT: u16 = 2809;

/// The initial reference that `corbaloc:rir:` without a key means.
const DEFAULT_INITIAL_REFERENCE: &[u8] = b"NameService";

/// What the standard leaves unescaped in a key, beside letters and digits.
const UNESCAPED: &[u8] = b";/:?@&=+$,-_.!~*'()";

/// A parsed `corbaloc:` URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Corbaloc {
    /// Where the object may be, in order of preference; one at least. `Rir` stands alone.
    pub addresses: Vec<Address>,
    /// The object key, escapes resolved; for `rir` the name of the initial reference.
    pub key: Vec<u8>,
}

/// One address of a `corbaloc:` URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Address {
    /// IIOP over TCP.
    Iiop {
        /// The major version; 1.
        major: u8,
        /// The minor version; 0 unless told.
        minor: u8,
        /// A name or an address; an IPv6 address has no brackets here.
        host: String,
        /// The port.
        port: u16,
    },
    /// An initial reference of this ORB.
    Rir,
}

/// The part of a URL that is at fault; the ORB chooses a minor code by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorbalocPart {
    /// What stands before the first colon.
    Scheme,
    /// The list of addresses.
    Address,
    /// The key.
    SchemeSpecific,
}

/// Why a text is not a `corbaloc:` URL that can be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CorbalocError {
    /// The text does not begin with `corbaloc:`.
    #[error("the URL does not begin with 'corbaloc:'")]
    NotCorbaloc,
    /// An address names no protocol: its colon is missing.
    #[error("an address at offset {position} has no protocol and no colon")]
    NoProtocol {
        /// Offset in the URL, in octets.
        position: usize,
    },
    /// A protocol that is not supported.
    #[error("the protocol '{protocol}' is not supported{}", if *.known { " yet" } else { "" })]
    UnsupportedProtocol {
        /// Its name.
        protocol: String,
        /// Whether it is a protocol that other ORBs have.
        known: bool,
    },
    /// What stands before `@` is no version, or none that is known.
    #[error("'{text}' is not a version of IIOP that is known")]
    BadVersion {
        /// The text.
        text: String,
    },
    /// A host that cannot be one.
    #[error("'{text}' is not a host")]
    BadHost {
        /// The text.
        text: String,
    },
    /// A port that is no number from 1 to 65535.
    #[error("'{text}' is not a port")]
    BadPort {
        /// The text.
        text: String,
    },
    /// `rir` together with another address, or with something behind its colon.
    #[error("'rir:' stands alone")]
    RirNotAlone,
    /// A percent sign without two hexadecimal digits.
    #[error("the escape at offset {position} is not '%' and two hexadecimal digits")]
    BadEscape {
        /// Offset in the URL, in octets.
        position: usize,
    },
    /// A character in the key that has to be escaped.
    #[error("the character at offset {position} has to be escaped")]
    BadKeyCharacter {
        /// Offset in the URL, in octets.
        position: usize,
    },
}

impl CorbalocError {
    /// The part that is at fault.
    #[must_use]
    pub const fn part(&self) -> CorbalocPart {
        match self {
            Self::NotCorbaloc => CorbalocPart::Scheme,
            Self::BadEscape { .. } | Self::BadKeyCharacter { .. } => CorbalocPart::SchemeSpecific,
            _ => CorbalocPart::Address,
        }
    }
}

impl Corbaloc {
    /// Whether the URL names an initial reference of this ORB.
    #[must_use]
    pub fn is_rir(&self) -> bool {
        self.addresses.contains(&Address::Rir)
    }

    /// The reference that the URL stands for: one IIOP profile for each address, no type id.
    /// `None` for `rir`, which the ORB resolves.
    ///
    /// # Errors
    /// What a host name cannot be, if the value was not parsed.
    pub fn to_ior(&self) -> Result<Option<Ior>, CdrError> {
        let mut profiles = Vec::with_capacity(self.addresses.len());
        for address in &self.addresses {
            let Address::Iiop {
                major,
                minor,
                host,
                port,
            } = address
            else {
                return Ok(None);
            };
            let profile = IiopProfile {
                version: IiopVersion {
                    major: *major,
                    minor: *minor,
                },
                host: host.clone(),
                port: *port,
                object_key: self.key.clone(),
                components: Vec::new(),
            };
            profiles.push(profile.to_tagged(ByteOrder::NATIVE)?);
        }
        Ok(Some(Ior {
            type_id: String::new(),
            profiles,
        }))
    }
}

impl FromStr for Corbaloc {
    type Err = CorbalocError;

    fn from_str(url: &str) -> Result<Self, CorbalocError> {
        const SCHEME: &str = "corbaloc:";
        match url.get(..SCHEME.len()) {
            Some(scheme) if scheme.eq_ignore_ascii_case(SCHEME) => {}
            _ => return Err(CorbalocError::NotCorbaloc),
        }
        let mut addresses = Vec::new();
        let mut at = SCHEME.len();
        loop {
            let rest = url.get(at..).unwrap_or_default();
            let end = rest.find([',', '/']).unwrap_or(rest.len());
            let (address, tail) = rest.split_at(end);
            addresses.push(parse_address(address, at)?);
            at += end;
            if !tail.starts_with(',') {
                break;
            }
            at += 1;
        }
        if addresses.len() > 1 && addresses.contains(&Address::Rir) {
            return Err(CorbalocError::RirNotAlone);
        }
        // What is left is nothing, or a slash and the key.
        let key = url.get(at + 1..).unwrap_or_default();
        let mut key = unescape(key, at + 1)?;
        if key.is_empty() && addresses.contains(&Address::Rir) {
            key = DEFAULT_INITIAL_REFERENCE.to_vec();
        }
        Ok(Self { addresses, key })
    }
}

fn parse_address(text: &str, position: usize) -> Result<Address, CorbalocError> {
    let Some((protocol, address)) = text.split_once(':') else {
        return Err(CorbalocError::NoProtocol { position });
    };
    match protocol.to_ascii_lowercase().as_str() {
        "" | "iiop" => parse_iiop(address),
        "rir" if address.is_empty() => Ok(Address::Rir),
        "rir" => Err(CorbalocError::RirNotAlone),
        other => Err(CorbalocError::UnsupportedProtocol {
            known: ["uiop", "shmiop", "diop", "ssliop", "miop", "sciop", "htiop"].contains(&other),
            protocol: protocol.to_owned(),
        }),
    }
}

/// `[version @] host [: port]`; what is missing is 1.0, the local host, and 2809.
fn parse_iiop(text: &str) -> Result<Address, CorbalocError> {
    let (IiopVersion { major, minor }, text) = match text.split_once('@') {
        Some((version, rest)) => (parse_version(version)?, rest),
        None => (IiopVersion { major: 1, minor: 0 }, text),
    };
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let bad_host = || CorbalocError::BadHost {
                text: text.to_owned(),
            };
            let (host, port) = rest.split_once(']').ok_or_else(bad_host)?;
            host.parse::<Ipv6Addr>().map_err(|_| bad_host())?;
            let port = match port.strip_prefix(':') {
                Some(port) => Some(port),
                None if port.is_empty() => None,
                None => return Err(bad_host()),
            };
            (host, port)
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let name = |octet: u8| octet.is_ascii_alphanumeric() || b"-._:".contains(&octet);
    if !host.bytes().all(name) {
        return Err(CorbalocError::BadHost {
            text: host.to_owned(),
        });
    }
    let port = port.map_or(Ok(DEFAULT_IIOP_PORT), parse_port)?;
    let host = if host.is_empty() { "localhost" } else { host };
    Ok(Address::Iiop {
        major,
        minor,
        host: host.to_owned(),
        port,
    })
}

fn parse_version(text: &str) -> Result<IiopVersion, CorbalocError> {
    let number = |text: &str| -> Option<u8> {
        let digits = text.bytes().all(|octet| octet.is_ascii_digit());
        digits.then(|| text.parse().ok()).flatten()
    };
    text.split_once('.')
        .and_then(|(major, minor)| {
            Some(IiopVersion {
                major: number(major)?,
                minor: number(minor)?,
            })
        })
        .filter(|version| version.major == 1)
        .ok_or_else(|| CorbalocError::BadVersion {
            text: text.to_owned(),
        })
}

fn parse_port(text: &str) -> Result<u16, CorbalocError> {
    let digits = text.bytes().all(|octet| octet.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|port| digits && *port != 0)
        .ok_or_else(|| CorbalocError::BadPort {
            text: text.to_owned(),
        })
}

fn unescape(text: &str, start: usize) -> Result<Vec<u8>, CorbalocError> {
    let mut key = Vec::with_capacity(text.len());
    let mut octets = (start..).zip(text.bytes());
    while let Some((position, octet)) = octets.next() {
        match octet {
            b'%' => {
                let mut half = || {
                    let (_, digit) = octets.next()?;
                    let value = char::from(digit).to_digit(16)?;
                    u8::try_from(value).ok()
                };
                match (half(), half()) {
                    (Some(high), Some(low)) => key.push(high << 4 | low),
                    _ => return Err(CorbalocError::BadEscape { position }),
                }
            }
            // More than the standard's set is accepted, as long as nobody can misread it.
            _ if octet.is_ascii_graphic() => key.push(octet),
            _ => return Err(CorbalocError::BadKeyCharacter { position }),
        }
    }
    Ok(key)
}

/// Shows a URL that parses to the same value.
impl fmt::Display for Corbaloc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("corbaloc:")?;
        for (index, address) in self.addresses.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            address.fmt(f)?;
        }
        f.write_str("/")?;
        for octet in &self.key {
            if octet.is_ascii_alphanumeric() || UNESCAPED.contains(octet) {
                write!(f, "{}", char::from(*octet))?;
            } else {
                write!(f, "%{octet:02x}")?;
            }
        }
        Ok(())
    }
}

/// Shows the address as it stands in a URL.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iiop {
                major,
                minor,
                host,
                port,
            } => {
                let endpoint = Endpoint {
                    host: host.clone(),
                    port: *port,
                };
                write!(f, "iiop:{major}.{minor}@{endpoint}")
            }
            Self::Rir => f.write_str("rir:"),
        }
    }
}
