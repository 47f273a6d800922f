//! Modules that are opened again after a forward declaration.

use crate::support::{served, specification};
use punctual::any::TypeKind;
use punctual::{Interface, ObjectRef};
use punctual_ifr::InterfaceRepository;
use punctual_ifr::corba::InterfaceDef;

const IDL: &str = "
    module Plant {
        interface Pump;
        struct Reading;
        union Choice;
        valuetype Log;
        module Deep { interface Valve; };
    };
    module Site {
        interface User {
            Plant::Pump pump(in Plant::Deep::Valve valve);
            Plant::Log log();
        };
        typedef sequence<Plant::Reading> Readings;
        typedef sequence<Plant::Choice> Choices;
    };
    module Plant {
        interface Pump { attribute long speed; };
        struct Reading { long value; };
        union Choice switch (long) { case 1: long number; };
        valuetype Log { public long entries; };
        module Deep { interface Valve { void open(); }; };
    };";

#[test]
fn definitions_of_a_later_part_are_all_there() {
    let repository = InterfaceRepository::in_memory();
    let new = repository.load(&specification(IDL)).unwrap();
    let (_poa, root) = served(&repository);
    let expected = [
        "IDL:Plant:1.0",
        "IDL:Plant/Pump:1.0",
        "IDL:Plant/Pump/speed:1.0",
        "IDL:Plant/Reading:1.0",
        "IDL:Plant/Choice:1.0",
        "IDL:Plant/Log:1.0",
        "IDL:Plant/Log/entries:1.0",
        "IDL:Plant/Deep:1.0",
        "IDL:Plant/Deep/Valve:1.0",
        "IDL:Plant/Deep/Valve/open:1.0",
        "IDL:Site:1.0",
        "IDL:Site/User:1.0",
        "IDL:Site/User/pump:1.0",
        "IDL:Site/User/log:1.0",
        "IDL:Site/Readings:1.0",
        "IDL:Site/Choices:1.0",
    ];
    assert_eq!(new, expected.len());
    for id in expected {
        let found = root.lookup_id(id).unwrap();
        assert!(found.is_some(), "{id}");
    }
    // Operations name them, and not null.
    let user: ObjectRef = root.lookup_id("IDL:Site/User:1.0").unwrap().unwrap().into();
    let user = InterfaceDef::from_object(user)
        .describe_interface()
        .unwrap();
    let pump = user
        .operations
        .iter()
        .find(|one| one.name == "pump")
        .unwrap();
    assert_eq!(pump.result.kind(), TypeKind::Objref);
    assert_eq!(pump.parameters[0].r#type.kind(), TypeKind::Objref);
    let log = user
        .operations
        .iter()
        .find(|one| one.name == "log")
        .unwrap();
    assert_eq!(log.result.kind(), TypeKind::Value);
}
