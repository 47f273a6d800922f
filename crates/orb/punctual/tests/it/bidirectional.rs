//! Calls to a client's objects by the connection that the client has opened (bidirectional GIOP).
#![allow(clippy::unwrap_used)]

#[cfg(feature = "tls")]
use crate::authority;
use crate::support;

use punctual::interceptor::{OrbInitInfo, OrbInitializer, ServerRequestInterceptor};
use punctual::poa::PoaPolicy;
use punctual::policy::{Bidirectional, Collocation};
use punctual::stub::{Arc, DispatchError, Dispatched, Marshal, Operation, ServerCall, Unmarshal};
use punctual::{
    Interface, ListenEndpoint, ObjectRef, Orb, OrbConfig, Poa, Policy, RootPoa, SetOverride,
    SystemException, SystemExceptionKind as Kind,
};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Mutex;
use std::time::Duration;
use support::{Answering, Echo, EchoImpl, watchdog};

const LIMIT: Duration = Duration::from_secs(60);
const SUM: Operation = Operation::one_way("sum_behind_gate");

/// Servant that stores the reference that it receives, or calls the object at once.
#[derive(Default)]
struct Keeper(Mutex<Option<Echo>>);

impl Answering for Keeper {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        if call.operation() == "long" {
            let value = i32::unmarshal(call.arguments())?;
            return call.reply(|out| value.marshal(out));
        }
        let given = Echo::from_object(ObjectRef::unmarshal(call.arguments())?);
        match call.operation() {
            "keep" => *self.0.lock().unwrap() = Some(given),
            _ => drop(given.long(1)?),
        }
        call.reply(|_| Ok(()))
    }
}

/// Servant that calls the server back before it answers.
struct CallsAgain(Mutex<Option<Echo>>);

impl Answering for CallsAgain {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        let value = i32::unmarshal(call.arguments())?;
        let server = self.0.lock().unwrap().clone();
        let value = server.unwrap().long(value + 1)?;
        call.reply(|out| value.marshal(out))
    }
}

/// Server that may call back over the client's connection, and client whose references lead to an
/// address without a listener.
struct Two {
    server: Orb,
    keeper: Arc<Keeper>,
    client: Orb,
    poa: Poa,
    /// Client's reference to the server's `Keeper` object.
    at: Echo,
}

fn both(config: &mut OrbConfig) {
    config.bidirectional = Bidirectional::Both;
    config.collocation = Collocation::None;
}

fn nobody(config: &mut OrbConfig) {
    config.collocation = Collocation::None;
}

/// Returns an endpoint of the client's ORB whose published address has no listener.
fn unreachable(protocol: &str) -> ListenEndpoint {
    match protocol {
        "uiop" => ListenEndpoint::new("uiop", ""),
        _ => ListenEndpoint::new(protocol, "127.0.0.1:0").option("port_in_ior", 1),
    }
}

fn start(endpoint: ListenEndpoint, configure: impl FnOnce(&mut OrbConfig)) -> Orb {
    let orb = Orb::builder().listen(endpoint).configure(configure);
    let orb = orb.build().unwrap();
    orb.root_poa().unwrap().manager().activate().unwrap();
    orb
}

impl Two {
    fn new(protocol: &str, concurrency: &str) -> Self {
        Self::with(protocol, concurrency, both, both, Some(Bidirectional::Both))
    }

    fn with(
        protocol: &str,
        concurrency: &str,
        server: impl FnOnce(&mut OrbConfig),
        client: impl FnOnce(&mut OrbConfig),
        of_poa: Option<Bidirectional>,
    ) -> Self {
        let place = if protocol == "uiop" {
            ""
        } else {
            "127.0.0.1:0"
        };
        let endpoint = ListenEndpoint::new(protocol, place).option("concurrency", concurrency);
        Self::of(start(endpoint, server), (protocol, client), of_poa)
    }

    fn of(
        server: Orb,
        (protocol, client): (&str, impl FnOnce(&mut OrbConfig)),
        of_poa: Option<Bidirectional>,
    ) -> Self {
        Self::between(server, start(unreachable(protocol), client), of_poa)
    }

    fn between(server: Orb, client: Orb, of_poa: Option<Bidirectional>) -> Self {
        let keeper = Arc::new(Keeper::default());
        let reference: Echo = server.root_poa().unwrap().activate(keeper.clone()).unwrap();
        let text = server.object_to_string(&reference).unwrap();
        let root = client.root_poa().unwrap();
        let policies = of_poa.map(|both| PoaPolicy::Defined(Policy::Bidirectional(both)));
        let policies: Vec<PoaPolicy> = policies.into_iter().collect();
        let poa = root.create_poa("callbacks", Some(root.manager()), &policies);
        Self {
            at: Echo::from_object(client.string_to_object(&text).unwrap()),
            poa: poa.unwrap(),
            server,
            keeper,
            client,
        }
    }

    fn give(&self, operation: &'static str, object: &Echo) -> Result<(), SystemException> {
        let operation = Operation::two_way(operation);
        let object = object.as_object().clone();
        self.at
            .as_object()
            .invoke(&operation, |out| object.marshal(out), |_| Ok(()))
    }

    /// Passes a client's object to the server, and returns the reference that the server received.
    fn given(&self, object: &Echo) -> Echo {
        self.give("keep", object).unwrap();
        self.keeper.0.lock().unwrap().clone().unwrap()
    }

    /// Returns the number of connections that peers have opened to the client.
    fn connections_to_client(&self) -> usize {
        let lanes = self.client.lane_statistics();
        lanes.iter().map(|lane| lane.connections).sum()
    }
}

impl Drop for Two {
    fn drop(&mut self) {
        let _ = self.client.shutdown(false);
        let _ = self.server.shutdown(false);
    }
}

#[test]
fn a_client_that_cannot_be_reached_is_called_by_its_own_connection() {
    let _watchdog = watchdog(LIMIT);
    for protocol in ["iiop", "uiop"] {
        for concurrency in ["thread_per_connection", "reactive", "leader_followers"] {
            let two = Two::new(protocol, concurrency);
            let servant = Arc::new(EchoImpl::default());
            servant.gate.open();
            let object: Echo = two.poa.activate(servant.clone()).unwrap();
            // From an upcall, and from outside of any; while the client waits for a reply, and
            // while it does not.
            for _ in 0..3 {
                two.give("call", &object).unwrap();
            }
            let kept = two.given(&object);
            for value in 0..100 {
                assert_eq!(kept.long(value).unwrap(), value);
                assert_eq!(two.at.long(value).unwrap(), value);
            }
            for octet in 0..100_u8 {
                let object = kept.as_object();
                object.send(&SUM, |out| out.put_octets(&[octet])).unwrap();
            }
            let large = vec![1; 5 << 20];
            assert_eq!(kept.octets(&large).unwrap(), large);
            let expected: Vec<u64> = (0..100).collect();
            assert_eq!(*servant.sums.lock().unwrap(), expected);
            assert_eq!(two.connections_to_client(), 0, "{protocol}, {concurrency}");
        }
    }
}

#[test]
fn an_option_and_a_key_of_the_file_allow_callbacks_on_both_sides() {
    let _watchdog = watchdog(LIMIT);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "bidirectional = \"both\"").unwrap();
    let by_file = |config: &mut OrbConfig| {
        config.apply_file(file.path()).unwrap();
        config.collocation = Collocation::None;
    };
    let by_option = |config: &mut OrbConfig| {
        let options = ["-ORBBidirectional", "both"].map(str::to_owned);
        config.apply_arguments(options).unwrap();
        config.collocation = Collocation::None;
    };
    let of_poa = Some(Bidirectional::Both);
    let two = Two::with("iiop", "thread_per_connection", by_option, by_file, of_poa);
    let object: Echo = two.poa.activate(Arc::new(EchoImpl::default())).unwrap();
    two.give("call", &object).unwrap();
    assert_eq!(two.connections_to_client(), 0);
}

#[test]
fn callbacks_nest_and_go_both_ways_at_once() {
    let _watchdog = watchdog(LIMIT);
    for concurrency in ["thread_per_connection", "leader_followers"] {
        let two = Two::new("iiop", concurrency);
        let again = Arc::new(CallsAgain(Mutex::new(Some(two.at.clone()))));
        let object: Echo = two.poa.activate(again).unwrap();
        two.give("call", &object).unwrap();
        let kept = two.given(&object);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for value in 0..200 {
                        assert_eq!(kept.long(value).unwrap(), value + 1);
                    }
                });
                scope.spawn(|| {
                    for value in 0..200 {
                        assert_eq!(two.at.long(value).unwrap(), value);
                    }
                });
            }
        });
    }
}

#[test]
fn nobody_is_called_back_where_one_side_does_not_allow_it() {
    let _watchdog = watchdog(LIMIT);
    let yes = Some(Bidirectional::Both);
    let refused = |two: Two| {
        let object: Echo = two.poa.activate(Arc::new(EchoImpl::default())).unwrap();
        two.given(&object).long(1).unwrap_err().kind()
    };
    let by = "thread_per_connection";
    // Each call would need a new connection.
    let without_server = Two::with("iiop", by, nobody, both, yes);
    assert_eq!(refused(without_server), Kind::Transient);
    let without_client = Two::with("iiop", by, both, nobody, yes);
    assert_eq!(refused(without_client), Kind::Transient);
    for of_poa in [None, Some(Bidirectional::Normal)] {
        let without_poa = Two::with("iiop", by, both, both, of_poa);
        assert_eq!(refused(without_poa), Kind::NoPermission);
    }
}

#[test]
fn a_client_says_it_for_one_reference_or_a_whole_orb() {
    let _watchdog = watchdog(LIMIT);
    let by = "thread_per_connection";
    let yes = Some(Bidirectional::Both);
    let mut two = Two::with("iiop", by, nobody, nobody, yes);
    let policy = [Policy::Bidirectional(Bidirectional::Both)];
    let set = SetOverride::Add;
    two.server
        .policy_manager()
        .set_policy_overrides(&policy, set)
        .unwrap();
    let object: Echo = two.poa.activate(Arc::new(EchoImpl::default())).unwrap();
    assert_eq!(
        two.given(&object).long(1).unwrap_err().kind(),
        Kind::Transient
    );
    let at = two
        .at
        .as_object()
        .set_policy_overrides(&policy, set)
        .unwrap();
    two.at = Echo::from_object(at);
    assert_eq!(two.given(&object).long(1).unwrap(), 1);
}

#[test]
fn listen_points_of_another_host_redirect_no_reference_that_came_another_way() {
    let _watchdog = watchdog(LIMIT);
    let victim = start(ListenEndpoint::iiop("127.0.0.1", 0), nobody);
    let servant = Arc::new(EchoImpl::default());
    let object: Echo = victim
        .root_poa()
        .unwrap()
        .activate(servant.clone())
        .unwrap();
    let text = victim.object_to_string(&object).unwrap();
    let port = victim.endpoints()[0].port().unwrap();
    let server = start(ListenEndpoint::iiop("127.0.0.1", 0), both);
    let keeper = Arc::new(Keeper::default());
    let reference: Echo = server.root_poa().unwrap().activate(keeper.clone()).unwrap();
    let at = server.object_to_string(&reference).unwrap();
    // The client pretends to be the victim.
    let spoofing = ListenEndpoint::iiop("127.0.0.1", 0).option("port_in_ior", port);
    let attacker = start(spoofing, both);
    let at = Echo::from_object(attacker.string_to_object(&at).unwrap());
    assert_eq!(at.long(1).unwrap(), 1);
    let as_server = Echo::from_object(server.string_to_object(&text).unwrap());
    as_server.ping().unwrap();
    assert_eq!(as_server.pings().unwrap(), 1);
    assert_eq!(*servant.pings.lock().unwrap(), 1);
    for orb in [attacker, server, victim] {
        orb.shutdown(false).unwrap();
    }
}

/// Relay from `listener` to a port of this host; its connections can be cut.
struct Relay(Arc<Mutex<Vec<TcpStream>>>);

impl Relay {
    fn new(listener: TcpListener, to: u16) -> Self {
        let all = Arc::new(Mutex::new(Vec::new()));
        let streams = all.clone();
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let far = TcpStream::connect(("127.0.0.1", to)).unwrap();
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    streams.lock().unwrap().push(from.try_clone().unwrap());
                    std::thread::spawn(move || std::io::copy(&mut from, &mut to));
                }
            }
        });
        Self(all)
    }

    fn cut(&self) {
        for stream in &*self.0.lock().unwrap() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

#[test]
fn a_callback_whose_connection_ends_fails() {
    let _watchdog = watchdog(LIMIT);
    for concurrency in ["thread_per_connection", "leader_followers"] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = ListenEndpoint::iiop("127.0.0.1", 0)
            .option("concurrency", concurrency)
            .option("port_in_ior", listener.local_addr().unwrap().port());
        let server = start(endpoint, both);
        let relay = Relay::new(listener, server.endpoints()[0].port().unwrap());
        let two = Two::of(server, ("iiop", both), Some(Bidirectional::Both));
        let servant = Arc::new(EchoImpl::default());
        let object: Echo = two.poa.activate(servant.clone()).unwrap();
        let kept = two.given(&object);
        let waiting = std::thread::spawn(move || (kept.wait(), kept.long(1)));
        servant.gate.wait_for_waiters(1);
        relay.cut();
        let (waited, next) = waiting.join().unwrap();
        assert_eq!(waited.unwrap_err().kind(), Kind::CommFailure);
        assert_eq!(next.unwrap_err().kind(), Kind::Transient);
        servant.gate.open();
    }
}

#[test]
fn a_callback_in_progress_is_answered_when_its_orb_is_shut_down() {
    let _watchdog = watchdog(LIMIT);
    for concurrency in ["thread_per_connection", "leader_followers"] {
        let two = Two::new("iiop", concurrency);
        let servant = Arc::new(EchoImpl::default());
        let object: Echo = two.poa.activate(servant.clone()).unwrap();
        let kept = two.given(&object);
        let waiting = std::thread::spawn(move || kept.wait());
        servant.gate.wait_for_waiters(1);
        two.client.shutdown(false).unwrap();
        servant.gate.open();
        waiting.join().unwrap().unwrap();
    }
}

/// Request interceptor that does nothing.
struct Onlooker;

impl ServerRequestInterceptor for Onlooker {
    fn name(&self) -> &str {
        "onlooker"
    }
}

impl OrbInitializer for Onlooker {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
        Ok(info.add_server_request_interceptor(Arc::new(Self))?)
    }
}

#[test]
fn interceptors_of_the_client_keep_nobody_from_being_called_back() {
    let _watchdog = watchdog(LIMIT);
    let server = start(ListenEndpoint::iiop("127.0.0.1", 0), both);
    let client = Orb::builder()
        .listen(unreachable("iiop"))
        .initializer(Arc::new(Onlooker))
        .configure(both);
    let client = client.build().unwrap();
    client.root_poa().unwrap().manager().activate().unwrap();
    let two = Two::between(server, client, Some(Bidirectional::Both));
    let object: Echo = two.poa.activate(Arc::new(EchoImpl::default())).unwrap();
    assert_eq!(two.given(&object).long(1).unwrap(), 1);
}

#[test]
fn a_flood_of_callbacks_is_bounded() {
    let _watchdog = watchdog(LIMIT);
    const MOST: usize = 1024;
    let two = Two::new("iiop", "thread_per_connection");
    let servant = Arc::new(EchoImpl::default());
    let object: Echo = two.poa.activate(servant.clone()).unwrap();
    let kept = two.given(&object);
    // The gate stays shut: the client serves the first request, and queues so many.
    let object = kept.as_object();
    let sent = (0..10 * MOST).take_while(|_| object.send(&SUM, |out| out.put_octets(&[1])).is_ok());
    assert!(sent.count() > MOST);
    // The client gives the connection up, sooner or later, and opens another.
    while kept.long(1).is_ok() {
        crate::support::pause();
    }
    servant.gate.open();
    assert_eq!(two.at.long(1).unwrap(), 1);
    assert_eq!(
        two.given(&Echo::from_object(object_of(&two)))
            .long(2)
            .unwrap(),
        2
    );
    assert!(servant.sums.lock().unwrap().len() <= MOST + 1);
}

fn object_of(two: &Two) -> ObjectRef {
    let object: Echo = two.poa.activate(Arc::new(EchoImpl::default())).unwrap();
    object.as_object().clone()
}

#[test]
#[cfg(feature = "tls")]
fn over_tls_only_a_client_that_has_proved_who_it_is_is_called_back() {
    use punctual::protocol::ssliop::{ClientCertificate, TlsOptions};
    let _watchdog = watchdog(LIMIT);
    let authority = authority::Authority::new();
    let with = |tls: TlsOptions| {
        move |config: &mut OrbConfig| {
            both(config);
            config.tls = Some(tls);
        }
    };
    for (asked, is_called) in [
        (ClientCertificate::Required, true),
        (ClientCertificate::Wanted, true),
        (ClientCertificate::None, false),
    ] {
        let server = TlsOptions {
            client_certificate: asked,
            ..authority.options("127.0.0.1")
        };
        let client = authority.options("client");
        let yes = Some(Bidirectional::Both);
        for concurrency in ["thread_per_connection", "leader_followers"] {
            let (server, client) = (with(server.clone()), with(client.clone()));
            let two = Two::with("ssliop", concurrency, server, client, yes);
            let object: Echo = two.poa.activate(Arc::new(EchoImpl::default())).unwrap();
            let kept = two.given(&object);
            match is_called {
                true => {
                    let large = vec![1; 3 << 20];
                    assert_eq!(kept.octets(&large).unwrap(), large);
                    assert_eq!(kept.long(3).unwrap(), 3);
                    assert_eq!(two.connections_to_client(), 0);
                }
                false => assert_eq!(kept.long(3).unwrap_err().kind(), Kind::Transient),
            }
        }
    }
}
