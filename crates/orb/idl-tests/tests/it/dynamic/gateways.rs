//! Gateways between typed clients and typed servants. The gateway itself has no generated types.

use crate::dynamic::generated::near::{Counter, CounterAddError, Refused};
use crate::dynamic::servant::{Home, Register};
use crate::support::watchdog;
use punctual::description::{
    AttributeDescription, ExceptionDescription, InterfaceDescription, OperationDescription,
    ParameterDescription, ParameterMode,
};
use punctual::dynamic::{Gateway, dynamic_servant};
use punctual::policy::Collocation;
use punctual::{
    Interface, ListenEndpoint, Orb, RootPoa, SystemExceptionKind as Kind, TypeCode, Typed,
};
use std::time::Duration;

fn parameter(name: &str, mode: ParameterMode, type_code: &TypeCode) -> ParameterDescription {
    ParameterDescription {
        name: name.to_owned(),
        type_code: type_code.clone(),
        mode,
    }
}

/// Returns a description of some operations of the interface `Register`.
fn described() -> InterfaceDescription {
    use ParameterMode::{In, InOut, Out};
    let octets = TypeCode::sequence(&TypeCode::OCTET, 0);
    let refused = || {
        vec![ExceptionDescription {
            name: "Refused".to_owned(),
            id: "IDL:near/Refused:1.0".to_owned(),
            type_code: Refused::type_code(),
        }]
    };
    let operation = |name: &str, result: &TypeCode, parameters| OperationDescription {
        name: name.to_owned(),
        result: result.clone(),
        parameters,
        exceptions: refused(),
        ..OperationDescription::default()
    };
    let several = vec![
        parameter("data", InOut, &octets),
        parameter("first", Out, &TypeCode::STRING),
        parameter("how", InOut, &TypeCode::LONG),
    ];
    InterfaceDescription {
        operations: vec![
            operation(
                "add",
                &TypeCode::LONG,
                vec![parameter("by", In, &TypeCode::LONG)],
            ),
            OperationDescription {
                oneway: true,
                ..operation(
                    "bump",
                    &TypeCode::VOID,
                    vec![parameter("by", In, &TypeCode::LONG)],
                )
            },
            operation("several", &octets, several),
            operation(
                "same",
                &Register::type_code(),
                vec![parameter("other", In, &Register::type_code())],
            ),
            OperationDescription {
                contexts: vec!["user.*".to_owned(), "exact".to_owned()],
                ..operation("asked", &TypeCode::STRING, vec![])
            },
        ],
        attributes: vec![AttributeDescription {
            name: "label".to_owned(),
            id: String::new(),
            type_code: TypeCode::STRING,
            readonly: false,
            get_exceptions: Vec::new(),
            put_exceptions: Vec::new(),
        }],
        ..InterfaceDescription::default()
    }
}

/// ORB with a gateway object that passes its requests on to an object of another ORB.
struct Between {
    home: Home,
    orb: Orb,
    client: Orb,
    register: Register,
}

impl Between {
    fn new(interface: Option<&InterfaceDescription>) -> Self {
        let home = Home::new(Collocation::None);
        let orb = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .configure(|config| config.collocation = Collocation::None)
            .build()
            .unwrap();
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let target = home.seen_by(&orb);
        let gateway = match interface {
            Some(interface) => Gateway::with_interface(target.as_object(), interface),
            None => Gateway::new(target.as_object()),
        };
        let id = poa.activate_object(dynamic_servant(gateway)).unwrap();
        let object = poa.create_object_with_id(&id, "").unwrap();
        let text = orb.object_to_string(&object).unwrap();
        let client = Orb::builder()
            .configure(|config| config.collocation = Collocation::None)
            .build()
            .unwrap();
        let register = client.string_to_object(&text).unwrap();
        Self {
            register: Register::narrow(register).unwrap(),
            home,
            orb,
            client,
        }
    }
}

impl Drop for Between {
    fn drop(&mut self) {
        let _ = self.orb.shutdown(false);
        let _ = self.client.shutdown(false);
    }
}

fn every_call_arrives(between: &Between) {
    let register = &between.register;
    let counter = Counter::from(register.clone());
    assert_eq!(counter.add(2).unwrap(), 2);
    match counter.add(-2).unwrap_err() {
        CounterAddError::Refused(refused) => assert_eq!(refused.code, -2),
        CounterAddError::System(exception) => panic!("{exception}"),
    }
    counter.set_label("äöü").unwrap();
    assert_eq!(counter.label().unwrap(), "äöü");
    counter.bump(5).unwrap();
    while between.home.register.count().unwrap() != 7 {}
    let (mut data, mut how) = (vec![1, 2, 3], 0);
    let (returned, first) = register.several(&mut data, &mut how).unwrap();
    assert_eq!((data, how), (vec![1, 2, 3, 7], 99));
    assert_eq!((returned, &*first), (vec![1, 2, 3], "first"));
    assert!(register.several(&mut Vec::new(), &mut 1).is_err());
    let mut context = punctual::Context::new();
    context.set("user.name", "ada");
    assert_eq!(register.asked(&context).unwrap(), "user.name=ada");
    let same = register.same(Some(register)).unwrap();
    assert_eq!(same.as_ref(), Some(register));
    assert_eq!(register.same(None).unwrap(), None);
    assert_eq!(register.fail(false).unwrap_err().kind(), Kind::NoPermission);
}

#[test]
fn a_gateway_passes_on_calls_of_an_interface_that_it_does_not_know() {
    let _watchdog = watchdog(Duration::from_secs(60));
    every_call_arrives(&Between::new(None));
}

#[test]
fn a_gateway_takes_calls_apart_whose_operations_are_described() {
    let _watchdog = watchdog(Duration::from_secs(60));
    every_call_arrives(&Between::new(Some(&described())));
}

#[test]
fn a_gateway_has_the_interface_of_its_target() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let between = Between::new(None);
    let object = between.register.as_object();
    assert!(object.is_a(Counter::REPOSITORY_ID).unwrap());
    assert!(!object.is_a("IDL:near/Clock:1.0").unwrap());
    assert!(!object.non_existent().unwrap());
}

#[test]
fn what_keeps_a_gateway_from_its_target_is_told_and_not_taken_for_an_answer() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let between = Between::new(None);
    let object = between.register.as_object();
    between.home.poa.deactivate(&between.home.register).unwrap();
    assert!(object.non_existent().unwrap());
    between.home.orb.shutdown(true).unwrap();
    let raised = object.is_a(Counter::REPOSITORY_ID).unwrap_err();
    assert_eq!(raised.kind(), Kind::Transient);
}
