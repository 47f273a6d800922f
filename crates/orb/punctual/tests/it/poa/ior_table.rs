//! Plain object keys.

use super::teller::policies::{PERSISTENT, USER_ID};
use super::teller::{Teller, World, saying};
use punctual::poa::{
    Dispatched, IorTableError, IorTableLocator, LocateRequest, Location, PendingLocation,
    ServerCall, UnknownObjects,
};
use punctual::stub::{Arc, DispatchError};
use punctual::{
    CompletionStatus, Interface, ObjectRef, RootPoa, SystemException, SystemExceptionKind as Kind,
};

pub fn at(world: &World, key: &str) -> Teller {
    // GIOP 1.0, as without a version.
    at_by("1.0", world, key)
}

fn at_by(version: &str, world: &World, key: &str) -> Teller {
    let port = world.server.endpoints()[0].port().unwrap();
    let url = format!("corbaloc:iiop:{version}@127.0.0.1:{port}/{key}");
    Teller::from_object(world.client.string_to_object(&url).unwrap())
}

#[test]
fn a_plain_key_leads_to_what_it_is_bound_to() {
    let world = World::new();
    let table = world.server.ior_table().unwrap();
    let first: Teller = world.root.activate(saying("first")).unwrap();
    let poa = world.poa("A", &[PERSISTENT, USER_ID]);
    let second: Teller = poa.activate_with_id(&"x".into(), saying("second")).unwrap();
    assert_eq!(at(&world, "Pump").fails(), Kind::ObjectNotExist);
    table.bind("Pump", &first).unwrap();
    assert_eq!(at(&world, "Pump").tell().unwrap(), "first");
    assert!(at(&world, "Pump").as_object().locate().unwrap());
    let bound = IorTableError::AlreadyBound("Pump".to_owned());
    assert_eq!(table.bind("Pump", &second), Err(bound));
    assert_eq!(table.find("Pump").unwrap(), *first.as_object());
    table.rebind("Pump", &second).unwrap();
    assert_eq!(at(&world, "Pump").tell().unwrap(), "second");
    table.unbind("Pump").unwrap();
    assert_eq!(at(&world, "Pump").fails(), Kind::ObjectNotExist);
    let unbound = Err(IorTableError::NotFound("Pump".to_owned()));
    assert_eq!(table.unbind("Pump"), unbound);
    assert_eq!(table.find("Pump").map(drop), unbound);
}

#[test]
fn a_key_that_is_not_bound_yet_is_waited_for_until_the_server_is_set_up() {
    let listen = punctual::ListenEndpoint::new("iiop", "127.0.0.1:0");
    let server = punctual::Orb::builder().listen(listen).build().unwrap();
    let root = server.root_poa().unwrap();
    let port = server.endpoints()[0].port().unwrap();
    let client = punctual::Orb::builder().build().unwrap();
    let told = |key: &str| {
        let url = format!("corbaloc::127.0.0.1:{port}/{key}");
        let teller = Teller::from_object(client.string_to_object(&url).unwrap());
        std::thread::spawn(move || teller.tell())
    };
    let early = told("Pump");
    let never = told("Valve");
    // Until both have arrived, and wait.
    while server.lane_statistics()[0].messages < 2 {
        crate::support::pause();
    }
    let pump: Teller = root.activate(saying("early")).unwrap();
    server.ior_table().unwrap().bind("Pump", &pump).unwrap();
    root.manager().activate().unwrap();
    assert_eq!(early.join().unwrap().unwrap(), "early");
    let unknown = never.join().unwrap().unwrap_err();
    assert_eq!(unknown.kind(), Kind::ObjectNotExist);
    server.shutdown(true).unwrap();
}

#[test]
fn nil_and_senseless_keys_are_not_bound() {
    let world = World::new();
    let table = world.server.ior_table().unwrap();
    let object: Teller = world.root.activate(saying("hello")).unwrap();
    for key in ["", &"x".repeat(1025)] {
        let bound = table.bind(key, &object);
        let Err(IorTableError::System(exception)) = bound else {
            panic!("{bound:?}");
        };
        assert_eq!(exception.kind(), Kind::BadParam);
    }
    let nil: Option<ObjectRef> = None;
    assert!(table.bind("nil", &nil).is_err());
}

struct Locator(Teller);

impl IorTableLocator for Locator {
    fn locate(&self, key: &str) -> Result<Option<ObjectRef>, DispatchError> {
        match key {
            "found" => Ok(Some(self.0.as_object().clone())),
            "refused" => {
                let kind = Kind::NoPermission;
                Err(SystemException::new(kind, 0, CompletionStatus::No).into())
            }
            _ => Ok(None),
        }
    }
}

#[test]
fn a_locator_is_asked_about_keys_that_are_not_bound() {
    let world = World::new();
    let table = world.server.ior_table().unwrap();
    let object: Teller = world.root.activate(saying("hello")).unwrap();
    table.set_locator(Some(Arc::new(Locator(object))));
    assert_eq!(at(&world, "found").tell().unwrap(), "hello");
    assert_eq!(at(&world, "refused").fails(), Kind::NoPermission);
    assert_eq!(at(&world, "lost").fails(), Kind::ObjectNotExist);
    table.set_locator(None);
    assert_eq!(at(&world, "found").fails(), Kind::ObjectNotExist);
}

/// Has LocateRequests answered by the test.
#[derive(Default)]
struct Later(std::sync::Mutex<Vec<PendingLocation>>);

impl Later {
    /// Waits for a LocateRequest.
    fn next(&self) -> PendingLocation {
        loop {
            if let Some(pending) = self.0.lock().unwrap().pop() {
                return pending;
            }
            crate::support::pause();
        }
    }
}

impl UnknownObjects for Later {
    fn dispatch(&self, _: &[u8], _: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        Err(Kind::NoImplement.because("no requests").into())
    }

    fn locate(&self, _: &[u8]) -> Location {
        Location::Unknown
    }

    fn locate_or_later(&self, _: &[u8], request: &LocateRequest<'_>) -> Option<Location> {
        self.0.lock().unwrap().push(request.answer_later().unwrap());
        None
    }
}

#[test]
fn a_locate_request_may_be_answered_later_and_is_as_here_when_its_answer_is_dropped() {
    let world = World::new();
    let later = Arc::new(Later::default());
    let table = world.server.ior_table().unwrap();
    table.set_unknown_objects(Some(later.clone()));
    let first: Teller = world.root.activate(saying("first")).unwrap();
    let located = |key: &str| {
        let object = at(&world, key);
        let asked = object.clone();
        (
            object,
            std::thread::spawn(move || asked.as_object().locate()),
        )
    };
    let (object, waiting) = located("Pump");
    let pending = later.next();
    assert!(pending.is_awaited());
    let ior = first.as_object().ior().clone();
    pending.answer(&Location::Forward(Box::new(ior)));
    assert_eq!(waiting.join().unwrap(), Ok(true));
    // It was forwarded, and its requests go there.
    assert_eq!(object.tell().unwrap(), "first");
    let (_, waiting) = located("Valve");
    later.next().answer(&Location::Unknown);
    assert_eq!(waiting.join().unwrap(), Ok(false));
    let (object, waiting) = located("Tank");
    drop(later.next());
    assert_eq!(waiting.join().unwrap(), Ok(true));
    assert_eq!(object.fails(), Kind::NoImplement);
}

#[test]
fn a_late_answer_to_a_locate_request_may_be_an_exception_from_giop_1_2_on() {
    let world = World::new();
    let later = Arc::new(Later::default());
    let table = world.server.ior_table().unwrap();
    table.set_unknown_objects(Some(later.clone()));
    let refused = SystemException::new(Kind::NoResources, 7, CompletionStatus::No);
    for version in ["1.0", "1.1", "1.2"] {
        let object = at_by(version, &world, "Pump");
        let waiting = std::thread::spawn(move || object.as_object().locate());
        later.next().raise(&refused);
        let located = waiting.join().unwrap();
        match version {
            "1.2" => {
                let raised = located.unwrap_err();
                let completed = raised.completed();
                assert_eq!((raised.kind(), raised.minor()), (Kind::NoResources, 7));
                assert_eq!(completed, CompletionStatus::No);
            }
            // The request that follows gets it.
            _ => assert_eq!(located, Ok(true)),
        }
    }
}
