//! Object that a thread serves (PortableServer::Current).

use super::teller::policies::{DEFAULT_SERVANT, MULTIPLE_ID, NON_RETAIN, USER_ID};
use super::teller::{Teller, World, saying, servant, telling};
use punctual::Interface;
use punctual::poa::{Current, NoContext};
use std::sync::OnceLock;

#[test]
fn outside_of_an_upcall_there_is_none() {
    assert_eq!(Current.poa(), Err(NoContext::NoUpcall));
    assert_eq!(Current.object_id(), Err(NoContext::NoUpcall));
    assert_eq!(Current.reference(), Err(NoContext::NoUpcall));
    assert_eq!(Current.servant().err(), Some(NoContext::NoUpcall));
}

#[test]
fn an_upcall_knows_its_adapter_its_object_its_reference_and_its_servant() {
    let world = World::new();
    let plain = world.poa("plain", &[]);
    let named = world.poa("named", &[USER_ID]);
    let default = world.poa(
        "default",
        &[DEFAULT_SERVANT, NON_RETAIN, USER_ID, MULTIPLE_ID],
    );
    let knowing = || {
        telling(|| {
            let poa = Current.poa().unwrap();
            let id = Current.object_id().unwrap();
            let reference = Current.reference().unwrap();
            assert_eq!(poa.reference_to_id(&reference).unwrap(), id);
            assert_eq!(reference.type_id(), "IDL:test/Teller:1.0");
            let servant = Current.servant().unwrap();
            let found = poa.id_to_servant(&id).unwrap();
            assert_eq!(servant.identity(), found.identity());
            Ok(format!(
                "{} {}",
                poa.name(),
                reference.orb().object_to_string(&reference).unwrap()
            ))
        })
    };
    let in_plain: Teller = plain.activate(knowing()).unwrap();
    let in_named: Teller = named.activate_with_id(&"ada".into(), knowing()).unwrap();
    default.set_servant(servant(&knowing())).unwrap();
    let in_default: Teller = default.create_reference_with_id(&"bob".into()).unwrap();
    for (name, mine) in [
        ("plain", in_plain),
        ("named", in_named),
        ("default", in_default),
    ] {
        let text = world.server.object_to_string(&mine).unwrap();
        assert_eq!(world.seen(&mine).tell().unwrap(), format!("{name} {text}"));
    }
}

#[test]
fn upcalls_within_upcalls_have_each_their_own() {
    let world = World::new();
    let poa = world.poa("A", &[USER_ID]);
    let inner: &'static OnceLock<Teller> = Box::leak(Box::default());
    let mine: Teller = poa
        .activate_with_id(
            &"inner".into(),
            telling(|| Ok(Current.object_id().unwrap().to_string())),
        )
        .unwrap();
    inner.set(mine).unwrap();
    let outer: Teller = poa
        .activate_with_id(
            &"outer".into(),
            telling(|| {
                let before = Current.object_id().unwrap();
                let called = inner.get().unwrap().tell()?;
                assert_eq!(Current.object_id().unwrap(), before);
                Ok(format!("{before} called {called}"))
            }),
        )
        .unwrap();
    assert_eq!(world.seen(&outer).tell().unwrap(), "outer called inner");
}

#[test]
fn a_servant_that_failed_leaves_no_trace() {
    let world = World::new();
    let poa = world.poa("A", &[USER_ID]);
    let bad: Teller = poa
        .activate_with_id(&"bad".into(), telling(|| panic!("on purpose")))
        .unwrap();
    let good: Teller = poa
        .activate_with_id(
            &"good".into(),
            telling(|| Ok(Current.object_id().unwrap().to_string())),
        )
        .unwrap();
    world.seen(&bad).tell().unwrap_err();
    assert_eq!(world.seen(&good).tell().unwrap(), "good");
    let free: Teller = world.root.activate(saying("free")).unwrap();
    assert_eq!(world.seen(&free).as_object().locate(), Ok(true));
}
