//! Prioritised endpoints: those that references name, those that calls use, and the threads that
//! serve them.

use crate::setting::{LIMIT, Server, at, client, echo, fifo, on_a_thread, ordinary, scheduled};
use crate::support::{Echo, watchdog};
use punctual::poa::PoaPolicy;
use punctual::policy::{PolicyType, Validation};
use punctual::protocol::endpoints_of;
use punctual::rt::{
    ClientPriorityPolicy, PriorityBandedConnectionPolicy, PriorityModelPolicy,
    PrivateConnectionPolicy, Propagated, RtOrb,
};
use punctual::stub::Arc;
use punctual::{
    Interface, ListenEndpoint, Orb, Policy, RootPoa, SetOverride, SystemExceptionKind as Kind,
};
use punctual_ior::Ior;
use std::fmt::Write as _;

/// Endpoints on TCP and Unix sockets with two priorities each, served by thread per connection and
/// by pool, and one on TCP without a priority.
const ENDPOINTS: [&str; 5] = [
    "iiop://127.0.0.1:0",
    "iiop://127.0.0.1:0/priority=10",
    "iiop://127.0.0.1:0/priority=50&concurrency=leader_followers&reserve=false",
    "uiop://|priority=10&concurrency=reactive",
    "uiop://|priority=50",
];

/// Returns the model CLIENT_PROPAGATED, with server priority 1, which every mapping has, for
/// clients without a priority.
pub(crate) fn propagated() -> PriorityModelPolicy {
    PriorityModelPolicy::client_propagated(at(1))
}

/// Returns the priorities of the endpoints that a reference names, each as `protocol priority`.
pub(crate) fn named(orb: &Orb, reference: &str) -> Vec<String> {
    let object = orb.string_to_object(reference).unwrap();
    let endpoints = endpoints_of(orb, object.ior());
    let endpoints = endpoints.into_iter().map(|one| {
        let mut text = one.protocol.to_string();
        if let Some(priority) = one.qualities.priority {
            write!(text, " {priority}").unwrap();
        }
        text
    });
    endpoints.collect()
}

/// Returns a copy of the reference with the given policy override.
pub(crate) fn with<P: PolicyType>(echo: &Echo, policy: P) -> Echo {
    let policy = Policy::of(policy);
    let object = echo.as_object();
    let object = object.set_policy_overrides(&[policy], SetOverride::Add);
    Echo::from_object(object.unwrap())
}

fn place_of(echo: &Echo) -> String {
    echo.as_object().connected_to().unwrap().to_string()
}

#[test]
fn each_lanes_threads_have_its_priority_and_no_upcall_changes_it() {
    let _watchdog = watchdog(LIMIT);
    let Some(rt) = fifo(Propagated::default()) else {
        return;
    };
    // Settings of its own, so that its system calls are counted apart from the clients'.
    let of_server = fifo(Propagated::default()).unwrap();
    let server = Server::at(&of_server, &ENDPOINTS);
    let reference = server.object(propagated());
    let client = client(&rt);
    for protocol in ["iiop", "uiop"] {
        for priority in [10, 50, 10] {
            on_a_thread(|| {
                rt.current().set_the_priority(at(priority)).unwrap();
                let echo = by(&echo(&client, &reference), protocol);
                for value in 0..20 {
                    assert_eq!(echo.long(value).unwrap(), value);
                    let native = (1, u32::from(priority.cast_unsigned()));
                    let seen = server.noting.last();
                    assert_eq!((seen.corba, seen.scheduled), (Some(priority), native));
                }
            });
        }
    }
    assert_eq!(of_server.native_changes(), 0);
    // The endpoint without a lane serves clients that have another one, at the request's priority.
    on_a_thread(|| {
        rt.current().set_the_priority(at(30)).unwrap();
        echo(&client, &reference).long(1).unwrap();
        assert_eq!(server.noting.last().scheduled, (1, 30));
        assert_eq!(scheduled(), (1, 30));
    });
    // The thread has its own priority again once the upcall is over, which is after its reply.
    while of_server.native_changes() < 2 {
        std::thread::yield_now();
    }
    assert_eq!(of_server.native_changes(), 2);
}

/// Returns the reference, restricted to calls by this protocol.
pub(crate) fn by(echo: &Echo, protocol: &str) -> Echo {
    let object = echo.as_object();
    let wish = Policy::ClientProtocols(punctual::policy::ClientProtocols {
        preferred: vec![protocol.to_owned()],
        otherwise: punctual::policy::Otherwise::Raise,
    });
    let object = object.set_policy_overrides(&[wish], SetOverride::Add);
    Echo::from_object(object.unwrap())
}

#[test]
fn references_name_the_endpoints_of_the_priorities_that_objects_are_served_at() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let endpoints = [&ENDPOINTS[..], &["shmiop://|priority=10"]].concat();
    let server = Server::at(&rt, &endpoints);
    let client = client(&rt);
    let declared = |name: &str, priority: i16| {
        let model = PriorityModelPolicy::server_declared(at(priority));
        let poa = server.poa(name, &[PoaPolicy::of(model)]).unwrap();
        let echo: Echo = poa.activate(server.noting.clone()).unwrap();
        server.orb.object_to_string(echo.as_object()).unwrap()
    };
    let sorted = |reference: &str| {
        let mut named = named(&client, reference);
        named.sort();
        named
    };
    let all = [
        "iiop",
        "iiop 10",
        "iiop 50",
        "shmiop 10",
        "uiop 10",
        "uiop 50",
    ];
    assert_eq!(sorted(&server.object(propagated())), all);
    assert_eq!(sorted(&declared("fifty", 50)), ["iiop 50", "uiop 50"]);
    // No lane has it: a thread of another lane takes the priority for the upcall.
    assert_eq!(sorted(&declared("forty", 40)), ["iiop"]);
    assert_eq!(sorted(&server.plain()), ["iiop"]);
}

#[test]
fn the_components_of_lanes_are_taos() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let server = Server::at(
        &rt,
        &["iiop://h.example:0/priority=7&hostname_in_ior=h&port_in_ior=5000"]
            .map(|text| text.replace("h.example", "127.0.0.1"))
            .each_ref()
            .map(String::as_str),
    );
    let ior: Ior = server.object(propagated()).parse().unwrap();
    let profile = ior.iiop_profiles().next().unwrap().unwrap();
    let component = |tag: u32| {
        let mut all = profile.components.iter();
        all.find(|one| one.tag == tag).unwrap().data.clone()
    };
    // Written in this machine's order: the check covers the usual one.
    if cfg!(target_endian = "little") {
        // encapsulation { sequence of one: "h", 5000, 7 }
        let endpoints = [
            1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, b'h', 0, 0x88, 0x13, 7, 0,
        ];
        assert_eq!(component(0x5441_4f02), endpoints);
        // encapsulation { sequence of one: type 40, encapsulation { CLIENT_PROPAGATED, 1 } }
        let model = [1, 0, 0, 0, 0, 0, 0, 0, 1, 0];
        let policies = component(2);
        assert!(policies.ends_with(&model), "{policies:?}");
        assert_eq!(
            policies[..16],
            [1, 0, 0, 0, 1, 0, 0, 0, 40, 0, 0, 0, 10, 0, 0, 0]
        );
    }
}

#[test]
fn clients_say_to_which_priorities_their_calls_go() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let server = Server::at(&rt, &ENDPOINTS[..3]);
    let reference = server.object(propagated());
    let client = client(&rt);
    let echo = || echo(&client, &reference);
    let places: Vec<String> = [None, Some(10), Some(50)]
        .into_iter()
        .map(|priority: Option<i16>| {
            let mut all = server.orb.endpoints().into_iter();
            let one = all.find(|one| one.priority() == priority.map(at)).unwrap();
            format!("iiop://{}", one.place)
        })
        .collect();
    let [none, ten, fifty] = places.as_slice() else {
        panic!("{places:?}")
    };
    on_a_thread(|| {
        let went_to = |echo: Echo| {
            echo.long(1).unwrap();
            place_of(&echo)
        };
        let refused = |echo: Echo| {
            let error = echo.long(1).unwrap_err();
            assert_eq!(error.kind(), Kind::InvPolicy, "{error}");
            error.to_string()
        };
        // A thread without a priority uses the reference's first endpoint.
        assert_eq!(went_to(echo()), *none);
        let why = refused(with(&echo(), ClientPriorityPolicy::UseThreadPriority));
        assert!(why.contains("set_the_priority"), "{why}");
        rt.current().set_the_priority(at(50)).unwrap();
        assert_eq!(went_to(echo()), *fifty);
        let no_priority = with(&echo(), ClientPriorityPolicy::UseNoPriority);
        assert_eq!(went_to(no_priority), *none);
        let of_thread = with(&echo(), ClientPriorityPolicy::UseThreadPriority);
        assert_eq!(went_to(of_thread.clone()), *fifty);
        let range = ClientPriorityPolicy::UsePriorityRange(at(1)..=at(20));
        assert_eq!(went_to(with(&echo(), range)), *ten);
        let range = ClientPriorityPolicy::UsePriorityRange(at(11)..=at(49));
        let why = refused(with(&echo(), range));
        assert!(
            why.contains("from 11 to 49") && why.contains("of priority 10"),
            "{why}"
        );
        // The same reference, by the same thread, at another priority.
        rt.current().set_the_priority(at(10)).unwrap();
        assert_eq!(went_to(of_thread.clone()), *ten);
        rt.current().set_the_priority(at(11)).unwrap();
        refused(of_thread);
        // No endpoint has it: the one without a priority serves all.
        assert_eq!(went_to(echo()), *none);
    });
}

#[test]
fn bands_lead_to_endpoints_of_their_priorities() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let server = Server::at(&rt, &ENDPOINTS[1..3]);
    let reference = server.object(propagated());
    let client = client(&rt);
    let bands = PriorityBandedConnectionPolicy::new([at(0)..=at(19), at(20)..=at(99)]);
    on_a_thread(|| {
        let banded = with(&echo(&client, &reference), bands.clone());
        let mut places = Vec::new();
        for priority in [3, 19, 20, 99] {
            rt.current().set_the_priority(at(priority)).unwrap();
            banded.long(1).unwrap();
            places.push(place_of(&banded));
        }
        assert_eq!(places[0], places[1]);
        assert_ne!(places[1], places[2]);
        assert_eq!(places[2], places[3]);
        rt.current().set_the_priority(at(100)).unwrap();
        let error = banded.long(1).unwrap_err();
        assert_eq!(error.kind(), Kind::InvPolicy);
        assert!(error.to_string().contains("priority 100"), "{error}");
        // The server publishes bands, too.
        let policies = [PoaPolicy::of(propagated()), PoaPolicy::of(bands.clone())];
        let poa = server.poa("bands", &policies).unwrap();
        let published: Echo = poa.activate(server.noting.clone()).unwrap();
        let published = server.orb.object_to_string(published.as_object()).unwrap();
        let published = echo(&client, &published);
        rt.current().set_the_priority(at(20)).unwrap();
        published.long(1).unwrap();
        assert_eq!(place_of(&published), places[2]);
        let error = with(&published, bands.clone()).long(1).unwrap_err();
        assert_eq!(error.kind(), Kind::InvPolicy, "{error}");
    });
    for (bad, why) in [
        (PriorityBandedConnectionPolicy::new([]), "no priority band"),
        (
            PriorityBandedConnectionPolicy::new([at(0)..=at(1), at(3)..=at(2)]),
            "band 1",
        ),
    ] {
        let object = client.string_to_object(&reference).unwrap();
        let refused = object.set_policy_overrides(&[Policy::of(bad)], SetOverride::Add);
        let refused = refused.unwrap_err();
        assert_eq!(refused.kind(), Kind::InvPolicy);
        assert!(refused.to_string().contains(why), "{refused}");
    }
}

#[test]
fn threads_of_different_priorities_share_no_connection() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let server = Server::at(&rt, &ENDPOINTS[..1]);
    let echo = echo(&client(&rt), &server.plain());
    echo.long(1).unwrap();
    for (priority, connections) in [(3, 2), (4, 3), (3, 3), (4, 3)] {
        on_a_thread(|| {
            rt.current().set_the_priority(at(priority)).unwrap();
            echo.long(1).unwrap();
            assert_eq!(server.orb.client_connections(), connections);
        });
    }
}

#[test]
fn a_thread_calls_by_the_lane_of_its_priority_however_it_changes_priorities_and_orbs() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let server = Server::at(&rt, &ENDPOINTS[..1]);
    let orbs = [(); 2].map(|()| client(&rt));
    let [first, second] = orbs.each_ref().map(|orb| echo(orb, &server.plain()));
    // The lanes of the two ORBs are made in different orders.
    let calls = [(&first, 3), (&first, 4), (&second, 4), (&second, 3)];
    on_a_thread(|| {
        for connections in [[1, 2, 3, 4], [4; 4], [4; 4]] {
            for ((echo, priority), connections) in calls.into_iter().zip(connections) {
                rt.current().set_the_priority(at(priority)).unwrap();
                echo.long(1).unwrap();
                assert_eq!(server.orb.client_connections(), connections);
            }
        }
    });
    // A thread without a priority shares none of these connections.
    first.long(1).unwrap();
    assert_eq!(server.orb.client_connections(), 5);
}

#[test]
fn threads_without_a_priority_have_none_whoever_starts_them() {
    let _watchdog = watchdog(LIMIT);
    let Some(rt) = fifo(Propagated::default()) else {
        return;
    };
    for concurrency in [
        "thread_per_connection",
        "reactive",
        "leader_followers&reserve=false",
    ] {
        on_a_thread(|| {
            rt.current().set_the_priority(at(40)).unwrap();
            // Threads that it starts would inherit its scheduling.
            let endpoint = format!("iiop://127.0.0.1:0/concurrency={concurrency}");
            let server = Server::at(&rt, &[&endpoint]);
            let plain = server.plain();
            echo(&client(&rt), &plain).long(1).unwrap();
            assert_eq!(server.noting.last().scheduled, (0, 0), "{concurrency}");
        });
    }
}

#[test]
fn a_private_connection_is_one_references() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let server = Server::at(&rt, &ENDPOINTS[..1]);
    let shared = echo(&client(&rt), &server.plain());
    shared.long(1).unwrap();
    shared.clone().long(1).unwrap();
    assert_eq!(server.orb.client_connections(), 1);
    let private = [(); 2].map(|()| with(&shared, PrivateConnectionPolicy));
    for (each, connections) in private.iter().zip([2, 3]) {
        for _ in 0..3 {
            each.long(1).unwrap();
            each.clone().long(1).unwrap();
        }
        assert_eq!(server.orb.client_connections(), connections);
    }
}

#[test]
fn a_private_connection_ends_with_the_last_reference_that_has_it() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let server = Server::at(&rt, &ENDPOINTS[..1]);
    let shared = echo(&client(&rt), &server.plain());
    shared.long(1).unwrap();
    let are = |connections: usize| {
        // The server notices a moment later.
        while server.orb.client_connections() != connections {
            std::thread::yield_now();
        }
    };
    let private = [(); 2].map(|()| with(&shared, PrivateConnectionPolicy));
    // One for each lane that calls.
    let calls = |priority: i16| {
        on_a_thread(|| {
            rt.current().set_the_priority(at(priority)).unwrap();
            for one in &private {
                one.long(1).unwrap();
            }
        });
    };
    for one in &private {
        one.long(1).unwrap();
    }
    calls(3);
    are(5);
    let [first, second] = private;
    let again = first.clone();
    drop(first);
    again.long(2).unwrap();
    assert_eq!(server.orb.client_connections(), 5);
    drop(again);
    are(3);
    second.long(3).unwrap();
    drop(second);
    are(1);
    shared.long(4).unwrap();
    assert_eq!(server.orb.client_connections(), 1);
}

#[test]
fn an_endpoint_comes_with_its_lane_while_the_orb_runs() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let server = Server::at(&rt, &ENDPOINTS[..1]);
    let before = server.object(propagated());
    let added: ListenEndpoint = ENDPOINTS[2].parse().unwrap();
    server.orb.add_endpoint(added.clone()).unwrap();
    let poa = server
        .orb
        .root_poa()
        .unwrap()
        .find_poa("model", false)
        .unwrap();
    let echo: Echo = poa.activate(server.noting.clone()).unwrap();
    let after = server.orb.object_to_string(echo.as_object()).unwrap();
    let client = client(&rt);
    assert_eq!(named(&client, &before), ["iiop"]);
    assert_eq!(named(&client, &after), ["iiop", "iiop 50"]);
    assert!(server.orb.retire_endpoint(&added));
    let echo: Echo = poa.activate(server.noting.clone()).unwrap();
    let after = server.orb.object_to_string(echo.as_object()).unwrap();
    assert_eq!(named(&client, &after), ["iiop"]);
}

#[test]
fn what_no_lane_can_be_made_of_is_refused_where_it_is_said() {
    let _watchdog = watchdog(LIMIT);
    let endpoint = |text: &str| text.parse::<ListenEndpoint>();
    for bad in ["-1", "32768", "high"] {
        let error = endpoint(&format!("iiop://:0/priority={bad}")).unwrap_err();
        assert!(error.to_string().contains("0 to 32767"), "{error}");
    }
    let high = endpoint("iiop://127.0.0.1:0/priority=50").unwrap();
    let error = Orb::builder().listen(high.clone()).build().unwrap_err();
    assert!(error.to_string().contains("RtOrb::extend"), "{error}");
    // A priority that no endpoint serves, as each has another one.
    let rt = ordinary(Propagated::default());
    let server = Server::at(&rt, &ENDPOINTS[1..3]);
    let model = PoaPolicy::of(PriorityModelPolicy::server_declared(at(11)));
    let refused = server.poa("eleven", &[model]).err().unwrap().to_string();
    assert!(
        refused.contains("priority 11") && refused.contains("10, 50"),
        "{refused}"
    );
    // A priority without a native one.
    if let Some(rt) = fifo(Propagated::default()) {
        let error = above(&rt).build().unwrap_err().to_string();
        assert!(error.contains("no native priority for 1000"), "{error}");
    }
}

fn above(rt: &Arc<RtOrb>) -> punctual::OrbBuilder {
    let endpoint = "iiop://127.0.0.1:0/priority=1000".parse().unwrap();
    rt.extend(Orb::builder().listen(endpoint)).unwrap()
}

#[test]
fn explicit_binding_says_which_policies_cannot_be_met() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let server = Server::at(&rt, &["uiop://|priority=10", "uiop://|priority=50"]);
    let client = client(&rt);
    let object = echo(&client, &server.object(propagated()));
    let inconsistent = |echo: &Echo| match echo.as_object().validate_connection().unwrap() {
        Validation::Connected => Vec::new(),
        Validation::Inconsistent { policies, why } => {
            assert_eq!(why, echo.long(1).unwrap_err());
            policies
        }
    };
    assert_eq!(inconsistent(&object), []);
    let between = ClientPriorityPolicy::UsePriorityRange(at(20)..=at(40));
    assert_eq!(
        inconsistent(&with(&object, between.clone())),
        [Policy::of(between)]
    );
    let of_thread = ClientPriorityPolicy::UseThreadPriority;
    assert_eq!(
        inconsistent(&with(&object, of_thread.clone())),
        [Policy::of(of_thread)]
    );
    let above = PriorityBandedConnectionPolicy::new([at(100)..=at(200)]);
    assert_eq!(
        inconsistent(&with(&object, above.clone())),
        [Policy::of(above.clone())]
    );
    // The published priority must be one of them, where the server decides.
    let model = PriorityModelPolicy::server_declared(at(10));
    let declared = server.poa("declared", &[PoaPolicy::of(model)]).unwrap();
    let declared: Echo = declared.activate(server.noting.clone()).unwrap();
    let declared = server.orb.object_to_string(declared.as_object()).unwrap();
    let declared = with(&echo(&client, &declared), above.clone());
    assert_eq!(
        inconsistent(&declared),
        [Policy::of(above.clone()), Policy::of(model)]
    );
    // Both sides have bands.
    let bands = PriorityBandedConnectionPolicy::new([at(0)..=at(200)]);
    let policies = [PoaPolicy::of(propagated()), PoaPolicy::of(bands.clone())];
    let banded = server.poa("banded", &policies).unwrap();
    let banded: Echo = banded.activate(server.noting.clone()).unwrap();
    let banded = server.orb.object_to_string(banded.as_object()).unwrap();
    let banded = with(&echo(&client, &banded), above.clone());
    assert_eq!(
        inconsistent(&banded),
        [Policy::of(above), Policy::of(bands)]
    );
}
