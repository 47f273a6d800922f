//! What references say of the endpoints listened at.

use crate::config::ListenEndpoint;
use punctual_sys::host::{Family, outbound_address};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Host and port as references name them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Published {
    pub(super) host: String,
    pub(super) port: u16,
}

/// What to publish for an endpoint whose real port is `port`.
///
/// A wildcard publishes the address that packets to other hosts leave from. Where there is none it
/// publishes loopback, and warns, since no other host can reach that.
pub(super) fn published(endpoint: &ListenEndpoint, port: u16) -> Published {
    let host = match (&endpoint.hostname_in_ior, &endpoint.host) {
        (Some(name), _) => name.clone(),
        (None, Some(host)) if !is_wildcard(host) => host.clone(),
        (None, host) => reachable(host.as_deref(), endpoint),
    };
    Published {
        host,
        port: endpoint.port_in_ior.unwrap_or(port),
    }
}

fn is_wildcard(host: &str) -> bool {
    host.parse::<IpAddr>()
        .is_ok_and(|address| address.is_unspecified())
}

fn reachable(host: Option<&str>, endpoint: &ListenEndpoint) -> String {
    let only_v4 = host.is_some_and(|host| host.parse::<Ipv4Addr>().is_ok());
    let families: &[Family] = if only_v4 {
        &[Family::V4]
    } else {
        &[Family::V4, Family::V6]
    };
    if let Some(address) = families.iter().copied().find_map(outbound_address) {
        return address.to_string();
    }
    tracing::warn!(
        %endpoint,
        "this host has no address but loopback, so references to its objects work on this host \
         only; publish another with /hostname_in_ior=…"
    );
    // The first family served: an IPv6 wildcard serves IPv4 as well.
    if host.is_some_and(|host| host.parse::<Ipv6Addr>().is_ok()) {
        Ipv6Addr::LOCALHOST.to_string()
    } else {
        Ipv4Addr::LOCALHOST.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_host_is_published_as_it_is() {
        let endpoint = ListenEndpoint::iiop("127.0.0.1", 0);
        assert_eq!(
            published(&endpoint, 7),
            Published {
                host: "127.0.0.1".into(),
                port: 7
            }
        );
    }

    #[test]
    fn a_separate_address_wins_over_the_one_listened_at() {
        let endpoint = ListenEndpoint {
            hostname_in_ior: Some("orb.example".into()),
            port_in_ior: Some(443),
            ..ListenEndpoint::iiop("10.0.0.1", 1)
        };
        assert_eq!(
            published(&endpoint, 1),
            Published {
                host: "orb.example".into(),
                port: 443
            }
        );
    }

    #[test]
    fn a_wildcard_is_never_published() {
        for host in [None, Some("0.0.0.0"), Some("::")] {
            let endpoint = ListenEndpoint {
                host: host.map(str::to_owned),
                ..ListenEndpoint::default()
            };
            let host = published(&endpoint, 1).host;
            assert!(!is_wildcard(&host), "{host}");
        }
    }
}
