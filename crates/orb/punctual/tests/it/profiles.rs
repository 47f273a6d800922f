//! References with several profiles, replicas that fail, and nested forwards (Schmidt et al. 2001,
//! §3.3.5 and §4.7).
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::protocol::{
    Acceptor, Address, Connection, Deadline, Framing, Guarantees, Link, LinkError, Phase,
    Properties,
};
use punctual::stub::{Arc, ByteOrder, DispatchError, Dispatched, ObjectRef, ServerCall};
use punctual::{
    CompletionStatus, Interface, ListenEndpoint, Orb, RootPoa, SystemExceptionKind as Kind,
};
use punctual_ior::{Ior, PairProfile};
use std::io::Read;
use std::net::TcpListener;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use support::{Answering, Echo, EchoImpl, watchdog};

const LIMIT: Duration = Duration::from_secs(60);

/// Server with one object, as one of several replicas.
struct Replica {
    orb: Orb,
    servant: Arc<EchoImpl>,
    reference: Ior,
}

impl Replica {
    fn at(protocol: &str, place: &str) -> Self {
        let orb = Orb::builder()
            .listen(ListenEndpoint::new(protocol, place))
            .build()
            .unwrap();
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let servant = Arc::new(EchoImpl::default());
        let echo: Echo = poa.activate(servant.clone()).unwrap();
        let reference = echo.as_object().ior().clone();
        Self {
            orb,
            servant,
            reference,
        }
    }

    fn tcp() -> Self {
        Self::at("iiop", "127.0.0.1:0")
    }

    fn pings(&self) -> u32 {
        *self.servant.pings.lock().unwrap()
    }

    fn die(&self) {
        self.orb.shutdown(false).unwrap();
    }
}

/// Servant that forwards every request to the first of its targets.
struct Forwarder {
    /// Targets of the next requests, in order; the last one is kept.
    to: Mutex<Vec<ObjectRef>>,
    permanently: bool,
    asked: AtomicU32,
}

impl Answering for Forwarder {
    fn answer(&self, _call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut places = self.to.lock().unwrap();
        let to = match places.len() {
            1 => places[0].clone(),
            _ => places.remove(0),
        };
        drop(places);
        Err(if self.permanently {
            DispatchError::forward_permanently(&to)
        } else {
            DispatchError::forward(&to)
        })
    }
}

/// Server with one object, whose requests are forwarded to another.
struct ForwardingServer {
    orb: Orb,
    forwarder: Arc<Forwarder>,
    reference: Ior,
}

impl ForwardingServer {
    fn new(permanently: bool) -> Self {
        let orb = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .build()
            .unwrap();
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let forwarder = Arc::new(Forwarder {
            to: Mutex::new(Vec::new()),
            permanently,
            asked: AtomicU32::new(0),
        });
        let echo: Echo = poa.activate(forwarder.clone()).unwrap();
        let reference = echo.as_object().ior().clone();
        Self {
            orb,
            forwarder,
            reference,
        }
    }

    fn forward_to(&self, to: &Ior) {
        self.forward_to_each(&[to]);
    }

    /// Forwards the first request to the first of `places`, the next to the second, and so on, and
    /// all further ones to the last.
    fn forward_to_each(&self, places: &[&Ior]) {
        let object = |to: &&Ior| {
            let text = to.stringify(order()).unwrap();
            self.orb.string_to_object(&text).unwrap()
        };
        *self.forwarder.to.lock().unwrap() = places.iter().map(object).collect();
    }

    fn asked(&self) -> u32 {
        self.forwarder.asked.load(Ordering::SeqCst)
    }
}

fn order() -> ByteOrder {
    ByteOrder::NATIVE
}

/// Returns a reference that has the profiles of all the given ones.
fn joined(references: &[&Ior]) -> Ior {
    Ior {
        type_id: references[0].type_id.clone(),
        profiles: references
            .iter()
            .flat_map(|one| one.profiles.clone())
            .collect(),
    }
}

fn client_of(reference: &Ior) -> (Orb, Echo) {
    let client = Orb::builder().build().unwrap();
    let text = reference.stringify(order()).unwrap();
    let echo = Echo::from_object(client.string_to_object(&text).unwrap());
    (client, echo)
}

#[test]
fn a_replica_that_dies_in_traffic_loses_no_call_that_was_safe_to_repeat() {
    let _watchdog = watchdog(LIMIT);
    let replicas = [
        Replica::tcp(),
        Replica::at("uiop", ""),
        Replica::at("giop_lite+iiop", "127.0.0.1:0"),
    ];
    let all: Vec<&Ior> = replicas.iter().map(|one| &one.reference).collect();
    let (_client, echo) = client_of(&joined(&all));
    let stop = AtomicBool::new(false);
    let lost = AtomicU32::new(0);
    let done = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let (echo, stop, lost, done) = (echo.clone(), &stop, &lost, &done);
            scope.spawn(move || {
                while !stop.load(Ordering::SeqCst) {
                    match echo.long(1) {
                        Ok(_) => done.fetch_add(1, Ordering::SeqCst),
                        // The server may have begun: the call is not safe to repeat, and the caller
                        // gets the error.
                        Err(error) if error.completed() != punctual::CompletionStatus::No => 0,
                        Err(error) => {
                            eprintln!("{error}");
                            lost.fetch_add(1, Ordering::SeqCst)
                        }
                    };
                }
            });
        }
        let goes_on = |from: u32| {
            while done.load(Ordering::SeqCst) < from + 200 {
                crate::support::pause();
            }
            done.load(Ordering::SeqCst)
        };
        let count = goes_on(0);
        replicas[0].die();
        let count = goes_on(count);
        replicas[1].die();
        goes_on(count);
        stop.store(true, Ordering::SeqCst);
    });
    assert_eq!(lost.load(Ordering::SeqCst), 0);
    replicas[2].die();
    let error = echo.long(1).unwrap_err();
    assert_eq!(error.kind(), Kind::Transient, "{error}");
    // The error names all three.
    let text = error.to_string();
    assert!(
        text.contains("iiop://") && text.contains("uiop://"),
        "{text}"
    );
}

#[test]
fn a_forwarded_reference_whose_profiles_all_fail_falls_back_to_the_one_behind_the_forwarded() {
    let _watchdog = watchdog(LIMIT);
    // P1 forwards to P3 and P4, which are dead; P2 serves (figure 12 of the paper).
    let (forwarding, second) = (ForwardingServer::new(false), Replica::tcp());
    let (third, fourth) = (Replica::tcp(), Replica::tcp());
    forwarding.forward_to(&joined(&[&third.reference, &fourth.reference]));
    third.die();
    fourth.die();
    let (_client, echo) = client_of(&joined(&[&forwarding.reference, &second.reference]));
    assert_eq!(echo.long(1).unwrap(), 1);
    echo.ping().unwrap();
    assert_eq!(echo.pings().unwrap(), 1);
    assert_eq!(second.pings(), 1);
}

#[test]
fn what_asks_about_an_object_goes_on_when_a_server_dies_that_may_have_begun_it() {
    let _watchdog = watchdog(LIMIT);
    let second = Replica::tcp();
    // Takes requests, and ends without an answer.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap();
    let taken = AtomicU32::new(0);
    let dying = |count: usize| {
        for connection in listener.incoming().take(count) {
            let read = connection.unwrap().read(&mut [0; 12]).unwrap();
            assert_eq!(read, 12, "the header of a message");
            taken.fetch_add(1, Ordering::SeqCst);
        }
    };
    let orb = Orb::builder().build().unwrap();
    let first = orb
        .string_to_object(&format!("corbaloc:iiop:1.2@{place}/echo"))
        .unwrap();
    let reference = joined(&[first.ior(), &second.reference]);
    // A client is bound to the second server afterwards.
    std::thread::scope(|scope| {
        scope.spawn(|| dying(4));
        let (_client, echo) = client_of(&reference);
        assert!(!echo.as_object().non_existent().unwrap());
        let (_client, echo) = client_of(&reference);
        assert!(echo.as_object().locate().unwrap());
        let (_client, echo) = client_of(&reference);
        assert!(!echo.as_object().is_a("IDL:Other:1.0").unwrap());
        assert_eq!(taken.load(Ordering::SeqCst), 3);
        // A request that may have been executed is not made again.
        let (_client, echo) = client_of(&reference);
        let lost = echo.long(1).unwrap_err();
        assert_eq!(lost.kind(), Kind::CommFailure, "{lost}");
        assert_eq!(lost.completed(), CompletionStatus::Maybe);
    });
    assert_eq!(taken.load(Ordering::SeqCst), 4);
}

#[test]
fn who_listens_where_another_server_did_does_not_stop_the_fail_over() {
    let _watchdog = watchdog(LIMIT);
    let (gone, alive) = (Replica::at("uiop", ""), Replica::tcp());
    let path = gone.orb.endpoints()[0].place.clone();
    let reference = joined(&[&gone.reference, &alive.reference]);
    gone.die();
    let _other = Replica::at("uiop", &path);
    let (_client, echo) = client_of(&reference);
    assert_eq!(echo.long(1).unwrap(), 1);
    // Without another profile, it is the answer.
    let (_client, only) = client_of(&gone.reference);
    assert_eq!(only.long(1).unwrap_err().kind(), Kind::ObjectNotExist);
}

#[test]
fn the_profiles_of_a_forward_are_tried_in_turn() {
    let _watchdog = watchdog(LIMIT);
    let forwarding = ForwardingServer::new(false);
    let (dead, alive) = (Replica::tcp(), Replica::at("uiop", ""));
    forwarding.forward_to(&joined(&[&dead.reference, &alive.reference]));
    dead.die();
    let (_client, echo) = client_of(&forwarding.reference);
    assert_eq!(echo.long(1).unwrap(), 1);
    // The forward is remembered.
    assert_eq!(echo.long(2).unwrap(), 2);
    assert_eq!(forwarding.asked(), 1);
}

#[test]
fn forwards_nest_to_the_configured_depth_and_no_deeper() {
    let _watchdog = watchdog(LIMIT);
    let end = Replica::tcp();
    let chain: Vec<ForwardingServer> = (0..4).map(|_| ForwardingServer::new(false)).collect();
    for (server, next) in chain.iter().zip(&chain[1..]) {
        server.forward_to(&next.reference);
    }
    chain[3].forward_to(&end.reference);
    let text = chain[0].reference.stringify(order()).unwrap();
    let call = |depth| {
        let client = Orb::builder().configure(|config| config.max_forwards = depth);
        let client = client.build().unwrap();
        let echo = Echo::from_object(client.string_to_object(&text).unwrap());
        echo.long(9)
    };
    assert_eq!(call(4).unwrap(), 9);
    let error = call(3).unwrap_err();
    assert_eq!(error.kind(), Kind::Transient, "{error}");
    assert!(error.to_string().contains("deeper than 3"), "{error}");
}

#[test]
fn a_forwarding_loop_ends_with_a_clear_transient() {
    let _watchdog = watchdog(LIMIT);
    let (one, other) = (ForwardingServer::new(false), ForwardingServer::new(false));
    one.forward_to(&other.reference);
    other.forward_to(&one.reference);
    let (_client, echo) = client_of(&one.reference);
    let error = echo.long(1).unwrap_err();
    assert_eq!(error.kind(), Kind::Transient);
    let text = error.to_string();
    assert!(text.contains("loop") && text.contains("iiop://"), "{text}");
    assert!(one.asked() + other.asked() <= 12);
}

#[test]
fn a_permanent_forward_is_followed_at_once_by_later_calls_even_when_its_connection_breaks() {
    let _watchdog = watchdog(LIMIT);
    let (forwarding, end) = (ForwardingServer::new(true), Replica::tcp());
    forwarding.forward_to(&end.reference);
    let (_client, echo) = client_of(&forwarding.reference);
    assert_eq!(echo.long(1).unwrap(), 1);
    let other = echo.as_object().with_timeout(Duration::from_secs(20));
    assert_eq!(Echo::from_object(other).long(2).unwrap(), 2);
    assert_eq!(forwarding.asked(), 1);
}

#[test]
fn a_forward_that_has_gone_stale_leads_back_to_the_original_place() {
    let _watchdog = watchdog(LIMIT);
    let forwarding = ForwardingServer::new(false);
    let (old, new) = (Replica::tcp(), Replica::tcp());
    forwarding.forward_to(&old.reference);
    let (_client, echo) = client_of(&forwarding.reference);
    assert_eq!(echo.long(1).unwrap(), 1);
    forwarding.forward_to(&new.reference);
    old.die();
    assert_eq!(echo.long(2).unwrap(), 2);
    assert_eq!(forwarding.asked(), 2);
}

#[test]
fn a_first_call_that_is_forwarded_to_a_dead_place_asks_the_reference_again() {
    let _watchdog = watchdog(LIMIT);
    for permanently in [false, true] {
        let forwarding = ForwardingServer::new(permanently);
        let (dead, alive) = (Replica::tcp(), Replica::tcp());
        forwarding.forward_to_each(&[&dead.reference, &alive.reference]);
        dead.die();
        let (_client, echo) = client_of(&forwarding.reference);
        assert_eq!(echo.long(1).unwrap(), 1, "permanently: {permanently}");
        assert_eq!(forwarding.asked(), 2);
    }
}

#[test]
fn a_reference_that_forwards_to_dead_places_only_is_asked_twice() {
    let _watchdog = watchdog(LIMIT);
    for permanently in [false, true] {
        let forwarding = ForwardingServer::new(permanently);
        let dead = Replica::tcp();
        forwarding.forward_to(&dead.reference);
        dead.die();
        let (_client, echo) = client_of(&forwarding.reference);
        let error = echo.long(1).unwrap_err();
        assert_eq!(error.kind(), Kind::Transient, "{error}");
        assert_eq!(forwarding.asked(), 2);
        // The next call asks again: the object may be elsewhere by then.
        echo.long(1).unwrap_err();
        assert_eq!(forwarding.asked(), if permanently { 3 } else { 4 });
        let alive = Replica::tcp();
        forwarding.forward_to(&alive.reference);
        assert_eq!(echo.long(1).unwrap(), 1);
    }
}

#[test]
fn a_single_profile_that_fails_reports_its_own_failure() {
    let _watchdog = watchdog(LIMIT);
    let replica = Replica::tcp();
    replica.die();
    let (_client, echo) = client_of(&replica.reference);
    let error = echo.long(1).unwrap_err();
    assert_eq!(error.kind(), Kind::Transient);
    assert!(error.to_string().contains("refused"), "{error}");
}

/// Link on which each attempt to connect lasts until it times out.
#[derive(Debug)]
struct Silent;

impl Link for Silent {
    fn name(&self) -> &str {
        "silent"
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees {
            reliable: true,
            ordered: true,
            framing: Framing::Stream,
            largest: None,
        }
    }

    fn connect(
        &self,
        _address: &Address,
        _properties: &Properties,
        deadline: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        while !deadline.has_passed() {
            crate::support::pause();
        }
        Err(LinkError::timed_out(Phase::Connect))
    }

    fn listen(
        &self,
        _address: &Address,
        _properties: &Properties,
    ) -> Result<Box<dyn Acceptor>, LinkError> {
        Err(LinkError::timed_out(Phase::Listen))
    }
}

#[test]
fn a_profile_that_never_answers_takes_none_of_the_time_of_those_behind_it() {
    let _watchdog = watchdog(LIMIT);
    let replica = Replica::tcp();
    let profile = PairProfile {
        protocol: "giop+silent".to_owned(),
        places: vec!["nowhere".to_owned()],
        object_key: b"key".to_vec(),
        components: Vec::new(),
    };
    let silent = Ior {
        type_id: replica.reference.type_id.clone(),
        profiles: vec![profile.to_tagged(order()).unwrap()],
    };
    let client = Orb::builder()
        .link(Arc::new(Silent))
        .configure(|config| config.timeouts.connect = Some(Duration::from_millis(100)))
        .build()
        .unwrap();
    let text = joined(&[&silent, &replica.reference])
        .stringify(order())
        .unwrap();
    let echo = Echo::from_object(client.string_to_object(&text).unwrap());
    assert_eq!(echo.long(5).unwrap(), 5);
}

#[test]
fn a_reference_from_a_peer_cannot_name_a_protocol_without_end() {
    let client = Orb::builder().build().unwrap();
    let profile = PairProfile {
        protocol: format!("giop+{}diop", "reliable+".repeat(1000)),
        places: vec!["127.0.0.1:1".to_owned()],
        object_key: b"key".to_vec(),
        components: Vec::new(),
    };
    let ior = Ior {
        type_id: "IDL:test/Echo:1.0".to_owned(),
        profiles: vec![profile.to_tagged(order()).unwrap()],
    };
    let text = ior.stringify(order()).unwrap();
    let echo = Echo::from_object(client.string_to_object(&text).unwrap());
    let error = echo.long(1).unwrap_err();
    assert_eq!(error.kind(), Kind::Transient);
    assert!(error.to_string().contains("at most 4 parts"), "{error}");
}
