//! Endpoint addresses as references publish them.

use crate::config::ListenEndpoint;
use crate::exception::SystemException;
use crate::policy::invalid;
use crate::profile::{EndpointChoice, ProfileEndpoint, PublishedEndpoints};
use crate::protocol::Pair;
use punctual_link::{Address, Places};
use punctual_sys::host::{Family, outbound_address};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns the address to publish for an endpoint that listens at `address` by the protocol `pair`.
///
/// For a wildcard address, publishes the address from which packets to other hosts are sent. If
/// there is none, publishes the loopback address and logs a warning, since other hosts cannot reach
/// it.
pub(super) fn published(
    endpoint: &ListenEndpoint,
    pair: &Pair,
    address: &Address,
) -> ProfileEndpoint {
    // The published name is that of the link itself, even if it is built on another link that has
    // set the address.
    let link = pair.link.name();
    let internet = pair.link.places() == Places::Internet;
    let address = match address.host_and_port().filter(|_| internet) {
        Some((bound, port)) => {
            let host = host(endpoint, bound);
            let port = endpoint.port_in_ior().unwrap_or(port);
            Address::new(link, Address::iiop(&host, port).place())
        }
        None => Address::new(link, address.place()),
    };
    ProfileEndpoint::new(&pair.name, address)
}

/// Returns what references contain of other servers, at which clients find the objects of an endpoint that is published once
/// it does not answer.
pub(super) fn alternates(
    endpoint: &ListenEndpoint,
    pair: &Pair,
    published: &ProfileEndpoint,
) -> Vec<ProfileEndpoint> {
    let link = pair.link.name();
    let places = endpoint.also_in_ior().unwrap_or_default().into_iter();
    let addresses =
        places.map(|(host, port)| Address::new(link, Address::iiop(host, port).place()));
    let of = |address| ProfileEndpoint {
        address,
        ..published.clone()
    };
    addresses.map(of).collect()
}

/// Names by which a policy can refer to an open endpoint.
pub(in crate::lane) struct Named<'l> {
    pub(super) configured: &'l ListenEndpoint,
    /// Listening endpoint with the address at which it is actually open.
    pub(super) real: ListenEndpoint,
    pub(super) published: &'l ProfileEndpoint,
}

impl PublishedEndpoints {
    /// Returns `true` if one of the choices names the endpoint.
    pub(in crate::lane) fn name(&self, endpoint: &Named<'_>) -> bool {
        self.choices().iter().any(|choice| choice.names(endpoint))
    }

    /// Checks that each choice names one of these endpoints; the error names the first unknown
    /// choice and lists the endpoints.
    pub(in crate::lane) fn check_among(&self, endpoints: &[Named<'_>]) -> Result<(), String> {
        let names_none = |choice: &&EndpointChoice| !endpoints.iter().any(|one| choice.names(one));
        let Some(unknown) = self.choices().iter().find(names_none) else {
            return Ok(());
        };
        let there: Vec<String> = endpoints
            .iter()
            .map(|one| format!("`{}`", one.real))
            .collect();
        Err(format!(
            "unknown endpoint {unknown}; the ORB listens at {}",
            there.join(", ")
        ))
    }
}

impl EndpointChoice {
    fn names(&self, endpoint: &Named<'_>) -> bool {
        let qualities = &endpoint.published.qualities;
        match self {
            Self::Text(text) => {
                let named = ListenEndpoint::parse("published endpoint", text);
                let is_it = |named: ListenEndpoint| {
                    is_same(&named, endpoint.configured) || is_same(&named, &endpoint.real)
                };
                named.is_ok_and(is_it)
            }
            Self::Priority(priority) => qualities.priority == Some(*priority),
            Self::Lane(lane) => qualities.lane == Some(*lane),
        }
    }
}

/// Returns `true` if `named` matches `endpoint` in all parts that `named` gives.
fn is_same(named: &ListenEndpoint, endpoint: &ListenEndpoint) -> bool {
    // A protocol without a messaging protocol means GIOP.
    let [named_protocol, protocol] =
        [named, endpoint].map(|one| one.protocol.trim_start_matches("giop+"));
    named_protocol == protocol
        && named.place == endpoint.place
        && (named.options.is_empty() || named.options == endpoint.options)
}

/// Returns the error for a POA none of whose published endpoints is open.
pub(in crate::lane) fn none_to_publish(which: &PublishedEndpoints) -> SystemException {
    let choices: Vec<String> = which.choices().iter().map(ToString::to_string).collect();
    invalid(format!(
        "making a reference: the endpoints that the POA publishes are closed ({})",
        choices.join(", ")
    ))
}

/// Returns the host as it was configured, unless it is a wildcard or another host is to be
/// published.
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
    // The first address family served: an IPv6 wildcard serves IPv4 as well.
    if host.is_some_and(|host| host.parse::<Ipv6Addr>().is_ok()) {
        Ipv6Addr::LOCALHOST.to_string()
    } else {
        Ipv4Addr::LOCALHOST.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::priority::Priority;
    use crate::profile::LaneId;

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

    const LANE: LaneId = LaneId { pool: 3, index: 0 };

    /// Returns `true` if the choice names an endpoint, by its configured or its actual address.
    fn is_named(choice: EndpointChoice, configured: &str, real: &str) -> bool {
        let endpoint = |text| ListenEndpoint::parse("test", text).unwrap();
        let address = Address::iiop("h", 1);
        let high = ProfileEndpoint::new("iiop", address).with_lane(LANE);
        PublishedEndpoints::new([choice]).name(&Named {
            configured: &endpoint(configured),
            real: endpoint(real),
            published: &high.with_priority(Priority::MAX),
        })
    }

    #[test]
    fn an_endpoint_is_named_by_its_text_with_or_without_options() {
        let text = |text: &str| EndpointChoice::Text(text.to_owned());
        let (configured, real) = ("iiop://h:0/backlog=5", "iiop://h:7/backlog=5");
        for named in ["iiop://h:0", "giop+iiop://h:7", configured, real] {
            assert!(is_named(text(named), configured, real), "{named}");
        }
        for other in [
            "iiop://h:8",
            "uiop://h:7",
            "iiop://h:7/backlog=6",
            "iiop",
            "",
        ] {
            assert!(!is_named(text(other), configured, real), "{other}");
        }
    }

    #[test]
    fn an_endpoint_is_named_by_its_priority_and_by_its_lane() {
        let is_named = |choice| is_named(choice, "iiop://h:0", "iiop://h:7");
        assert!(is_named(EndpointChoice::Priority(Priority::MAX)));
        assert!(!is_named(EndpointChoice::Priority(Priority::MIN)));
        assert!(is_named(EndpointChoice::Lane(LANE)));
        assert!(!is_named(EndpointChoice::Lane(LaneId { index: 1, ..LANE })));
    }

    #[test]
    fn a_path_is_published_as_it_is() {
        let bound = Address::new("uiop", "/tmp/x");
        let endpoint = ListenEndpoint::new("uiop", "");
        assert_eq!(place(&endpoint, &bound), bound);
    }
}
