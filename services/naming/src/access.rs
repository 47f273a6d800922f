//! Who may change what.
//!
//! Rights are granted below a context: for it, and for all contexts that were made in it or in those. What counts is
//! where a context was made (its home), not where it is bound: else whoever may bind below one context could bind
//! another there and change that. Whoever reaches the service may read all of it.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use punctual::RequestPeer;
use thiserror::Error;
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate};

use crate::cos_naming::NameComponent;
use crate::name::{from_text, key};
use crate::refusal::Refusal;
use crate::store::{ContextId, ROOT, Target};
use crate::tree::View;

/// Who may change which contexts. As long as nothing is granted to anybody, everybody may change everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    grants: Vec<Grant>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Grant {
    below: Vec<NameComponent>,
    to: Principal,
}

/// Those who are granted something, as text in [`FromStr`] and [`fmt::Display`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Principal {
    /// `any`: everybody.
    Any,
    /// `local`: who comes by a link within this machine: a Unix socket, shared memory.
    Local,
    /// `10.0.0.0/8`, `::1`: who comes from an address with the same first bits.
    Network {
        /// The address.
        address: IpAddr,
        /// How many bits count.
        bits: u8,
    },
    /// `cert:NAME`: who has proved by a TLS certificate to be NAME, its subject's common name or an alternative name
    /// (DNS, URI or mail). The endpoint must ask for certificates (`client_auth` in the configuration's `[tls]`).
    Certificate(String),
}

/// Why a text is no principal.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is none of `any`, `local`, an address or network as `10.0.0.0/8`, and `cert:NAME`")]
pub struct BadPrincipal(String);

/// Who asks for a change.
#[derive(Clone, Debug)]
pub(crate) enum Requester {
    /// This process, or somebody whom nobody has to know.
    Process,
    Peer {
        is_local: bool,
        address: Option<IpAddr>,
        names: Vec<String>,
    },
}

impl Access {
    /// Grants the right to change the context of that name, all contexts below it, and their bindings. An empty text
    /// means the root, and so everything.
    ///
    /// # Errors
    /// The text is no stringified name.
    pub fn grant(&mut self, below: &str, to: Principal) -> Result<(), Refusal> {
        let below = match below {
            "" => Vec::new(),
            below => from_text(below)?,
        };
        self.grants.push(Grant { below, to });
        Ok(())
    }

    pub(crate) fn is_restricted(&self) -> bool {
        !self.grants.is_empty()
    }

    /// Whether somebody may change a context.
    pub(crate) fn permits(&self, view: &impl View, context: ContextId, by: &Requester) -> bool {
        if self.grants.is_empty() || matches!(by, Requester::Process) {
            return true;
        }
        let homes = view.homes(context);
        let mut grants = self.grants.iter().filter(|grant| grant.to.includes(by));
        grants.any(|grant| made_at(view, &grant.below).is_some_and(|at| homes.contains(&at)))
    }
}

/// The context of a name each of whose contexts was made in the one before it.
fn made_at(view: &impl View, name: &[NameComponent]) -> Option<ContextId> {
    name.iter().try_fold(ROOT, |home, component| {
        match view.target(home, &key(component)) {
            Some(Target::Context(next) | Target::Group { context: next, .. })
                if view.home(*next) == Some(home) =>
            {
                Some(*next)
            }
            _ => None,
        }
    })
}

impl Principal {
    fn includes(&self, by: &Requester) -> bool {
        let Requester::Peer {
            is_local,
            address,
            names,
        } = by
        else {
            return true;
        };
        match self {
            Principal::Any => true,
            Principal::Local => *is_local,
            Principal::Network {
                address: network,
                bits,
            } => address.is_some_and(|address| shares_bits(address, *network, *bits)),
            Principal::Certificate(name) => names.contains(name),
        }
    }
}

/// Whether addresses agree in so many bits. A version 4 address may come as version 6.
fn shares_bits(one: IpAddr, other: IpAddr, bits: u8) -> bool {
    let differ = match (one.to_canonical(), other.to_canonical()) {
        (IpAddr::V4(one), IpAddr::V4(other)) => u128::from(one.to_bits() ^ other.to_bits()) << 96,
        (IpAddr::V6(one), IpAddr::V6(other)) => one.to_bits() ^ other.to_bits(),
        _ => return false,
    };
    differ.leading_zeros() >= u32::from(bits)
}

impl Requester {
    /// A peer, as the ORB tells of it.
    pub(crate) fn from_peer(peer: Option<RequestPeer>) -> Self {
        let Some(peer) = peer else {
            return Requester::Process;
        };
        let host = peer.address.host_and_port();
        let address = host.and_then(|(host, _)| host.split('%').next()?.parse().ok());
        let first = peer.certificates.first();
        Requester::Peer {
            is_local: matches!(peer.address.link(), "uiop" | "shmiop" | "inproc"),
            address,
            names: first.map(|der| names_in(der)).unwrap_or_default(),
        }
    }
}

/// The names that a certificate proves.
fn names_in(der: &[u8]) -> Vec<String> {
    let Ok((_, certificate)) = X509Certificate::from_der(der) else {
        return Vec::new();
    };
    let subject = certificate.subject().iter_common_name();
    let mut names: Vec<String> = subject
        .filter_map(|name| Some(name.as_str().ok()?.to_owned()))
        .collect();
    if let Ok(Some(others)) = certificate.subject_alternative_name() {
        let name = |other: &GeneralName<'_>| match other {
            GeneralName::DNSName(name) | GeneralName::URI(name) | GeneralName::RFC822Name(name) => {
                Some((*name).to_owned())
            }
            _ => None,
        };
        names.extend(others.value.general_names.iter().filter_map(name));
    }
    names
}

impl FromStr for Principal {
    type Err = BadPrincipal;

    fn from_str(text: &str) -> Result<Self, BadPrincipal> {
        let bad = || BadPrincipal(text.to_owned());
        match text {
            "any" => return Ok(Principal::Any),
            "local" => return Ok(Principal::Local),
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
        for text in ["any", "local", "10.0.0.0/8", "cert:a b"] {
            assert_eq!(text.parse::<Principal>().unwrap().to_string(), text);
        }
    }
}
