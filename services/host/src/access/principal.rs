//! Principals: the peers to which a rule grants something, as text.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use thiserror::Error;

use super::Requester;

/// Set of peers that a rule names; its text form is that of [`FromStr`] and [`fmt::Display`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Principal {
    /// Text form `any`: all peers.
    Any,
    /// `local`: peers that use a link within this machine: a Unix socket, shared memory.
    Local,
    /// `owner`: peers that use a Unix socket and run as the user of this process, or as root.
    Owner,
    /// `10.0.0.0/8`, `::1`: peers whose address has these leading bits.
    Network {
        /// Network address whose leading bits are compared.
        address: IpAddr,
        /// Number of leading bits of the address that are compared.
        bits: u8,
    },
    /// `cert:NAME`: peers whose TLS certificate proves NAME, its subject's common name or an alternative name
    /// (DNS, URI or mail). The endpoint must ask for certificates (`client_certificate` in the configuration's `[tls]`).
    Certificate(String),
}

/// Error of a text that does not denote a principal.
#[derive(Clone, PartialEq, Eq, Error)]
#[error(
    "`{0}` is not a principal: expected `any`, `local`, `owner`, an address, a network such as `10.0.0.0/8`, or `cert:NAME`"
)]
pub struct BadPrincipal(String);

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for BadPrincipal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Principal {
    /// Returns true if a requester is among the principals. This process itself always is.
    #[must_use]
    pub fn includes(&self, by: &Requester) -> bool {
        let Requester::Peer {
            is_local,
            is_owner,
            address,
            names,
        } = by
        else {
            return true;
        };
        match self {
            Principal::Any => true,
            Principal::Local => *is_local,
            Principal::Owner => *is_owner,
            Principal::Network {
                address: network,
                bits,
            } => address.is_some_and(|address| shares_bits(address, *network, *bits)),
            Principal::Certificate(name) => names.contains(name),
        }
    }
}

/// Returns true if addresses agree in the first `bits` bits. A version 4 address may be given as
/// version 6.
fn shares_bits(one: IpAddr, other: IpAddr, bits: u8) -> bool {
    let differ = match (one.to_canonical(), other.to_canonical()) {
        (IpAddr::V4(one), IpAddr::V4(other)) => u128::from(one.to_bits() ^ other.to_bits()) << 96,
        (IpAddr::V6(one), IpAddr::V6(other)) => one.to_bits() ^ other.to_bits(),
        _ => return false,
    };
    differ.leading_zeros() >= u32::from(bits)
}

impl FromStr for Principal {
    type Err = BadPrincipal;

    fn from_str(text: &str) -> Result<Self, BadPrincipal> {
        let bad = || BadPrincipal(text.to_owned());
        match text {
            "any" => return Ok(Principal::Any),
            "local" => return Ok(Principal::Local),
            "owner" => return Ok(Principal::Owner),
            _ => {}
        }
        if let Some(name) = text.strip_prefix("cert:").filter(|name| !name.is_empty()) {
            return Ok(Principal::Certificate(name.to_owned()));
        }
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| bad())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), str::parse).map_err(|_| bad())?;
        match bits <= most {
            true => Ok(Principal::Network { address, bits }),
            false => Err(bad()),
        }
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Principal::Any => f.write_str("any"),
            Principal::Local => f.write_str("local"),
            Principal::Owner => f.write_str("owner"),
            Principal::Network { address, bits } => write!(f, "{address}/{bits}"),
            Principal::Certificate(name) => write!(f, "cert:{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(address: &str) -> Requester {
        Requester::Peer {
            is_local: false,
            is_owner: false,
            address: address.parse().ok(),
            names: vec!["crew".to_owned()],
        }
    }

    #[test]
    fn networks_are_those_of_their_first_bits_in_either_version() {
        for (principal, address, is_in) in [
            ("10.1.0.0/16", "10.1.2.3", true),
            ("10.1.0.0/16", "10.2.2.3", false),
            ("10.1.0.0/16", "::ffff:10.1.2.3", true),
            ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3", "10.1.2.4", false),
            ("0.0.0.0/0", "192.0.2.1", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("2001:db8::/32", "2001:db8::1", true),
            ("::1", "::1", true),
            ("::1", "::2", false),
        ] {
            let principal: Principal = principal.parse().unwrap();
            assert_eq!(
                principal.includes(&peer(address)),
                is_in,
                "{principal} {address}"
            );
        }
        assert!(
            "cert:crew"
                .parse::<Principal>()
                .unwrap()
                .includes(&peer("::1"))
        );
        assert!(
            !"cert:other"
                .parse::<Principal>()
                .unwrap()
                .includes(&peer("::1"))
        );
        assert!(!Principal::Local.includes(&peer("::1")));
        assert!(!Principal::Owner.includes(&peer("127.0.0.1")));
    }

    #[test]
    fn a_text_that_names_nobody_is_refused() {
        for text in [
            "",
            "anybody",
            "10.0.0.0/33",
            "::/129",
            "10.0.0.0/-1",
            "cert:",
            "host",
        ] {
            assert!(text.parse::<Principal>().is_err(), "{text}");
        }
        for text in ["any", "local", "owner", "10.0.0.0/8", "cert:a b"] {
            assert_eq!(text.parse::<Principal>().unwrap().to_string(), text);
        }
    }
}
