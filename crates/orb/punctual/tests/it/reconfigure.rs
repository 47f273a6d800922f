//! Protocols and endpoints that are added and removed while the ORB runs, and one-ways that are
//! sent together.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::policy::Buffering;
use punctual::protocol::{
    Address, Connection, Guarantees, Link, LinkError, Places, Properties, ProtocolBundle,
    ProtocolError,
};
use punctual::{Interface, ListenEndpoint, Orb, RootPoa, SystemExceptionKind as Kind};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::{Echo, EchoImpl, Pair, watchdog};

const LIMIT: Duration = Duration::from_secs(60);

/// TCP under another name; it stands for a link that a program defines.
#[derive(Debug)]
struct Renamed(punctual::protocol::iiop::Iiop);

impl Renamed {
    const NAME: &'static str = "mine";

    fn link() -> Arc<Self> {
        Arc::new(Self(punctual::protocol::iiop::Iiop::default()))
    }
}

impl Link for Renamed {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn guarantees(&self) -> Guarantees {
        self.0.guarantees()
    }

    fn connect(
        &self,
        address: &Address,
        properties: &Properties,
        deadline: punctual::protocol::Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        self.0.connect(address, properties, deadline)
    }

    fn listen(
        &self,
        address: &Address,
        properties: &Properties,
    ) -> Result<Box<dyn punctual::protocol::Acceptor>, LinkError> {
        self.0.listen(address, properties)
    }
}

fn serving(orb: &Orb) -> (Arc<EchoImpl>, Echo) {
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let servant = Arc::new(EchoImpl::default());
    let echo = poa.activate(servant.clone()).unwrap();
    (servant, echo)
}

fn seen_by(client: &Orb, server: &Orb, echo: &Echo) -> Echo {
    let text = server.object_to_string(echo).unwrap();
    Echo::from_object(client.string_to_object(&text).unwrap())
}

/// TCP on the loopback interface, whose places are the link's own to read: `any` followed by what is of no account.
#[derive(Debug)]
struct OwnPlaces {
    tcp: punctual::protocol::iiop::Iiop,
    /// Places at which it was told to listen.
    listened: Mutex<Vec<String>>,
}

impl Link for OwnPlaces {
    fn name(&self) -> &str {
        "own"
    }

    fn guarantees(&self) -> Guarantees {
        self.tcp.guarantees()
    }

    fn places(&self) -> Places {
        Places::Own
    }

    fn connect(
        &self,
        address: &Address,
        properties: &Properties,
        deadline: punctual::protocol::Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        self.tcp.connect(address, properties, deadline)
    }

    fn listen(
        &self,
        address: &Address,
        properties: &Properties,
    ) -> Result<Box<dyn punctual::protocol::Acceptor>, LinkError> {
        self.listened.lock().unwrap().push(address.place().into());
        let chosen = Address::iiop("127.0.0.1", 0);
        self.tcp.listen(&chosen, properties)
    }
}

#[test]
fn a_link_reads_places_of_its_own_and_references_contain_where_it_listens() {
    let _watchdog = watchdog(LIMIT);
    let link = Arc::new(OwnPlaces {
        tcp: punctual::protocol::iiop::Iiop::default(),
        listened: Mutex::default(),
    });
    let places = ["any:7", ":7", "any:4000000000", ""];
    let mut server = Orb::builder().link(link.clone());
    for place in places {
        server = server.listen(ListenEndpoint::new("own", place));
    }
    let server = server.build().unwrap();
    let (_servant, echo) = serving(&server);
    // Neither a port nor a wildcard is read into them.
    assert_eq!(*link.listened.lock().unwrap(), places);
    let endpoints = server.endpoints();
    assert_eq!(endpoints.len(), places.len());
    for endpoint in &endpoints {
        let (host, port) = endpoint.host_and_port().unwrap();
        assert_eq!(host, Some("127.0.0.1"), "{endpoint}");
        assert!(port > 7, "{endpoint}");
    }
    let client = Orb::builder()
        .link(Renamed::link())
        .link(link)
        .build()
        .unwrap();
    let echo = seen_by(&client, &server, &echo);
    assert_eq!(echo.long(5).unwrap(), 5);
}

#[test]
fn a_link_of_ones_own_is_registered_on_the_builder_and_serves() {
    let _watchdog = watchdog(LIMIT);
    let server = Orb::builder()
        .link(Renamed::link())
        .listen(ListenEndpoint::new("giop_lite+mine", "127.0.0.1:0"))
        .build()
        .unwrap();
    let (_servant, echo) = serving(&server);
    let client = Orb::builder().link(Renamed::link()).build().unwrap();
    assert_eq!(seen_by(&client, &server, &echo).long(1).unwrap(), 1);
    // An ORB without the protocol names the missing one in its error.
    let stranger = Orb::builder().build().unwrap();
    let error = seen_by(&stranger, &server, &echo).long(1).unwrap_err();
    assert_eq!(error.kind(), Kind::Transient);
    assert!(error.to_string().contains("`mine`"), "{error}");
}

#[test]
fn a_protocol_and_an_endpoint_of_it_are_added_and_retired_while_calls_go_on() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let server = &pair.server;
    let bundle = ProtocolBundle::new().link(Renamed::link()).pair("mine");
    server.add_protocols(&bundle).unwrap();
    pair.client.add_protocols(&bundle).unwrap();
    let added = server
        .add_endpoint(ListenEndpoint::new("mine", "127.0.0.1:0"))
        .unwrap();
    assert_ne!(added.port(), Some(0));
    assert_eq!(server.endpoints().len(), 2);

    // A call by the new protocol that is in flight when it is retired.
    let own: Echo = pair.poa.activate(Arc::new(EchoImpl::default())).unwrap();
    assert_eq!(own.as_object().ior().profiles.len(), 2);
    let reference: Echo = pair.poa.servant_to_reference(&pair.servant).unwrap();
    let echo = seen_by(&pair.client, server, &reference);
    let policy = punctual::Policy::protocols(&["mine"], punctual::policy::Otherwise::Raise);
    let by_mine = echo
        .as_object()
        .set_policy_overrides(&[policy], punctual::SetOverride::Add)
        .unwrap();
    let by_mine = Echo::from_object(by_mine);
    assert_eq!(by_mine.long(1).unwrap(), 1);
    let waiting = by_mine.clone();
    let in_progress = std::thread::spawn(move || waiting.wait());
    pair.servant.gate.wait_for_waiters(1);
    assert!(server.retire_endpoint(&added));
    assert!(!server.retire_endpoint(&added));
    pair.client.retire_protocol("mine").unwrap();
    server.retire_protocol("mine").unwrap();
    assert_eq!(server.endpoints().len(), 1);
    pair.servant.gate.open();
    in_progress.join().unwrap().unwrap();

    // No new calls go by it, and those by the other go on.
    assert!(by_mine.long(2).is_err());
    assert_eq!(echo.long(3).unwrap(), 3);
    assert_eq!(pair.echo.long(4).unwrap(), 4);
    let error = server.retire_protocol("mine").unwrap_err();
    assert_eq!(error, ProtocolError::NotThere("mine".to_owned()));
}

#[test]
fn a_bundle_that_does_not_fit_is_refused_and_what_was_there_stays() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let unfit = ProtocolBundle::new()
        .link(Renamed::link())
        .pair("mine")
        .pair("giop+diop");
    let error = pair.server.add_protocols(&unfit).unwrap_err();
    assert!(matches!(error, ProtocolError::Unfit { .. }), "{error}");
    let endpoint = ListenEndpoint::new("mine", "127.0.0.1:0");
    let error = pair.server.add_endpoint(endpoint).unwrap_err();
    assert!(error.to_string().contains("`mine`"), "{error}");
    let taken = ProtocolBundle::new().link(Arc::new(punctual::protocol::iiop::Iiop::default()));
    let error = pair.server.add_protocols(&taken).unwrap_err().to_string();
    assert!(
        error.contains("`iiop`") && error.contains("taken"),
        "{error}"
    );
    assert_eq!(pair.echo.long(1).unwrap(), 1);
}

#[test]
fn a_protocol_that_the_configuration_prefers_is_not_retired() {
    let orb = Orb::builder().configure(|config| config.client_protocols = vec!["uiop".into()]);
    let orb = orb.build().unwrap();
    let error = orb.retire_protocol("uiop").unwrap_err().to_string();
    assert!(error.contains("`uiop` is needed"), "{error}");
    orb.retire_protocol("diop").unwrap();
    let error = orb.retire_protocol("giop").unwrap_err().to_string();
    assert!(error.contains("`giop` is needed"), "{error}");
}

#[test]
fn properties_of_a_link_that_there_is_not_stop_the_start() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "[link.pigeon]\nspeed = 1\n").unwrap();
    let error = Orb::builder().file(file.path()).unwrap().build();
    let text = error.unwrap_err().to_string();
    assert!(text.contains("pigeon") && text.contains("`uiop`"), "{text}");
}

#[test]
fn a_library_that_is_none_stops_the_start_with_its_name() {
    let error = Orb::builder()
        .library("/no/such/library.so")
        .build()
        .unwrap_err();
    assert!(error.to_string().contains("/no/such/library.so"), "{error}");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "[[library]]\npath = \"/no/such/library.so\"\n").unwrap();
    let configured = Orb::builder().file(file.path()).unwrap().build();
    assert!(
        configured
            .unwrap_err()
            .to_string()
            .contains("/no/such/library.so")
    );
}

/// Makes a server at `protocol`, and a client that buffers one-ways.
fn buffered(protocol: &str, when: Buffering) -> (Orb, Orb, Arc<EchoImpl>, Echo) {
    let server = Orb::builder()
        .listen(ListenEndpoint::new(protocol, "127.0.0.1:0"))
        .build()
        .unwrap();
    let (servant, echo) = serving(&server);
    let client = Orb::builder().configure(|config| config.one_way_buffering = Some(when));
    let client = client.build().unwrap();
    let echo = seen_by(&client, &server, &echo);
    (server, client, servant, echo)
}

fn pings(servant: &EchoImpl) -> u32 {
    *servant.pings.lock().unwrap()
}

fn wait_for_pings(servant: &EchoImpl, count: u32) {
    while pings(servant) < count {
        crate::support::pause();
    }
}

const NEVER: Buffering = Buffering {
    messages: usize::MAX,
    octets: usize::MAX,
    delay: None,
};

#[test]
fn buffered_one_ways_wait_until_a_call_that_does_not_and_arrive_before_it() {
    let _watchdog = watchdog(LIMIT);
    for protocol in ["iiop", "giop_lite+iiop"] {
        let (_server, _client, servant, echo) = buffered(protocol, NEVER);
        for _ in 0..100 {
            echo.ping().unwrap();
        }
        assert_eq!(pings(&servant), 0);
        assert_eq!(echo.pings().unwrap(), 100, "{protocol}");
    }
}

#[test]
fn buffered_one_ways_go_out_when_enough_wait_when_asked_and_when_the_orb_ends() {
    let _watchdog = watchdog(LIMIT);
    for protocol in ["iiop", "giop_lite+iiop", "frames+iiop"] {
        let when = Buffering {
            messages: 10,
            ..NEVER
        };
        let (_server, client, servant, echo) = buffered(protocol, when);
        for _ in 0..25 {
            echo.ping().unwrap();
        }
        wait_for_pings(&servant, 20);
        echo.as_object().flush();
        wait_for_pings(&servant, 25);
        echo.ping().unwrap();
        client.shutdown(true).unwrap();
        wait_for_pings(&servant, 26);
    }
}

#[test]
fn buffered_one_ways_go_out_before_their_protocol_is_retired() {
    let _watchdog = watchdog(LIMIT);
    let (_server, client, servant, echo) = buffered("iiop", NEVER);
    for _ in 0..10 {
        echo.ping().unwrap();
    }
    client.retire_protocol("iiop").unwrap();
    wait_for_pings(&servant, 10);
}

#[test]
fn a_client_that_comes_while_its_endpoint_is_retired_is_not_kept() {
    let _watchdog = watchdog(LIMIT);
    for pause in 0..100 {
        let server = Orb::builder()
            .listen(ListenEndpoint::new("uiop", ""))
            .build()
            .unwrap();
        let (_servant, echo) = serving(&server);
        let place = server.endpoints()[0].clone();
        let client = Orb::builder().build().unwrap();
        let echo = seen_by(&client, &server, &echo);
        let calling = echo.clone();
        // Served or refused: either is right.
        let caller = std::thread::spawn(move || drop(calling.long(1)));
        for _ in 0..pause * 300 {
            std::hint::spin_loop();
        }
        assert!(server.retire_endpoint(&place));
        caller.join().unwrap();
        while echo.long(2).is_ok() {
            crate::support::pause();
        }
        client.shutdown(false).unwrap();
        server.shutdown(false).unwrap();
    }
}

#[test]
fn a_protocol_is_retired_while_a_connection_by_it_is_being_opened() {
    let _watchdog = watchdog(LIMIT);
    let client = Orb::builder().link(Renamed::link()).build().unwrap();
    // The listener never accepts, so that a client waits for an answer to its request.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap();
    let text = format!("corbaloc:giop+mine:{place}/key");
    let object = client.string_to_object(&text).unwrap();
    let asking = object.with_timeout(Duration::from_millis(200));
    let asker = std::thread::spawn(move || asking.locate());
    client.retire_protocol("mine").unwrap();
    assert!(asker.join().unwrap().is_err());
    assert!(object.locate().unwrap_err().to_string().contains("`mine`"));
}

#[test]
fn buffered_one_ways_go_out_when_their_time_has_come() {
    let _watchdog = watchdog(LIMIT);
    let when = Buffering {
        delay: Some(Duration::from_millis(1)),
        ..NEVER
    };
    let (_server, _client, servant, echo) = buffered("iiop", when);
    for round in 1..=3 {
        echo.ping().unwrap();
        wait_for_pings(&servant, round);
    }
}

#[test]
fn a_batch_of_datagrams_never_exceeds_what_one_can_hold() {
    let _watchdog = watchdog(LIMIT);
    let (_server, _client, servant, echo) = buffered("frames+diop", NEVER);
    // More than one datagram, far below a socket's buffer.
    for _ in 0..4000 {
        echo.ping().unwrap();
    }
    echo.as_object().flush();
    wait_for_pings(&servant, 3000);
}
