//! Addresses of a `corbaloc:` URL, and the profiles that they stand for.

use std::fmt;

use punctual_cdr::{ByteOrder, CdrError};

use crate::diop::DiopProfile;
use crate::endpoint::Endpoint;
use crate::group_info::GroupInfo;
use crate::iiop::IiopProfile;
use crate::multicast::UipmcProfile;
use crate::pair::PairProfile;
use crate::security::{AssociationOptions, SslSecTrans};
use crate::tagged::{TaggedComponent, TaggedProfile};
use crate::uiop::UiopProfile;
use crate::version::IiopVersion;

/// Characters that are not escaped in the location of an endpoint, in addition to letters and
/// digits.
const UNESCAPED: &[u8] = b"/:@+-_.~[]=!$";

/// Characters that the standard leaves unescaped in a key, in addition to letters and digits.
pub(super) const KEY_UNESCAPED: &[u8] = b";/:?@&=+$,-_.!~*'()";

/// Characters that are not escaped in the domain of a group: a hyphen ends it.
const DOMAIN_UNESCAPED: &[u8] = b"._:+$!~*=";

/// Assumed options of a TLS endpoint that a URL names: capabilities that all have, and that TLS is
/// required.
const SSL_SUPPORTED: AssociationOptions = SSL_REQUIRED
    .and(AssociationOptions::ESTABLISH_TRUST_IN_TARGET)
    .and(AssociationOptions::ESTABLISH_TRUST_IN_CLIENT);
const SSL_REQUIRED: AssociationOptions =
    AssociationOptions::INTEGRITY.and(AssociationOptions::CONFIDENTIALITY);

/// One address in a `corbaloc:` URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Address {
    /// Address for IIOP over TCP.
    Iiop {
        /// Major version of IIOP, always 1.
        major: u8,
        /// Minor version of IIOP; 0 by default.
        minor: u8,
        /// Host name or IP address; an IPv6 address has no brackets here.
        host: String,
        /// TCP port number.
        port: u16,
    },
    /// Address for IIOP over TLS (SSLIOP).
    Ssliop {
        /// Major version of IIOP, always 1.
        major: u8,
        /// Minor version; default 2, and never 0, which has no room for the port.
        minor: u8,
        /// Host name or IP address; an IPv6 address has no brackets here.
        host: String,
        /// TCP port of the TLS endpoint.
        port: u16,
    },
    /// Address for GIOP over UDP (TAO's DIOP).
    Diop {
        /// Major version of DIOP, always 1.
        major: u8,
        /// Minor version of DIOP; 0 by default.
        minor: u8,
        /// Host name or IP address; an IPv6 address has no brackets here.
        host: String,
        /// UDP port number.
        port: u16,
    },
    /// Address for GIOP over Unix domain sockets (TAO's UIOP).
    Uiop {
        /// Major version of UIOP, always 1.
        major: u8,
        /// Minor version of UIOP; 0 by default.
        minor: u8,
        /// Absolute path of the Unix domain socket.
        path: String,
    },
    /// Address of a multicast group (MIOP). It has no object key and stands alone.
    Miop {
        /// Group of the objects.
        group: GroupInfo,
        /// IP address of the group; an IPv6 address has no brackets here.
        host: String,
        /// UDP port number.
        port: u16,
        /// IIOP profile by which calls with replies go.
        gateway: Option<IiopProfile>,
    },
    /// Punctual's pair of a messaging protocol and a link.
    Pair {
        /// Names of the messaging protocol, of link adapters if any, and of the link, joined by `+`.
        protocol: String,
        /// Address of the endpoint in the syntax of the link.
        place: String,
    },
    /// Address `rir:`, which names an initial reference of the local ORB.
    Rir,
}

impl Address {
    /// Returns the profile for an object behind this address; `None` for `rir`.
    pub(super) fn to_profile(&self, object_key: &[u8]) -> Result<Option<TaggedProfile>, CdrError> {
        let object_key = object_key.to_vec();
        let version = |major: &u8, minor: &u8| IiopVersion {
            major: *major,
            minor: *minor,
        };
        let iiop = |major, minor, host: &String, port, components| IiopProfile {
            version: version(major, minor),
            host: host.clone(),
            port,
            object_key: object_key.clone(),
            components,
        };
        let order = ByteOrder::NATIVE;
        let profile = match self {
            Self::Iiop {
                major,
                minor,
                host,
                port,
            } => iiop(major, minor, host, *port, Vec::new()).to_tagged(order),
            Self::Ssliop {
                major,
                minor,
                host,
                port,
            } => {
                let component = TaggedComponent::ssl_sec_trans(&SslSecTrans {
                    target_supports: SSL_SUPPORTED,
                    target_requires: SSL_REQUIRED,
                    port: *port,
                });
                // No port for plain IIOP: the object is reachable by TLS alone.
                iiop(major, minor, host, 0, vec![component]).to_tagged(order)
            }
            Self::Diop {
                major,
                minor,
                host,
                port,
            } => DiopProfile::from(iiop(major, minor, host, *port, Vec::new())).to_tagged(order),
            Self::Uiop { major, minor, path } => UiopProfile {
                version: version(major, minor),
                path: path.clone(),
                object_key,
                components: Vec::new(),
            }
            .to_tagged(order),
            Self::Pair { protocol, place } => PairProfile {
                protocol: protocol.clone(),
                places: vec![place.clone()],
                object_key,
                components: Vec::new(),
            }
            .to_tagged(order),
            Self::Miop {
                group,
                host,
                port,
                gateway,
            } => UipmcProfile::of_group(group, (host, *port), gateway.as_ref())?.to_tagged(order),
            Self::Rir => return Ok(None),
        };
        profile.map(Some)
    }

    /// Returns whether the address is a whole URL without a key.
    pub(super) fn has_no_key(&self) -> bool {
        matches!(self, Self::Miop { .. })
    }

    /// Returns whether the address may contain slashes, so that a `|` separates it from the key.
    pub(super) fn ends_with_bar(&self) -> bool {
        match self {
            Self::Uiop { .. } => true,
            Self::Pair { place, .. } => place.starts_with('/'),
            _ => false,
        }
    }
}

/// Shows the address as it stands in a URL.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut at_host = |protocol, major: &u8, minor: &u8, host: &String, port: &u16| {
            let endpoint = Endpoint {
                host: host.clone(),
                port: *port,
            };
            write!(f, "{protocol}:{major}.{minor}@{endpoint}")
        };
        match self {
            Self::Iiop {
                major,
                minor,
                host,
                port,
            } => at_host("iiop", major, minor, host, port),
            Self::Ssliop {
                major,
                minor,
                host,
                port,
            } => at_host("ssliop", major, minor, host, port),
            Self::Diop {
                major,
                minor,
                host,
                port,
            } => at_host("diop", major, minor, host, port),
            Self::Uiop { major, minor, path } => {
                write!(f, "uiop:{major}.{minor}@")?;
                write_escaped(f, path.as_bytes(), UNESCAPED)
            }
            Self::Pair { protocol, place } => {
                write!(f, "{protocol}:")?;
                // In a place that is not a path, a slash would end the address.
                let path = place.starts_with('/');
                let unescaped = UNESCAPED.strip_prefix(b"/").filter(|_| !path);
                write_escaped(f, place.as_bytes(), unescaped.unwrap_or(UNESCAPED))
            }
            Self::Miop {
                group,
                host,
                port,
                gateway,
            } => {
                write!(f, "miop:1.0@{}-", group.version)?;
                write_escaped(f, group.domain.as_bytes(), DOMAIN_UNESCAPED)?;
                write!(f, "-{}", group.id)?;
                if group.reference_version != 0 {
                    write!(f, "-{}", group.reference_version)?;
                }
                let endpoint = Endpoint {
                    host: host.clone(),
                    port: *port,
                };
                write!(f, "/{endpoint}")?;
                let Some(at) = gateway else {
                    return Ok(());
                };
                let endpoint = Endpoint {
                    host: at.host.clone(),
                    port: at.port,
                };
                write!(f, ";iiop:{}@{endpoint}/", at.version)?;
                write_escaped(f, &at.object_key, KEY_UNESCAPED)
            }
            Self::Rir => f.write_str("rir:"),
        }
    }
}

/// Writes bytes, with an escape for each that is not a letter, a digit, or in `unescaped`.
pub(crate) fn write_escaped(
    f: &mut fmt::Formatter<'_>,
    octets: &[u8],
    unescaped: &[u8],
) -> fmt::Result {
    for octet in octets {
        if octet.is_ascii_alphanumeric() || unescaped.contains(octet) {
            write!(f, "{}", char::from(*octet))?;
        } else {
            write!(f, "%{octet:02x}")?;
        }
    }
    Ok(())
}
