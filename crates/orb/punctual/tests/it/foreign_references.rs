//! References made by peers: the addresses that they may lead to, and the time limit of trying
//! their addresses.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;

use punctual::policy::{Collocation, Otherwise};
use punctual::protocol::uiop::{Uiop, UiopOptions};
use punctual::protocol::{
    Acceptor, Address, Connection, Deadline, Guarantees, Link, LinkError, Properties,
};
use punctual::stub::{ByteOrder, ObjectRef};
use punctual::{
    Interface, ListenEndpoint, Orb, OrbConfig, Policy, RootPoa, SetOverride,
    SystemExceptionKind as Kind,
};
use punctual_ior::{Endpoint, IiopProfile, IiopVersion, Ior, TaggedComponent};
use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{Echo, EchoImpl, watchdog};

const LIMIT: Duration = Duration::from_secs(60);

/// Link whose connections are treated as connections to another host.
#[derive(Debug)]
struct Far(Uiop);

impl Far {
    fn link() -> Arc<Self> {
        Arc::new(Self(Uiop::new(UiopOptions::default())))
    }
}

impl Link for Far {
    fn name(&self) -> &str {
        "far"
    }

    fn guarantees(&self) -> Guarantees {
        self.0.guarantees()
    }

    fn connect(
        &self,
        address: &Address,
        properties: &Properties,
        deadline: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        self.0.connect(address, properties, deadline)
    }

    fn listen(
        &self,
        address: &Address,
        properties: &Properties,
    ) -> Result<Box<dyn Acceptor>, LinkError> {
        self.0.listen(address, properties)
    }
}

/// Makes an ORB that listens with these protocols, and an object.
fn party(protocols: &[&str], configure: impl FnOnce(&mut OrbConfig)) -> (Orb, Echo) {
    let mut builder = Orb::builder().link(Far::link()).configure(|config| {
        config.collocation = Collocation::None;
        configure(config);
    });
    for protocol in protocols {
        builder = builder.listen(ListenEndpoint::new(protocol, ""));
    }
    let orb = builder.build().unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let echo: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
    (orb, echo)
}

/// Returns the reference as another ORB receives it in stringified form.
fn received_by(orb: &Orb, reference: &Echo) -> Echo {
    let text = reference.as_object().orb().object_to_string(reference);
    Echo::from_object(orb.string_to_object(&text.unwrap()).unwrap())
}

fn by(protocol: &str, echo: &Echo) -> Echo {
    let policy = Policy::protocols(&[protocol], Otherwise::Raise);
    let object = echo.as_object();
    Echo::from_object(
        object
            .set_policy_overrides(&[policy], SetOverride::Add)
            .unwrap(),
    )
}

#[test]
fn a_reference_from_another_host_leads_to_no_unix_socket_of_this_one() {
    let _watchdog = watchdog(LIMIT);
    let (_other, told_by_other) = party(&["far", "uiop"], |_| {});
    let (_local, local_only) = party(&["uiop"], |_| {});
    let (client, _) = party(&["uiop"], |_| {});
    let (other, local) = (
        received_by(&client, &told_by_other),
        received_by(&client, &local_only),
    );
    let passed = |by: &Echo| by.same(Some(local.as_object())).unwrap().unwrap();
    // By a link of this host it may.
    let near = Echo::from_object(passed(&by("uiop", &other)));
    assert_eq!(near.long(1).unwrap(), 1);
    let far = Echo::from_object(passed(&by("giop+far", &other)));
    let error = far.long(1).unwrap_err();
    assert_eq!(error.kind(), Kind::InvPolicy, "{error}");
    for part in ["another host", "uiop", "foreign_local_endpoints"] {
        assert!(error.to_string().contains(part), "{error}");
    }
    // It is the same reference otherwise.
    assert_eq!(far.as_object(), local.as_object());
    // The server does not call there either when it is asked to.
    let error = by("giop+far", &other).bounce(&local, 1).unwrap_err();
    assert_eq!(error.kind(), Kind::InvPolicy, "{error}");
    assert_eq!(by("uiop", &other).bounce(&local, 1).unwrap(), 1);
}

#[test]
fn configuration_lets_a_reference_from_another_host_lead_here() {
    let _watchdog = watchdog(LIMIT);
    let allowed = |config: &mut OrbConfig| config.foreign_local_endpoints = true;
    let (_other, told_by_other) = party(&["far"], allowed);
    let (_local, local_only) = party(&["uiop"], |_| {});
    let (client, _) = party(&["uiop"], allowed);
    let (other, local) = (
        received_by(&client, &told_by_other),
        received_by(&client, &local_only),
    );
    let passed = other.same(Some(local.as_object())).unwrap().unwrap();
    assert_eq!(Echo::from_object(passed).long(1).unwrap(), 1);
    assert_eq!(other.bounce(&local, 1).unwrap(), 1);
}

/// Makes a reference that contains the same address `times` times.
fn reference(orb: &Orb, port: u16, times: usize) -> ObjectRef {
    let host = "127.0.0.1".to_owned();
    let at = Endpoint {
        host: host.clone(),
        port,
    };
    let component = TaggedComponent::alternate_iiop_address(&at).unwrap();
    let profile = IiopProfile {
        version: IiopVersion { major: 1, minor: 2 },
        host,
        port,
        object_key: b"key".to_vec(),
        components: vec![component; times - 1],
    };
    let ior = Ior {
        type_id: String::new(),
        profiles: vec![profile.to_tagged(ByteOrder::NATIVE).unwrap()],
    };
    let text = ior.stringify(ByteOrder::NATIVE).unwrap();
    orb.string_to_object(&text).unwrap()
}

#[test]
fn no_more_endpoints_of_a_reference_are_tried_than_are_allowed() {
    let _watchdog = watchdog(LIMIT);
    for (configured, most) in [(None, 32), (Some(3), 3)] {
        let client = Orb::builder().configure(|config| {
            if let Some(configured) = configured {
                config.budgets.endpoints = configured;
            }
        });
        let client = client.build().unwrap();
        // Port 1 has no listener.
        let error = reference(&client, 1, 8640).non_existent().unwrap_err();
        assert_eq!(error.kind(), Kind::Transient, "{error}");
        let tried = error.to_string().matches("iiop://127.0.0.1:1:").count();
        assert_eq!(tried, most, "{error}");
    }
}

/// Makes a listener whose backlog is full: it neither accepts nor refuses further connections, so
/// clients wait.
fn black_hole() -> (u16, OwnedFd, Vec<TcpStream>) {
    let hole = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&hole, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    listen(&hole, 0).unwrap();
    let at: SocketAddr = getsockname(&hole).unwrap().try_into().unwrap();
    let mut queued = Vec::new();
    // Until its queue is full.
    while let Ok(stream) = TcpStream::connect_timeout(&at, Duration::from_millis(200)) {
        queued.push(stream);
    }
    (at.port(), hole, queued)
}

#[test]
fn all_the_endpoints_of_a_reference_together_take_no_longer_than_is_allowed() {
    let _watchdog = watchdog(LIMIT);
    let (port, _hole, _queued) = black_hole();
    let client = Orb::builder().configure(|config| {
        config.timeouts.connect = Some(Duration::from_millis(400));
        config.timeouts.reach = Some(Duration::from_secs(1));
    });
    let client = client.build().unwrap();
    let began = Instant::now();
    let error = reference(&client, port, 32).non_existent().unwrap_err();
    let took = began.elapsed();
    assert_eq!(error.kind(), Kind::Transient, "{error}");
    assert!(error.to_string().contains("timeouts.reach_ms"), "{error}");
    // One by one they would take 13 s.
    assert!(took >= Duration::from_secs(1), "{took:?}");
    let tried = error.to_string().matches("iiop://127.0.0.1:").count();
    assert_eq!(tried, 3, "{error}");
}
