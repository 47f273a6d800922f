//! Plain object keys.

use super::teller::policies::{PERSISTENT, USER_ID};
use super::teller::{Teller, World, saying};
use punctual::poa::{IorTableError, IorTableLocator};
use punctual::stub::{Arc, DispatchError};
use punctual::{
    CompletionStatus, Interface, ObjectRef, RootPoa, SystemException, SystemExceptionKind as Kind,
};

pub fn at(world: &World, key: &str) -> Teller {
    let port = world.server.endpoints()[0].port().unwrap();
    let url = format!("corbaloc::127.0.0.1:{port}/{key}");
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
