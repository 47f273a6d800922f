//! Parser of `corbaloc:` URLs.

use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use super::{Address, Corbaloc, CorbalocError, DEFAULT_IIOP_PORT, DEFAULT_SSLIOP_PORT, KeyMark};
use crate::endpoint::Endpoint;
use crate::group_info::GroupInfo;
use crate::iiop::IiopProfile;
use crate::pair::is_pair;
use crate::version::IiopVersion;

/// Initial reference that `corbaloc:rir:` without a key stands for.
const DEFAULT_INITIAL_REFERENCE: &[u8] = b"NameService";

/// Upper bound of the addresses of one URL: many times as many as an ORB tries.
const MOST_ADDRESSES: usize = 256;

/// Bytes that the key, repeated for each address, may always take in all, in addition to an amount
/// in proportion to the URL's length.
const MAX_KEY_BYTES: usize = 64 << 10;
const KEY_BYTES_PER_URL_BYTE: usize = 2;

/// Protocols of other ORBs that are recognised by name only.
const FOREIGN_PROTOCOLS: [&str; 2] = ["sciop", "htiop"];

/// Links without a profile of their own: their bare names mean GIOP over them.
const BARE_LINKS: [&str; 3] = ["shmiop", "inproc", "vsock"];

impl FromStr for Corbaloc {
    type Err = CorbalocError;

    fn from_str(url: &str) -> Result<Self, CorbalocError> {
        const SCHEME: &str = "corbaloc:";
        match url.get(..SCHEME.len()) {
            Some(scheme) if scheme.eq_ignore_ascii_case(SCHEME) => {}
            _ => return Err(CorbalocError::NotCorbaloc),
        }
        if let Some(group) = after_miop(url.get(SCHEME.len()..).unwrap_or_default()) {
            return Ok(Self {
                addresses: vec![parse_group(group, url.len() - group.len())?],
                key: Vec::new(),
            });
        }
        let mut addresses = Vec::new();
        let mut at = SCHEME.len();
        loop {
            let rest = url.get(at..).unwrap_or_default();
            let end = rest.find(ends_address(rest)).unwrap_or(rest.len());
            let (address, tail) = rest.split_at(end);
            if addresses.len() == MOST_ADDRESSES {
                let most = MOST_ADDRESSES;
                return Err(CorbalocError::TooManyAddresses { most });
            }
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
        // The rest is empty, or a slash or bar and the key.
        let key = url.get(at + 1..).unwrap_or_default();
        let mut key = unescape(key, at + 1)?;
        if key.is_empty() && addresses.contains(&Address::Rir) {
            key = DEFAULT_INITIAL_REFERENCE.to_vec();
        }
        if key.is_empty() {
            let bar = addresses.last().is_some_and(Address::ends_with_bar);
            let behind = if bar { KeyMark::Bar } else { KeyMark::Slash };
            return Err(CorbalocError::NoKey { behind });
        }
        let keys = MAX_KEY_BYTES.saturating_add(url.len().saturating_mul(KEY_BYTES_PER_URL_BYTE));
        let most = (keys / key.len()).max(1);
        if addresses.len() > most {
            return Err(CorbalocError::TooManyAddresses { most });
        }
        Ok(Self { addresses, key })
    }
}

/// Returns the characters that end the address at the start of `rest`: a comma, and the separator
/// before the key, a slash, or a bar where the address is a path.
fn ends_address(rest: &str) -> [char; 2] {
    let (protocol, place) = rest.split_once(':').unwrap_or((rest, ""));
    let path = place.starts_with('/') || protocol.eq_ignore_ascii_case("uiop");
    // `rir:/key`, and `:/key` for the local host by defaults, are not paths.
    let never = protocol.is_empty()
        || ["rir", "iiop", "ssliop", "diop"]
            .iter()
            .any(|name| protocol.eq_ignore_ascii_case(name));
    [',', if path && !never { '|' } else { '/' }]
}

fn parse_address(text: &str, position: usize) -> Result<Address, CorbalocError> {
    let Some((protocol, address)) = text.split_once(':') else {
        return Err(CorbalocError::NoProtocol { position });
    };
    let name = protocol.to_ascii_lowercase();
    match name.as_str() {
        "" | "iiop" => {
            let (version, Endpoint { host, port }) = parse_iiop(address, 0, DEFAULT_IIOP_PORT)?;
            let IiopVersion { major, minor } = version;
            Ok(Address::Iiop {
                major,
                minor,
                host,
                port,
            })
        }
        "ssliop" => parse_ssliop(address),
        "diop" => {
            let (version, Endpoint { host, port }) = parse_iiop(address, 0, DEFAULT_IIOP_PORT)?;
            let IiopVersion { major, minor } = version;
            Ok(Address::Diop {
                major,
                minor,
                host,
                port,
            })
        }
        "uiop" => parse_uiop(address, position + protocol.len() + 1),
        "miop" => Err(CorbalocError::MiopNotAlone),
        "rir" if address.is_empty() => Ok(Address::Rir),
        "rir" => Err(CorbalocError::RirNotAlone),
        other if is_pair(other) || BARE_LINKS.contains(&other) => {
            parse_pair(other, address, position + protocol.len() + 1)
        }
        other => Err(CorbalocError::UnsupportedProtocol {
            known: FOREIGN_PROTOCOLS.contains(&other),
            protocol: protocol.to_owned(),
        }),
    }
}

/// Parses `[version @] host [: port]`; the defaults are 1.`minor`, the local host, and
/// `default_port`.
fn parse_iiop(
    text: &str,
    minor: u8,
    default_port: u16,
) -> Result<(IiopVersion, Endpoint), CorbalocError> {
    let (version, text) = parse_version_before(text, minor)?;
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
    let port = port.map_or(Ok(default_port), parse_port)?;
    let host = if host.is_empty() { "localhost" } else { host };
    let host = host.to_owned();
    Ok((version, Endpoint { host, port }))
}

/// Parses an address as for IIOP, from 1.1 on: a 1.0 profile has no room for the component with the
/// port.
fn parse_ssliop(text: &str) -> Result<Address, CorbalocError> {
    let (version, Endpoint { host, port }) = parse_iiop(text, 2, DEFAULT_SSLIOP_PORT)?;
    if !version.has_components() {
        return Err(CorbalocError::BadVersion {
            text: version.to_string(),
        });
    }
    let IiopVersion { major, minor } = version;
    Ok(Address::Ssliop {
        major,
        minor,
        host,
        port,
    })
}

/// Parses a UIOP address of the form `[version @] path`.
fn parse_uiop(text: &str, start: usize) -> Result<Address, CorbalocError> {
    let (IiopVersion { major, minor }, path) = match text.starts_with('/') {
        true => (IiopVersion { major: 1, minor: 0 }, text),
        false => parse_version_before(text, 0)?,
    };
    let path = unescape_place(path, start + (text.len() - path.len()))?;
    if !path.starts_with('/') {
        return Err(CorbalocError::BadPlace {
            text: path,
            expected: "an absolute path",
        });
    }
    Ok(Address::Uiop { major, minor, path })
}

fn parse_pair(protocol: &str, text: &str, start: usize) -> Result<Address, CorbalocError> {
    let place = unescape_place(text, start)?;
    // An unescaped bar would be meant to end the place; it ends only places that begin with a
    // slash.
    if place.is_empty() || text.contains('|') {
        return Err(CorbalocError::BadPlace {
            text: text.to_owned(),
            expected: "a non-empty path, absolute if a bar stands before the key",
        });
    }
    let protocol = match protocol.contains('+') {
        true => protocol.to_owned(),
        false => format!("giop+{protocol}"),
    };
    Ok(Address::Pair { protocol, place })
}

/// Returns the rest of a URL whose first address is of a multicast group.
fn after_miop(text: &str) -> Option<&str> {
    const MIOP: &str = "miop:";
    let is_group = text.get(..MIOP.len())?.eq_ignore_ascii_case(MIOP);
    is_group.then(|| text.get(MIOP.len()..)).flatten()
}

/// Parses `[version @] version-domain-id[-version] / address : port [; corbaloc of IIOP]` (MIOP, `corbaloc` URLs).
fn parse_group(text: &str, start: usize) -> Result<Address, CorbalocError> {
    let (group, gateway) = match text.split_once(';') {
        Some((group, gateway)) => (group, Some(gateway)),
        None => (text, None),
    };
    let bad_group = || CorbalocError::BadPlace {
        text: group.to_owned(),
        expected: "a multicast group, as in corbaloc:miop:1.0@1.0-domain-1/239.255.0.1:5555",
    };
    let (name, place) = group.split_once('/').ok_or_else(bad_group)?;
    let (_, name) = parse_version_before(name, 0)?;
    let mut parts = name.splitn(3, '-');
    let mut part = || {
        parts
            .next()
            .filter(|part| !part.is_empty())
            .ok_or_else(bad_group)
    };
    let (version, domain, numbers) = (part()?, part()?, part()?);
    // No version before it has a hyphen.
    let at = group.find('-').map_or(0, |hyphen| hyphen + 1);
    let domain = unescape_place(domain, start + at)?;
    let too_long = u32::try_from(domain.len()).is_ok_and(|length| length > GroupInfo::MOST_DOMAIN);
    let (id, reference_version) = match numbers.split_once('-') {
        Some((id, version)) => (id, number(version)),
        None => (numbers, Some(0)),
    };
    let (Some(id), Some(reference_version), false) = (number(id), reference_version, too_long)
    else {
        return Err(bad_group());
    };
    let (_, Endpoint { host, port }) = parse_iiop(place, 0, 0)?;
    if port == 0 || !host.parse::<IpAddr>().is_ok_and(|ip| ip.is_multicast()) {
        return Err(bad_group());
    }
    Ok(Address::Miop {
        group: GroupInfo {
            version: parse_version(version)?,
            domain,
            id,
            reference_version,
        },
        host,
        port,
        gateway: gateway.map(parse_gateway).transpose()?,
    })
}

/// Parses the `corbaloc` of IIOP behind a group, whose scheme may be missing: JacORB writes `iiop:host:port/key`.
fn parse_gateway(text: &str) -> Result<IiopProfile, CorbalocError> {
    const SCHEME: &str = "corbaloc:";
    let bad_place = || CorbalocError::BadPlace {
        text: text.to_owned(),
        expected: "the IIOP address of an object behind the group, as in ;iiop:1.2@host:2809/key",
    };
    let has_scheme = |scheme: &str| scheme.eq_ignore_ascii_case(SCHEME);
    let bare = match text.get(..SCHEME.len()) {
        Some(scheme) if has_scheme(scheme) => text.get(SCHEME.len()..).unwrap_or_default(),
        _ => text,
    };
    let (address, key) = bare.split_once('/').ok_or_else(bad_place)?;
    let key_at = address.len() + 1;
    match parse_address(address, 0)? {
        Address::Iiop {
            major,
            minor,
            host,
            port,
        } if !key.is_empty() => Ok(IiopProfile {
            version: IiopVersion { major, minor },
            host,
            port,
            object_key: unescape(key, key_at)?,
            components: Vec::new(),
        }),
        _ => Err(bad_place()),
    }
}

/// Parses a number of decimal digits.
fn number<N: FromStr>(text: &str) -> Option<N> {
    let digits = text.bytes().all(|octet| octet.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// Parses the version before an `@`, default 1.`minor`; returns it and the rest of the text.
fn parse_version_before(text: &str, minor: u8) -> Result<(IiopVersion, &str), CorbalocError> {
    match text.split_once('@') {
        Some((version, rest)) => Ok((parse_version(version)?, rest)),
        None => Ok((IiopVersion { major: 1, minor }, text)),
    }
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
            // More than the standard's set is accepted, as long as it is unambiguous.
            _ if octet.is_ascii_graphic() => key.push(octet),
            _ => return Err(CorbalocError::BadKeyCharacter { position }),
        }
    }
    Ok(key)
}

/// Resolves the escapes in an endpoint's location: text without control characters.
fn unescape_place(text: &str, start: usize) -> Result<String, CorbalocError> {
    let place = String::from_utf8(unescape(text, start)?).ok();
    place
        .filter(|place| !place.contains(char::is_control))
        .ok_or_else(|| CorbalocError::BadPlace {
            text: text.to_owned(),
            expected: "text in UTF-8 without control characters",
        })
}
