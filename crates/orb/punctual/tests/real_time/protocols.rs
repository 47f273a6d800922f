//! ClientProtocolPolicy that a server publishes.

use crate::network_priorities::{of_ends, port_of};
use crate::setting::{LIMIT, Server, at, client, echo, ordinary};
use crate::support::{Echo, watchdog};
use punctual::poa::{CreatePoaError, PoaPolicy};
use punctual::policy::Otherwise;
use punctual::rt::{PriorityModelPolicy, Propagated, RtOrb};
use punctual::stub::Arc;
use punctual::{Interface, Orb, Policy, SetOverride};
use punctual_sys::dscp::Dscp;
use punctual_sys::traffic::Traffic;
use rustix::net::sockopt;
use std::os::fd::OwnedFd;

const ENDPOINTS: [&str; 3] = ["uiop://", "shmiop://", "iiop://127.0.0.1:0"];

fn preferring(protocols: &[&str]) -> PoaPolicy {
    PoaPolicy::Defined(Policy::protocols(protocols, Otherwise::Raise))
}

/// Returns a reference, as text, to an object of a POA with these policies.
fn object(server: &Server, name: &str, policies: &[PoaPolicy]) -> String {
    let poa = server.poa(name, policies).unwrap();
    let echo: Echo = poa.activate(server.noting.clone()).unwrap();
    server.orb.object_to_string(echo.as_object()).unwrap()
}

fn goes_by(echo: &Echo) -> String {
    echo.long(1).unwrap();
    let place = echo.as_object().connected_to().unwrap().to_string();
    place.split(':').next().unwrap().to_owned()
}

#[test]
fn clients_without_a_word_of_their_own_prefer_the_protocols_that_the_server_publishes() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let server = Server::at(&rt, &ENDPOINTS);
    let by = |client: &Orb, reference: &str| goes_by(&echo(client, reference));
    let plain = object(&server, "plain", &[]);
    let tcp = object(&server, "tcp", &[preferring(&["iiop"])]);
    // Protocols that the reference does not name are skipped: the policy is a preference, even if
    // the server calls it more.
    let datagrams = [preferring(&["giop_oneway+diop", "iiop", "uiop"])];
    let datagrams = object(&server, "datagrams", &datagrams);
    let model = PoaPolicy::of(PriorityModelPolicy::client_propagated(at(1)));
    let both = object(&server, "both", &[model, preferring(&["iiop", "uiop"])]);
    let client = client(&rt);
    assert_eq!(by(&client, &plain), "uiop");
    for reference in [&tcp, &datagrams, &both] {
        assert_eq!(by(&client, reference), "iiop");
    }
    // Clients with a preference: the reference's, the thread's, the ORB's, its configuration's.
    let local = [Policy::protocols(&["uiop"], Otherwise::Raise)];
    let own = echo(&client, &tcp);
    let own = own
        .as_object()
        .set_policy_overrides(&local, SetOverride::Add);
    assert_eq!(goes_by(&Echo::from_object(own.unwrap())), "uiop");
    let current = client.policy_current();
    current
        .set_policy_overrides(&local, SetOverride::Set)
        .unwrap();
    assert_eq!(by(&client, &tcp), "uiop");
    current.set_policy_overrides(&[], SetOverride::Set).unwrap();
    assert_eq!(by(&client, &tcp), "iiop");
    let manager = client.policy_manager();
    manager
        .set_policy_overrides(&local, SetOverride::Set)
        .unwrap();
    assert_eq!(by(&client, &tcp), "uiop");
    assert_eq!(by(&configured(&rt), &tcp), "uiop");
    // An ORB without Real-time CORBA ignores it.
    assert_eq!(by(&Orb::builder().build().unwrap(), &tcp), "uiop");
}

/// Options of a socket: DSCP, pacing rate, class of packets, `TCP_NODELAY`, `SO_KEEPALIVE`, whether the send buffer has been
/// set to 40,000 bytes.
type Options = (u8, Option<u64>, Option<u8>, bool, bool, bool);

fn options(socket: &OwnedFd) -> Options {
    let traffic = Traffic::of(socket).unwrap();
    (
        Dscp::of(socket).unwrap().unwrap().get(),
        traffic.pacing_rate.map(std::num::NonZeroU64::get),
        traffic.socket_priority,
        sockopt::tcp_nodelay(socket).unwrap(),
        sockopt::socket_keepalive(socket).unwrap(),
        // The kernel doubles what it is given.
        sockopt::socket_send_buffer_size(socket).unwrap() == 80_000,
    )
}

/// Calls an object of a new server's POA with these policies, and returns the options of both ends of the connection.
fn called(
    (rt, published): (&Arc<RtOrb>, &[PoaPolicy]),
    form: fn(&str) -> String,
    (client, own): (&Orb, &[Policy]),
) -> (Options, Options) {
    let server = Server::at(rt, &["iiop://127.0.0.1:0"]);
    let object = echo(client, &form(&object(&server, "asking", published)));
    let object = object
        .as_object()
        .set_policy_overrides(own, SetOverride::Add);
    let object = Echo::from_object(object.unwrap());
    object.long(1).unwrap();
    let port = port_of(&object);
    let ends = of_ends(port, |client, server| (options(client), options(server)));
    let [ends] = ends[..] else {
        panic!("{ends:?}");
    };
    ends
}

/// Options that connections have of which nothing is said.
const UNTOUCHED: Options = (0, None, Some(0), true, true, false);

#[test]
fn clients_apply_the_published_properties_that_they_have_not_set_themselves() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let property = |name: &str, value: &str| Policy::link_property("iiop", name, value);
    let published = [
        property("dscp", "EF"),
        property("pacing_rate", "5000000"),
        property("socket_priority", "4"),
        property("send_buffer", "40000"),
        property("no_delay", "false"),
    ];
    let published: Vec<PoaPolicy> = published.into_iter().map(PoaPolicy::Defined).collect();
    let by = |client: &Orb, own: &[Policy]| called((&rt, &published), str::to_owned, (client, own));
    let paced = Some(5_000_000);
    // The server's sockets have its endpoint's options.
    let (client_end, server_end) = by(&client(&rt), &[]);
    assert_eq!(client_end, (46, paced, Some(4), false, true, true));
    assert_eq!(server_end, UNTOUCHED);
    // By a policy, and by configuration.
    let own = [property("dscp", "CS1"), property("no_delay", "true")];
    let (client_end, _) = by(&client(&rt), &own);
    assert_eq!(client_end, (8, paced, Some(4), true, true, true));
    let builder = Orb::builder().configure(|config| {
        let own = [("socket_priority", "2"), ("pacing_rate", "7000000")];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        config.link_properties.insert("iiop".to_owned(), own.into());
    });
    let configured = rt.extend(builder).unwrap().build().unwrap();
    let (client_end, _) = by(&configured, &[]);
    assert_eq!(
        client_end,
        (46, Some(7_000_000), Some(2), false, true, true)
    );
    // An ORB without Real-time CORBA ignores what references publish.
    let (client_end, _) = by(&Orb::builder().build().unwrap(), &[]);
    assert_eq!(client_end, UNTOUCHED);
}

#[test]
fn properties_in_taos_form_are_applied_with_the_protocols_that_they_come_with() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let mut policies = vec![preferring(&["iiop"])];
    for (name, value) in [
        ("send_buffer", "40000"),
        ("keep_alive", "false"),
        ("no_delay", "false"),
    ] {
        policies.push(PoaPolicy::Defined(Policy::link_property(
            "iiop", name, value,
        )));
    }
    // The policies of Punctual's own number are taken away: what is left is TAO's.
    let by = |client: &Orb, own: &[Policy]| {
        called((&rt, &policies), without_own_policies, (client, own)).0
    };
    assert_eq!(
        by(&client(&rt), &[]),
        (0, None, Some(0), false, false, true)
    );
    // Protocols of the client's own replace the published ones with their properties.
    let own = [Policy::protocols(&["iiop"], Otherwise::Raise)];
    assert_eq!(by(&client(&rt), &own), UNTOUCHED);
}

/// Returns a reference, as text, whose policies of numbers of Punctual have become ones that nothing knows.
fn without_own_policies(reference: &str) -> String {
    // The number of properties, 0x50550002, in this machine's byte order.
    let number = |number: u32| -> String {
        let octets = number.to_ne_bytes();
        octets.iter().map(|octet| format!("{octet:02x}")).collect()
    };
    let reference = reference.to_lowercase().replace("ior:", "IOR:");
    let without = reference.replace(&number(0x5055_0002), &number(0x5055_7fff));
    assert_ne!(without, reference);
    without
}

#[test]
fn properties_that_clients_would_not_apply_are_refused_where_the_poa_is_made() {
    let _watchdog = watchdog(LIMIT);
    let server = Server::at(&ordinary(Propagated::default()), &ENDPOINTS);
    for (link, name, value) in [
        ("iiop", "busy_poll_us", "50"),
        ("iiop", "pacing_rate", "0"),
        ("iiop", "pacing_rate", "1"),
        ("iiop", "dscp", "CS6"),
        ("iiop", "dont_route", "true"),
        ("uiop", "dscp", "EF"),
    ] {
        let property = PoaPolicy::Defined(Policy::link_property(link, name, value));
        let refused = server.poa("refused", &[property]).unwrap_err();
        assert!(
            refused.to_string().contains("references carry"),
            "{refused}"
        );
    }
}

/// Makes a client that is configured to prefer Unix sockets.
fn configured(rt: &Arc<RtOrb>) -> Orb {
    let builder = Orb::builder().configure(|config| config.client_protocols = vec!["uiop".into()]);
    rt.extend(builder).unwrap().build().unwrap()
}

#[test]
fn what_cannot_be_published_is_refused_where_the_poa_is_made() {
    let _watchdog = watchdog(LIMIT);
    let server = Server::at(&ordinary(Propagated::default()), &ENDPOINTS);
    for (protocols, why) in [
        (&["iiop", "shmiop"][..], "profile tag"),
        (&["carrier_pigeon"], "carrier_pigeon"),
        (&[], "no protocol"),
    ] {
        let model = PoaPolicy::of(PriorityModelPolicy::server_declared(at(1)));
        let refused = server
            .poa("refused", &[model, preferring(protocols)])
            .unwrap_err();
        assert!(refused.to_string().contains(why), "{refused}");
        assert!(
            matches!(refused, CreatePoaError::InvalidPolicy { index: 1, .. }),
            "{refused}"
        );
    }
}
