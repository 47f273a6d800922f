//! What references say of the endpoints listened at.

use crate::config::ListenEndpoint;
use crate::profile::ProfileEndpoint;
use crate::protocol::Pair;
use punctual_link::Address;
use punctual_sys::host::{Family, outbound_address};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What to publish for an endpoint that listens at `address` by `protocol`.
///
/// A wildcard publishes the address that packets to other hosts leave from. Where there is none it
/// publishes loopback, and warns, since no other host can reach that.
pub(super) fn published(
    endpoint: &ListenEndpoint,
    pair: &Pair,
    address: &Address,
) -> ProfileEndpoint {
    // The link's own name, even if it is made of another and left the address to that.
    let link = pair.link.name();
    let address = match address.host_and_port() {
        Some((bound, port)) => {
            let host = host(endpoint, bound);
            let port = endpoint.port_in_ior().unwrap_or(port);
            Address::new(link, Address::iiop(&host, port).place())
        }
        None => Address::new(link, address.place()),
    };
    ProfileEndpoint::new(&pair.name, address)
}

/// The host as it was named, unless it is a wildcard or another is to be published.
fn host(endpoint: &ListenEndpoint, bound: &str) -> String {
    let named = endpoint.host_and_port().and_then(|(host, _)| host);
    match (endpoint.hostname_in_ior(), named) {
        (Some(name), _) => name.to_owned(),
        (None, Some(host)) if !is_wildcard(host) => host.to_owned(),
        (None, _) if !is_wildcard(bound) => bound.to_owned(),
        (None, host) => reachable(host, endpoint),
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

    fn place(endpoint: &ListenEndpoint, bound: &Address) -> Address {
        let pair = Pair {
            name: bound.link().into(),
            messaging: std::sync::Arc::new(crate::messaging::Giop::new()),
            link: match bound.link() {
                "uiop" => std::sync::Arc::new(punctual_link::uiop::Uiop::default()),
                _ => std::sync::Arc::new(punctual_link::iiop::Iiop::default()),
            },
        };
        published(endpoint, &pair, bound).address
    }

    #[test]
    fn a_named_host_is_published_as_it_is_with_the_real_port() {
        let endpoint = ListenEndpoint::iiop("localhost", 0);
        let bound = Address::iiop("127.0.0.1", 7);
        assert_eq!(place(&endpoint, &bound), Address::iiop("localhost", 7));
    }

    #[test]
    fn a_separate_address_wins_over_the_one_listened_at() {
        let endpoint = ListenEndpoint::iiop("10.0.0.1", 1)
            .option("hostname_in_ior", "orb.example")
            .option("port_in_ior", 443);
        let bound = Address::iiop("10.0.0.1", 1);
        assert_eq!(place(&endpoint, &bound), Address::iiop("orb.example", 443));
    }

    #[test]
    fn a_wildcard_is_never_published() {
        for (named, bound) in [("", "::"), ("0.0.0.0:0", "0.0.0.0"), ("[::]:0", "::")] {
            let endpoint = ListenEndpoint::new("iiop", named);
            let address = place(&endpoint, &Address::iiop(bound, 1));
            assert!(
                !is_wildcard(address.host_and_port().unwrap().0),
                "{address}"
            );
        }
    }

    #[test]
    fn a_path_is_published_as_it_is() {
        let bound = Address::new("uiop", "/tmp/x");
        let endpoint = ListenEndpoint::new("uiop", "");
        assert_eq!(place(&endpoint, &bound), bound);
    }
}
