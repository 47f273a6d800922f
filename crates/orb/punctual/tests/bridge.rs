//! A bridge between two protocols: what passes, what is refused, and what becomes of both when one side
//! fails.
#![allow(clippy::unwrap_used)]

#[cfg(feature = "tls")]
#[path = "support/authority.rs"]
mod authority;
mod support;

#[cfg(feature = "tls")]
use authority::Authority;
use punctual::bridge::{Bridge, BridgeOptions, Counts};
#[cfg(feature = "tls")]
use punctual::protocol::ssliop::TlsOptions;
use punctual::stub::{
    Arc, CdrError, Decoder, DispatchError, Dispatched, Encoder, Marshal, Operation, Servant,
    ServerCall, Unmarshal,
};
use punctual::{
    CompletionStatus, GiopVersion, Implements, Interface, ListenEndpoint, ObjectRef, Orb,
    OrbConfig, Poa, RootPoa, SystemException, SystemExceptionKind as Kind, UserException,
};
use punctual_ior::{IiopProfile, Ior, TaggedComponent, tags};
use std::any::Any;
use std::net::TcpListener;
use std::time::Duration;
use support::{Echo, EchoImpl, watchdog};

const LIMIT: Duration = Duration::from_secs(60);

/// A server, a bridge to it, and a client that knows the server through the bridge only.
struct Bridged {
    server: Orb,
    middle: Orb,
    client: Orb,
    poa: Poa,
    servant: Arc<EchoImpl>,
    bridge: Bridge,
    /// The servant's reference through the bridge, as the client has it.
    echo: Echo,
}

/// Who speaks what.
struct Setup<'s> {
    /// Towards the client.
    near: &'s str,
    /// Towards the server.
    far: &'s str,
    server: GiopVersion,
    client: GiopVersion,
    options: BridgeOptions,
    /// What each ORB is configured with, by its name: `server`, `middle`, `client`.
    configure: &'s dyn Fn(&str, &mut OrbConfig),
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Self {
            near: "iiop",
            far: "uiop",
            server: GiopVersion::V1_2,
            client: GiopVersion::V1_2,
            options: BridgeOptions::default(),
            configure: &|_, _| {},
        }
    }
}

fn endpoint(protocol: &str) -> ListenEndpoint {
    let place = match protocol.rsplit('+').next() {
        Some("iiop" | "ssliop") => "127.0.0.1:0",
        _ => "",
    };
    ListenEndpoint::new(protocol, place)
}

fn orb(listen: Option<&str>, version: GiopVersion) -> Orb {
    configured(listen, |config| config.giop_version = version)
}

fn configured(listen: Option<&str>, configure: impl FnOnce(&mut OrbConfig)) -> Orb {
    let orb = Orb::builder().configure(configure);
    let orb = listen
        .into_iter()
        .map(endpoint)
        .fold(orb, |orb, at| orb.listen(at));
    orb.build().unwrap()
}

fn moved(object: &ObjectRef, to: &Orb) -> ObjectRef {
    let text = object.orb().object_to_string(object).unwrap();
    to.string_to_object(&text).unwrap()
}

impl Bridged {
    fn new(setup: Setup<'_>) -> Self {
        let orb = |name, listen, version| {
            configured(listen, |config| {
                config.giop_version = version;
                (setup.configure)(name, config);
            })
        };
        let server = orb("server", Some(setup.far), setup.server);
        let poa = server.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let servant = Arc::new(EchoImpl::default());
        let reference: Echo = poa.activate(servant.clone()).unwrap();
        let middle = orb("middle", Some(setup.near), GiopVersion::V1_2);
        let target = moved(reference.as_object(), &middle);
        let bridge = Bridge::new(&middle, &target, &setup.options).unwrap();
        let client = orb("client", None, setup.client);
        let echo = Echo::from_object(moved(&bridge.reference().unwrap(), &client));
        Self {
            server,
            middle,
            client,
            poa,
            servant,
            bridge,
            echo,
        }
    }

    fn between(near: &str, far: &str) -> Self {
        Self::new(Setup {
            near,
            far,
            ..Setup::default()
        })
    }

    /// An object of the server's through the bridge, as the client has it.
    fn through(&self, reference: &impl Interface) -> ObjectRef {
        let object = reference.as_object();
        let key = object.object_key().unwrap();
        let through = self.bridge.reference_to(object.type_id(), &key);
        moved(&through.unwrap(), &self.client)
    }

    /// The reference that the client has, changed.
    fn changed(&self, change: impl FnOnce(&mut IiopProfile)) -> Echo {
        let ior = self.echo.as_object().ior();
        let mut profile = ior.iiop_profiles().next().unwrap().unwrap();
        change(&mut profile);
        let ior = Ior {
            type_id: ior.type_id.clone(),
            profiles: vec![profile.to_tagged(order()).unwrap()],
        };
        let text = ior.stringify(order()).unwrap();
        Echo::from_object(self.client.string_to_object(&text).unwrap())
    }

    fn counts(&self) -> Counts {
        self.bridge.counts()
    }
}

impl Drop for Bridged {
    fn drop(&mut self) {
        self.servant.gate.open();
        for orb in [&self.client, &self.middle, &self.server] {
            let _ = orb.shutdown(false);
        }
    }
}

fn order() -> punctual::stub::ByteOrder {
    punctual::stub::ByteOrder::NATIVE
}

fn exercise(echo: &Echo, what: &str) {
    assert_eq!(echo.long(7).unwrap(), 7, "{what}");
    assert_eq!(echo.text("grüß dich, 世界").unwrap(), "grüß dich, 世界");
    for length in [0, 1, 100, 4096, 100_000, 3 << 20] {
        let octets: Vec<u8> = (0..length).map(|i: u32| i.to_le_bytes()[0]).collect();
        assert_eq!(echo.octets(&octets).unwrap(), octets, "{what} {length}");
    }
}

#[test]
fn requests_arrive_by_one_protocol_and_leave_by_another() {
    let _watchdog = watchdog(LIMIT);
    for (near, far) in [
        ("iiop", "uiop"),
        ("uiop", "iiop"),
        ("iiop", "shmiop"),
        ("shmiop", "iiop"),
        ("shmiop", "shmiop"),
        ("iiop", "giop_lite+uiop"),
        ("giop_lite+uiop", "iiop"),
        ("giop_lite+iiop", "giop_lite+shmiop"),
    ] {
        let bridged = Bridged::between(near, far);
        exercise(&bridged.echo, &format!("{near} to {far}"));
        let counts = bridged.counts();
        assert_eq!((counts.two_way, counts.refused, counts.failed), (8, 0, 0));
    }
}

/// Server and bridge have certificates that all trust, the client need have none.
#[cfg(feature = "tls")]
#[test]
fn plain_requests_leave_by_tls_and_those_by_tls_leave_plain() {
    let _watchdog = watchdog(LIMIT);
    let authority = Authority::new();
    let secure = |name: &str, config: &mut OrbConfig| {
        let own = authority.options("127.0.0.1");
        config.tls = Some(match name {
            "client" => TlsOptions {
                certificate: None,
                key: None,
                ..own
            },
            _ => own,
        });
    };
    for (near, far) in [
        ("iiop", "ssliop"),
        ("ssliop", "iiop"),
        ("giop_lite+uiop", "ssliop"),
        ("ssliop", "shmiop"),
    ] {
        let bridged = Bridged::new(Setup {
            near,
            far,
            configure: &secure,
            ..Setup::default()
        });
        exercise(&bridged.echo, &format!("{near} to {far}"));
        let counts = bridged.counts();
        assert_eq!((counts.two_way, counts.refused, counts.failed), (8, 0, 0));
        let connected = bridged.echo.as_object().connected_to().unwrap();
        let link = near.rsplit('+').next().unwrap();
        assert_eq!(connected.link(), link, "{near} to {far}");
        // The server listens by nothing else.
        assert_eq!(bridged.server.client_connections(), 1);
        assert_eq!(&bridged.server.endpoints()[0].protocol, far);
    }
}

#[cfg(feature = "tls")]
#[test]
fn a_server_that_the_bridge_does_not_trust_is_not_called() {
    let _watchdog = watchdog(LIMIT);
    let (authority, other) = (Authority::new(), Authority::new());
    let bridged = Bridged::new(Setup {
        far: "ssliop",
        configure: &|name, config| {
            let of = match name {
                "server" => &other,
                _ => &authority,
            };
            config.tls = Some(of.options("127.0.0.1"));
        },
        ..Setup::default()
    });
    let raised = bridged.echo.long(1).unwrap_err();
    assert_eq!(raised.kind(), Kind::Transient, "{raised}");
    assert_eq!(raised.completed(), CompletionStatus::No);
    assert_eq!(bridged.counts().failed, 1);
}

#[test]
fn one_ways_are_passed_on_in_their_order_and_without_an_answer() {
    let _watchdog = watchdog(LIMIT);
    let bridged = Bridged::between("iiop", "uiop");
    for _ in 0..100 {
        bridged.echo.ping().unwrap();
    }
    assert_eq!(bridged.echo.pings().unwrap(), 100);
    assert_eq!(bridged.counts().one_way, 100);
}

#[test]
fn system_exceptions_come_back_with_their_minor_code_and_completion() {
    let bridged = Bridged::between("iiop", "uiop");
    let raised = bridged.echo.fail().unwrap_err();
    assert_eq!(raised.kind(), Kind::NoPermission);
    assert_eq!(
        (raised.minor(), raised.completed()),
        (42, CompletionStatus::Yes)
    );
    let unknown = bridged.echo.unknown().unwrap_err();
    assert_eq!(unknown.kind(), Kind::BadOperation);
    assert_eq!(unknown.completed(), CompletionStatus::No);
    // The target has answered: nothing failed here.
    assert_eq!(bridged.counts().failed, 0);
}

#[test]
fn an_object_that_does_not_exist_and_one_that_exists_are_told_apart_by_locating_them() {
    let bridged = Bridged::between("uiop", "iiop");
    assert!(bridged.echo.as_object().locate().unwrap());
    let gone: Echo = bridged.poa.activate(Arc::new(EchoImpl::default())).unwrap();
    bridged.poa.deactivate(&gone).unwrap();
    let gone = bridged.through(&gone);
    assert!(!gone.locate().unwrap());
    assert!(gone.non_existent().unwrap());
    assert_eq!(bridged.counts().located, 2);
}

#[test]
fn other_objects_of_the_targets_server_are_reached_too() {
    let bridged = Bridged::between("iiop", "uiop");
    let other: Echo = bridged.poa.activate(Arc::new(EchoImpl::default())).unwrap();
    let other = Echo::from_object(bridged.through(&other));
    other.ping().unwrap();
    assert_eq!(other.pings().unwrap(), 1);
    assert_eq!(bridged.echo.pings().unwrap(), 0);
}

#[test]
fn forwards_behind_the_bridge_are_followed_by_the_bridge() {
    let bridged = Bridged::between("uiop", "iiop");
    let elsewhere = orb(Some("iiop"), GiopVersion::V1_2);
    let poa = elsewhere.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let there: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
    let there = Echo::from_object(moved(there.as_object(), &bridged.server));
    let forwarder: Echo = bridged.poa.activate(Arc::new(EchoImpl::default())).unwrap();
    bridged.poa.forward(&forwarder, &there).unwrap();

    for version in [GiopVersion::V1_0, GiopVersion::V1_2] {
        let client = orb(None, version);
        let forwarder = Echo::from_object(moved(&bridged.through(&forwarder), &client));
        assert_eq!(forwarder.long(3).unwrap(), 3, "GIOP {version}");
        assert_eq!(forwarder.as_object().ior().profiles.len(), 1);
    }
    assert_eq!(elsewhere.client_connections(), 2, "one for each version");
    elsewhere.shutdown(false).unwrap();
}

#[test]
fn each_version_of_giop_passes_to_a_server_that_has_it() {
    let _watchdog = watchdog(LIMIT);
    for client in [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2] {
        let bridged = Bridged::new(Setup {
            client,
            ..Setup::default()
        });
        assert_eq!(bridged.echo.long(-5).unwrap(), -5, "GIOP {client}");
        assert_eq!(bridged.echo.octets(&[9; 5000]).unwrap(), [9; 5000]);
        assert_eq!(bridged.echo.fail().unwrap_err().minor(), 42);
    }
}

#[test]
fn a_bridge_to_an_older_server_publishes_that_servers_version() {
    let bridged = Bridged::new(Setup {
        server: GiopVersion::V1_0,
        ..Setup::default()
    });
    let profile = bridged.echo.as_object().ior().iiop_profiles().next();
    assert_eq!(
        profile.unwrap().unwrap().version.giop(),
        Some(GiopVersion::V1_0)
    );
    assert_eq!(bridged.echo.long(1).unwrap(), 1);
}

#[test]
fn a_request_in_a_version_that_the_target_lacks_is_refused_before_it_begins() {
    let bridged = Bridged::new(Setup {
        server: GiopVersion::V1_1,
        ..Setup::default()
    });
    let newer = bridged.changed(|profile| profile.version = GiopVersion::V1_2.into());
    let refused = newer.long(1).unwrap_err();
    assert_eq!(refused.kind(), Kind::ImpLimit);
    assert_eq!(refused.completed(), CompletionStatus::No);
    assert_eq!(bridged.counts().refused, 1);
    assert_eq!(bridged.echo.long(1).unwrap(), 1, "others are served");
}

#[test]
fn a_request_in_code_sets_that_the_target_lacks_is_refused_before_it_begins() {
    // GIOPlite negotiates nothing: it has UTF-8 and UTF-16.
    let bridged = Bridged::between("iiop", "giop_lite+uiop");
    let code_sets = tags::component::CODE_SETS;
    let latin = bridged.changed(|profile| profile.components.retain(|one| one.tag != code_sets));
    let refused = latin.text("a").unwrap_err();
    assert_eq!(refused.kind(), Kind::CodesetIncompatible);
    assert_eq!(refused.completed(), CompletionStatus::No);
    assert_eq!(bridged.echo.text("ä").unwrap(), "ä");
}

#[test]
fn the_target_is_called_in_the_code_sets_that_the_client_chose() {
    let bridged = Bridged::between("iiop", "uiop");
    let latin = bridged.changed(|profile| {
        profile.components = vec![TaggedComponent::orb_type(0)];
    });
    // In ISO 8859-1 on both sides: one octet where UTF-8 has two.
    assert_eq!(latin.text("Grüße").unwrap(), "Grüße");
    assert_eq!(bridged.echo.text("世界").unwrap(), "世界");
}

#[test]
fn a_target_that_cannot_be_reached_is_transient_and_not_begun() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let middle = orb(Some("iiop"), GiopVersion::V1_2);
    let target = middle.string_to_object(&format!("corbaloc:iiop:1.2@127.0.0.1:{port}/x"));
    let bridge = Bridge::new(&middle, &target.unwrap(), &BridgeOptions::default()).unwrap();
    let client = orb(None, GiopVersion::V1_2);
    let echo = Echo::from_object(moved(&bridge.reference().unwrap(), &client));
    let raised = echo.long(1).unwrap_err();
    assert_eq!(raised.kind(), Kind::Transient);
    assert_eq!(raised.completed(), CompletionStatus::No);
    assert_eq!(bridge.counts().failed, 1);
    middle.shutdown(false).unwrap();
}

#[test]
fn a_target_that_dies_in_mid_call_may_have_completed_it() {
    let _watchdog = watchdog(LIMIT);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let dying = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut begun = [0; 12];
        std::io::Read::read_exact(&mut stream, &mut begun).unwrap();
    });
    let middle = orb(Some("iiop"), GiopVersion::V1_2);
    let target = middle.string_to_object(&format!("corbaloc:iiop:1.2@127.0.0.1:{port}/x"));
    let bridge = Bridge::new(&middle, &target.unwrap(), &BridgeOptions::default()).unwrap();
    let client = orb(None, GiopVersion::V1_2);
    let echo = Echo::from_object(moved(&bridge.reference().unwrap(), &client));
    let raised = echo.long(1).unwrap_err();
    assert_eq!(raised.kind(), Kind::CommFailure);
    assert_eq!(raised.completed(), CompletionStatus::Maybe);
    dying.join().unwrap();
    middle.shutdown(false).unwrap();
}

#[test]
fn a_target_that_has_said_goodbye_has_not_begun_what_comes_after() {
    let bridged = Bridged::between("iiop", "uiop");
    assert_eq!(bridged.echo.long(1).unwrap(), 1);
    bridged.server.shutdown(true).unwrap();
    let raised = bridged.echo.long(1).unwrap_err();
    assert_eq!(raised.kind(), Kind::Transient);
    assert_eq!(raised.completed(), CompletionStatus::No);
}

#[test]
fn a_call_that_takes_long_holds_up_no_other_on_its_connection() {
    let _watchdog = watchdog(LIMIT);
    let bridged = Bridged::between("iiop", "uiop");
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| bridged.echo.wait());
        bridged.servant.gate.wait_for_waiters(1);
        assert_eq!(bridged.echo.long(1).unwrap(), 1);
        bridged.servant.gate.open();
        slow.join().unwrap().unwrap();
    });
}

#[test]
fn the_bridges_own_time_limit_ends_a_call_that_takes_longer() {
    let _watchdog = watchdog(LIMIT);
    let bridged = Bridged::new(Setup {
        options: BridgeOptions {
            timeout: Some(Duration::from_millis(30)),
            ..BridgeOptions::default()
        },
        ..Setup::default()
    });
    let raised = bridged.echo.wait().unwrap_err();
    assert_eq!(raised.kind(), Kind::Timeout);
    assert_eq!(raised.completed(), CompletionStatus::Maybe);
}

#[test]
fn many_clients_at_once_get_their_own_answers() {
    let _watchdog = watchdog(LIMIT);
    let bridged = Bridged::between("iiop", "shmiop");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let of_its_own = orb(None, GiopVersion::V1_2);
            let own = Echo::from_object(moved(bridged.echo.as_object(), &of_its_own));
            for echo in [own, bridged.echo.clone()] {
                let of_its_own = of_its_own.clone();
                scope.spawn(move || {
                    for call in 0..200 {
                        let value = thread * 1000 + call;
                        assert_eq!(echo.long(value).unwrap(), value);
                        let text = value.to_string().repeat(40);
                        assert_eq!(echo.text(&text).unwrap(), text);
                    }
                    drop(of_its_own);
                });
            }
        }
    });
    assert_eq!(bridged.counts().two_way, 3200);
}

#[test]
fn a_bridge_to_itself_is_refused_and_bridges_in_a_ring_end_with_a_transient() {
    let _watchdog = watchdog(LIMIT);
    let rings: Vec<Orb> = (0..2)
        .map(|_| orb(Some("iiop"), GiopVersion::V1_2))
        .collect();
    let targets: Vec<String> = rings
        .iter()
        .map(|orb| {
            orb.listen().unwrap();
            let port = orb.endpoints()[0].port().unwrap();
            format!("corbaloc:iiop:1.2@127.0.0.1:{port}/ring")
        })
        .collect();
    let to = |orb: &Orb, target: &str| {
        let target = orb.string_to_object(target).unwrap();
        Bridge::new(orb, &target, &BridgeOptions::default())
    };
    let alone = orb(Some("iiop"), GiopVersion::V1_2);
    alone.listen().unwrap();
    let port = alone.endpoints()[0].port().unwrap();
    let itself = to(&alone, &format!("corbaloc:iiop:1.2@127.0.0.1:{port}/x"));
    assert_eq!(itself.unwrap_err().kind(), Kind::BadParam);
    let bridges = [
        to(&rings[0], &targets[1]).unwrap(),
        to(&rings[1], &targets[0]).unwrap(),
    ];
    let client = orb(None, GiopVersion::V1_2);
    let echo = Echo::from_object(client.string_to_object(&targets[0]).unwrap());
    let raised = echo.long(1).unwrap_err();
    assert_eq!(raised.kind(), Kind::Transient);
    assert!(bridges[0].counts().two_way + bridges[0].counts().failed <= 16);
    for orb in rings.iter().chain([&alone]) {
        orb.shutdown(false).unwrap();
    }
}

#[test]
fn an_orb_with_objects_of_its_own_cannot_be_a_bridge() {
    let bridged = Bridged::between("iiop", "uiop");
    let target = moved(bridged.echo.as_object(), &bridged.server);
    let refused = Bridge::new(&bridged.server, &target, &BridgeOptions::default());
    assert_eq!(refused.unwrap_err().kind(), Kind::BadInvOrder);
}

fn rewriting(near: &str, far: &str) -> Bridged {
    Bridged::new(Setup {
        near,
        far,
        options: BridgeOptions {
            rewrite_references: true,
            ..BridgeOptions::default()
        },
        ..Setup::default()
    })
}

#[test]
fn references_in_bodies_stay_as_they_are_unless_told_otherwise() {
    let bridged = Bridged::between("iiop", "uiop");
    let direct = moved(
        &bridged
            .echo
            .same(Some(bridged.echo.as_object()))
            .unwrap()
            .unwrap(),
        &bridged.client,
    );
    assert_eq!(direct.ior(), bridged.echo.as_object().ior());
    // Each of the nested calls comes back through the bridge.
    assert_eq!(bridged.echo.bounce(&bridged.echo, 3).unwrap(), 3);
    assert_eq!(bridged.counts().two_way, 1 + 4);
}

#[test]
fn rewritten_references_lead_through_the_bridge_there_and_to_the_server_here() {
    for (near, far) in [
        ("iiop", "uiop"),
        ("uiop", "iiop"),
        ("iiop", "shmiop"),
        ("shmiop", "uiop"),
    ] {
        let bridged = rewriting(near, far);
        let back = bridged
            .echo
            .same(Some(bridged.echo.as_object()))
            .unwrap()
            .unwrap();
        assert!(
            back.is_equivalent(bridged.echo.as_object()),
            "{near} to {far}"
        );
        let counts = bridged.counts();
        assert_eq!(
            (counts.rewritten, counts.not_rewritten),
            (2, 0),
            "{near} to {far}"
        );
        assert_eq!(Echo::from_object(back).long(4).unwrap(), 4);
        // To the server the reference is its own: nested calls do not leave it.
        assert_eq!(bridged.echo.bounce(&bridged.echo, 3).unwrap(), 3);
        assert_eq!(bridged.counts().two_way, 3);
    }
}

#[test]
fn references_to_others_are_not_rewritten() {
    let bridged = rewriting("iiop", "uiop");
    let other = bridged
        .client
        .string_to_object("corbaloc:iiop:1.2@192.0.2.1:7/other");
    let back = bridged.echo.same(Some(&other.unwrap())).unwrap().unwrap();
    let profile = back.ior().iiop_profiles().next().unwrap().unwrap();
    assert_eq!((profile.host.as_str(), profile.port), ("192.0.2.1", 7));
    assert_eq!(bridged.counts().rewritten, 0);
    // Octets that are none are as they were, too.
    exercise(&bridged.echo, "with rewriting");
}

/// `exception Refused { long code; string why; }`.
#[derive(Clone, Debug, PartialEq)]
struct Refused {
    code: i32,
    why: String,
}

impl Marshal for Refused {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.code.marshal(out)?;
        self.why.marshal(out)
    }
}

impl Unmarshal for Refused {
    const MIN_SIZE: usize = 9;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            code: i32::unmarshal(input)?,
            why: String::unmarshal(input)?,
        })
    }
}

impl UserException for Refused {
    const REPOSITORY_ID: &'static str = "IDL:test/Refused:1.0";
}

/// `interface Picky { unsigned long long wide(in unsigned long long value) raises (Refused); }`.
#[derive(Clone, Debug)]
struct Picky(ObjectRef);

#[derive(Debug)]
enum Raised {
    Refused(Refused),
    System(SystemException),
}

impl From<SystemException> for Raised {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl Interface for Picky {
    const REPOSITORY_ID: &'static str = "IDL:test/Picky:1.0";
    const REPOSITORY_IDS: &'static [&'static str] = &[Self::REPOSITORY_ID];

    fn from_object(object: ObjectRef) -> Self {
        Self(object)
    }

    fn as_object(&self) -> &ObjectRef {
        &self.0
    }
}

impl Picky {
    fn wide(&self, value: u64) -> Result<u64, Raised> {
        const OPERATION: Operation = Operation::two_way("wide");
        self.0.invoke_raising(
            &OPERATION,
            |out| value.marshal(out),
            u64::unmarshal,
            |id, input| match id {
                Refused::REPOSITORY_ID => Refused::unmarshal(input).map(Raised::Refused).map(Some),
                _ => Ok(None),
            },
        )
    }
}

struct PickyImpl;

impl Implements<PickyImpl> for Picky {
    fn skeleton(_servant: PickyImpl) -> Arc<dyn Servant> {
        Arc::new(PickyImpl)
    }
}

impl Servant for PickyImpl {
    fn repository_ids(&self) -> &'static [&'static str] {
        Picky::REPOSITORY_IDS
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        self
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        match u64::unmarshal(call.arguments())? {
            0 => call.raise(&Refused {
                code: -3,
                why: "nothing".to_owned(),
            }),
            value => call.reply(|out| value.marshal(out)),
        }
    }
}

#[test]
fn user_exceptions_come_back_whole_and_long_values_stay_aligned_in_every_version() {
    for client in [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2] {
        let bridged = Bridged::new(Setup {
            client,
            ..Setup::default()
        });
        let picky: Picky = bridged.poa.activate(PickyImpl).unwrap();
        let picky = Picky::from_object(bridged.through(&picky));
        let value = 0x0102_0304_0506_0708;
        assert_eq!(picky.wide(value).unwrap(), value, "GIOP {client}");
        match picky.wide(0).unwrap_err() {
            Raised::Refused(refused) => assert_eq!((refused.code, &*refused.why), (-3, "nothing")),
            Raised::System(exception) => panic!("GIOP {client}: {exception}"),
        }
    }
}
