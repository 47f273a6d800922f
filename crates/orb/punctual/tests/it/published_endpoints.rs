//! Endpoints of its ORB that a POA publishes in its references.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::poa::{CreatePoaError, IdAssignmentPolicy, LifespanPolicy, PoaPolicy};
use punctual::policy::{EndpointChoice, PublishedEndpoints};
use punctual::protocol::{LaneId, Priority, endpoints_of};
use punctual::{Interface, ListenEndpoint, Orb, Poa, RootPoa, SystemExceptionKind as Kind};
use punctual_ior::{IiopProfile, Ior, tags};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use support::{Echo, EchoImpl, watchdog};

const LIMIT: Duration = Duration::from_secs(60);

/// Server that listens on TCP and on a Unix socket.
struct Served {
    server: Orb,
    client: Orb,
    root: Poa,
    socket: String,
    _folder: tempfile::TempDir,
}

impl Served {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let path = path.to_str().unwrap();
        let server = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .listen(ListenEndpoint::new("uiop", path))
            .build()
            .unwrap();
        let root = server.root_poa().unwrap();
        root.manager().activate().unwrap();
        Self {
            server,
            client: Orb::builder().build().unwrap(),
            root,
            socket: format!("uiop://{path}"),
            _folder: folder,
        }
    }

    fn poa(&self, name: &str, choices: &[&str]) -> Result<Poa, CreatePoaError> {
        let policy = PoaPolicy::of(PublishedEndpoints::named(choices));
        let manager = self.root.manager();
        self.root.create_poa(name, Some(manager), &[policy])
    }

    fn as_client(&self, echo: &Echo) -> Echo {
        let text = self.server.object_to_string(echo).unwrap();
        Echo::from_object(self.client.string_to_object(&text).unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        for orb in [&self.client, &self.server] {
            let _ = orb.shutdown(false);
        }
    }
}

fn object_of(poa: &Poa) -> Echo {
    poa.activate(Arc::new(EchoImpl::default())).unwrap()
}

/// Calls the object; returns the name of the link that the call used.
fn goes_by(echo: &Echo) -> String {
    assert_eq!(echo.long(5).unwrap(), 5);
    let peer = echo.as_object().connected_to().unwrap();
    peer.link().to_owned()
}

/// Returns the ports in the TCP profiles of a reference.
fn ports(ior: &Ior) -> Vec<u16> {
    let tcp = ior
        .profiles
        .iter()
        .filter(|one| one.tag == tags::profile::INTERNET_IOP);
    let decoded = tcp.map(|one| IiopProfile::decode(&one.data).unwrap());
    let endpoints = decoded.flat_map(|one| one.endpoints().map(|at| at.port).collect::<Vec<_>>());
    endpoints.filter(|port| *port != 0).collect()
}

#[test]
fn references_of_a_poa_name_the_endpoints_that_it_publishes_and_no_others() {
    let _watchdog = watchdog(LIMIT);
    let served = Served::new();
    let local = object_of(&served.poa("local", &[&served.socket]).unwrap());
    let ior = local.as_object().ior();
    // The socket has its own profile; the one of TCP's tag names it for omniORB, without a port.
    let of_socket = |tag| ior.profiles.iter().filter(|one| one.tag == tag).count();
    assert_eq!(of_socket(tags::profile::TAO_UIOP), 1);
    assert!(ports(ior).is_empty());
    assert_eq!(goes_by(&served.as_client(&local)), "uiop");

    let remote = object_of(&served.poa("remote", &["iiop://127.0.0.1:0"]).unwrap());
    let ior = remote.as_object().ior();
    assert_eq!(ior.profiles.len(), 1);
    assert_eq!(ports(ior).len(), 1);
    assert_eq!(goes_by(&served.as_client(&remote)), "iiop");

    let manager = served.root.manager();
    let all = served.root.create_poa("all", Some(manager), &[]).unwrap();
    let ior = object_of(&all).as_object().ior().clone();
    assert_eq!(ior.profiles.len(), 2);
    assert_eq!(ports(&ior).len(), 1);
}

#[test]
fn an_endpoint_is_named_as_it_was_configured_or_as_it_is() {
    let _watchdog = watchdog(LIMIT);
    let served = Served::new();
    let real = served.server.endpoints()[0].to_string();
    assert_ne!(real, "iiop://127.0.0.1:0");
    let by_both = object_of(&served.poa("both", &[&real, &served.socket]).unwrap());
    assert_eq!(by_both.as_object().ior().profiles.len(), 2);
    let by_port = object_of(&served.poa("port", &[&real]).unwrap());
    assert_eq!(ports(by_port.as_object().ior()).len(), 1);
}

#[test]
fn an_endpoint_that_there_is_not_is_an_error_that_names_it() {
    let _watchdog = watchdog(LIMIT);
    let served = Served::new();
    for unknown in ["iiop://127.0.0.1:9", "shmiop://", "nonsense"] {
        let error = served.poa("none", &[&served.socket, unknown]).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains(unknown) && text.contains(&served.socket),
            "{text}"
        );
        let is_policy = matches!(error, CreatePoaError::InvalidPolicy { index: 0, .. });
        assert!(is_policy, "{text}");
    }
    let no_name: [&str; 0] = [];
    let error = served.poa("none", &no_name).unwrap_err().to_string();
    assert!(error.contains("no endpoint is named"), "{error}");
    let priority = Priority::new(9).unwrap();
    let lane = LaneId { pool: 4, index: 1 };
    for (choice, shown) in [
        (EndpointChoice::Priority(priority), "of priority 9"),
        (EndpointChoice::Lane(lane), "of lane 1 of thread pool 4"),
    ] {
        let policy = PoaPolicy::of(PublishedEndpoints::new([choice]));
        let error = served.root.create_poa("none", None, &[policy]);
        let error = error.unwrap_err().to_string();
        assert!(error.contains(shown), "{error}");
    }
}

#[test]
fn a_poa_whose_endpoints_are_all_retired_makes_no_references_that_lead_nowhere() {
    let _watchdog = watchdog(LIMIT);
    let served = Served::new();
    let poa = served.poa("local", &[&served.socket]).unwrap();
    let echo = object_of(&poa);
    assert_eq!(goes_by(&served.as_client(&echo)), "uiop");
    let socket = served.server.endpoints()[1].clone();
    assert!(served.server.retire_endpoint(&socket));
    let id = poa.reference_to_id(&echo).unwrap();
    let error = poa.id_to_reference::<Echo>(&id).unwrap_err();
    let punctual::poa::PoaError::System(error) = error else {
        panic!("{error}");
    };
    assert_eq!(error.kind(), Kind::InvPolicy);
    assert!(error.to_string().contains(&served.socket), "{error}");
}

#[test]
fn references_that_outlive_the_process_name_no_socket_that_does_not() {
    let _watchdog = watchdog(LIMIT);
    let name = format!("punctual-published.{}", std::process::id());
    let listening = |endpoints: &[ListenEndpoint]| {
        let builder = endpoints.iter().cloned();
        let builder = builder.fold(Orb::builder(), |builder, endpoint| builder.listen(endpoint));
        builder.build().unwrap()
    };
    let (chosen, named) = (
        ListenEndpoint::new("uiop", ""),
        ListenEndpoint::new("uiop", &name),
    );
    let server = listening(&[chosen.clone(), named, ListenEndpoint::iiop("127.0.0.1", 0)]);
    let places = |server: &Orb, lifespan| {
        let root = server.root_poa().unwrap();
        let policies = [
            PoaPolicy::Lifespan(lifespan),
            PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
        ];
        let poa = root.create_poa(&format!("{lifespan:?}"), None, &policies);
        let object: Echo = poa.unwrap().create_reference_with_id(&"a".into()).unwrap();
        let endpoints = endpoints_of(server, object.as_object().ior());
        let places = endpoints.iter().map(|one| one.address.place().to_owned());
        places.collect::<BTreeSet<String>>()
    };
    let of_process = places(&server, LifespanPolicy::Transient);
    let lasting = places(&server, LifespanPolicy::Persistent);
    assert_eq!(
        (of_process.len(), lasting.len()),
        (3, 2),
        "{of_process:?} {lasting:?}"
    );
    assert!(
        lasting
            .iter()
            .any(|place| place.ends_with(&format!("/{name}"))),
        "{lasting:?}"
    );
    // If there is no other endpoint, it is still published.
    let alone = listening(&[chosen]);
    assert_eq!(places(&alone, LifespanPolicy::Persistent).len(), 1);
    for orb in [server, alone] {
        orb.shutdown(true).unwrap();
    }
}

/// Starts a server with a persistent object, which another one may have, too.
fn twin(endpoint: ListenEndpoint) -> (Orb, Arc<EchoImpl>, Echo) {
    let server = Orb::builder().listen(endpoint).build().unwrap();
    let root = server.root_poa().unwrap();
    root.manager().activate().unwrap();
    let policies = [
        PoaPolicy::Lifespan(LifespanPolicy::Persistent),
        PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
    ];
    let poa = root.create_poa("twins", Some(root.manager()), &policies);
    let poa = poa.unwrap();
    let servant = Arc::new(EchoImpl::default());
    let object = poa
        .activate_with_id(&"one".into(), servant.clone())
        .unwrap();
    (server, servant, object)
}

#[test]
fn references_lead_to_another_server_once_the_first_is_gone() {
    let _watchdog = watchdog(LIMIT);
    let (other, second, _) = twin(ListenEndpoint::iiop("127.0.0.1", 0));
    let port = other.endpoints()[0].port().unwrap();
    let first = ListenEndpoint::iiop("127.0.0.1", 0);
    let first = first.option("also_in_ior", format!("127.0.0.1:{port}"));
    let (one, servant, object) = twin(first);
    assert_eq!(
        ports(object.as_object().ior()),
        [one.endpoints()[0].port().unwrap(), port]
    );
    let client = Orb::builder().build().unwrap();
    let text = one.object_to_string(&object).unwrap();
    let object = Echo::from_object(client.string_to_object(&text).unwrap());
    object.ping().unwrap();
    assert_eq!(object.pings().unwrap(), 1);
    assert_eq!(*servant.pings.lock().unwrap(), 1);
    one.shutdown(true).unwrap();
    object.long(7).unwrap();
    object.ping().unwrap();
    assert_eq!(object.pings().unwrap(), 1);
    assert_eq!(*second.pings.lock().unwrap(), 1);
    for orb in [client, other] {
        orb.shutdown(false).unwrap();
    }
}
