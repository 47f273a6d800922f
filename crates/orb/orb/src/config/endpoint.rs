//! Where to listen, and what to publish for it: `iiop://[version@][host]:port[/option=value&…]`.

use super::{ConfigError, bad_value};
use punctual_link::Address;
use std::fmt;

const EXPECTED: &str = "iiop://[host]:port, with an IPv6 number in brackets, then perhaps \
                        /hostname_in_ior=name&port_in_ior=number";

/// An endpoint to listen at. The default is all interfaces, at a port of the kernel's choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListenEndpoint {
    /// Host name or number of the interface; `None` listens on all of them.
    pub host: Option<String>,
    /// TCP port; 0 lets the kernel choose.
    pub port: u16,
    /// The host to put into references instead of the one listened at, for containers and NAT.
    pub hostname_in_ior: Option<String>,
    /// The port to put into references instead of the one listened at.
    pub port_in_ior: Option<u16>,
}

impl ListenEndpoint {
    /// `host:port`, published as it is listened at.
    #[must_use]
    pub fn iiop(host: &str, port: u16) -> Self {
        Self {
            host: Some(host.to_owned()),
            port,
            ..Self::default()
        }
    }

    /// Parses one endpoint; `key` is what an error names.
    pub(crate) fn parse(key: &str, text: &str) -> Result<Self, ConfigError> {
        let bad = |expected: &str| bad_value(key, text, expected);
        let (protocol, rest) = text.split_once("://").ok_or_else(|| bad(EXPECTED))?;
        if protocol != punctual_link::iiop::NAME {
            return Err(bad("the protocol iiop, the only one there is so far"));
        }
        let (place, options) = rest.split_once('/').unwrap_or((rest, ""));
        let place = match place.split_once('@') {
            Some(("1.0" | "1.1" | "1.2", place)) => place,
            Some(_) => return Err(bad("version 1.0, 1.1 or 1.2 before the @")),
            None => place,
        };
        let (host, port) = parse_place(place).ok_or_else(|| bad(EXPECTED))?;
        let mut endpoint = Self {
            host,
            port,
            ..Self::default()
        };
        for option in options.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("hostname_in_ior", name)) if !name.is_empty() => {
                    endpoint.hostname_in_ior = Some(name.to_owned());
                }
                Some(("port_in_ior", port)) => {
                    let port = port
                        .parse()
                        .map_err(|_| bad("a port number for port_in_ior"))?;
                    endpoint.port_in_ior = Some(port);
                }
                _ => {
                    return Err(bad(
                        "the options hostname_in_ior=name and port_in_ior=number",
                    ));
                }
            }
        }
        Ok(endpoint)
    }

    /// The address to listen at. Without a host it is the IPv6 wildcard, which serves IPv4 as
    /// well; `ipv6` tells whether this machine has it.
    pub(crate) fn address(&self, ipv6: bool) -> Address {
        let wildcard = if ipv6 { "::" } else { "0.0.0.0" };
        Address::iiop(self.host.as_deref().unwrap_or(wildcard), self.port)
    }
}

impl fmt::Display for ListenEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.as_deref() {
            Some(host) if host.contains(':') => write!(f, "iiop://[{host}]:{}", self.port),
            host => write!(f, "iiop://{}:{}", host.unwrap_or_default(), self.port),
        }
    }
}

fn parse_place(place: &str) -> Option<(Option<String>, u16)> {
    if place.is_empty() {
        return Some((None, 0));
    }
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (
                host,
                if after.is_empty() {
                    "0"
                } else {
                    after.strip_prefix(':')?
                },
            )
        }
        None => place.split_once(':').unwrap_or((place, "0")),
    };
    let port = port.parse().ok()?;
    Some(((!host.is_empty()).then(|| host.to_owned()), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ListenEndpoint, ConfigError> {
        ListenEndpoint::parse("-ORBListenEndpoints", text)
    }

    #[test]
    fn host_port_and_options_are_read() {
        let endpoint =
            parse("iiop://1.2@h:12/hostname_in_ior=pub.example&port_in_ior=443").unwrap();
        assert_eq!(endpoint.host.as_deref(), Some("h"));
        assert_eq!(endpoint.port, 12);
        assert_eq!(endpoint.hostname_in_ior.as_deref(), Some("pub.example"));
        assert_eq!(endpoint.port_in_ior, Some(443));
    }

    #[test]
    fn what_is_left_out_is_a_wildcard_and_a_port_of_the_kernels_choice() {
        assert_eq!(parse("iiop://").unwrap(), ListenEndpoint::default());
        assert_eq!(parse("iiop://:0").unwrap(), ListenEndpoint::default());
        assert_eq!(parse("iiop://h").unwrap(), ListenEndpoint::iiop("h", 0));
    }

    #[test]
    fn an_ipv6_number_stands_in_brackets() {
        assert_eq!(
            parse("iiop://[::1]:5").unwrap(),
            ListenEndpoint::iiop("::1", 5)
        );
        assert_eq!(
            parse("iiop://[::1]:5").unwrap().to_string(),
            "iiop://[::1]:5"
        );
        assert!(parse("iiop://::1:5").is_err());
        assert!(parse("iiop://[nonsense]:5").is_err());
    }

    #[test]
    fn mistakes_are_refused() {
        for text in [
            "",
            "iiop",
            "uiop:///tmp/x",
            "iiop://h:port",
            "iiop://h:70000",
            "iiop://3.0@h:1",
            "iiop://h:1/hostname_in_ior=",
            "iiop://h:1/port_in_ior=x",
            "iiop://h:1/speed=fast",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
