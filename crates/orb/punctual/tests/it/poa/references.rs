//! Conversions between references, ids and servants.

use super::teller::policies::{MULTIPLE_ID, NON_RETAIN, PERSISTENT, SERVANT_MANAGER, USER_ID};
use super::teller::{Teller, World, saying, servant};
use punctual::SystemExceptionKind as Kind;
use punctual::poa::{PoaError, PoaPolicy};

#[test]
fn references_ids_and_servants_lead_to_one_another() {
    let world = World::new();
    for policies in [&[][..], &[USER_ID], &[PERSISTENT], &[PERSISTENT, USER_ID]] {
        let poa = world.poa("A", policies);
        let hello = servant(&saying("hello"));
        let id = if policies.contains(&USER_ID) {
            poa.activate_object_with_id(&"ada".into(), hello.clone())
                .unwrap();
            "ada".into()
        } else {
            poa.activate_object(hello.clone()).unwrap()
        };
        let mine: Teller = poa.id_to_reference(&id).unwrap();
        assert_eq!(world.seen(&mine).tell().unwrap(), "hello");
        assert_eq!(poa.reference_to_id(&mine).unwrap(), id);
        assert_eq!(poa.servant_to_id(&hello).unwrap(), id);
        let found = poa.reference_to_servant(&mine).unwrap();
        assert_eq!(found.identity(), hello.identity());
        let found = poa.id_to_servant(&id).unwrap();
        assert_eq!(found.identity(), hello.identity());
        assert_eq!(poa.id_to_reference::<Teller>(&id).unwrap(), mine);
        poa.deactivate_object(&id).unwrap();
        let gone = Some(PoaError::ObjectNotActive);
        assert_eq!(poa.id_to_reference::<Teller>(&id).err(), gone);
        assert_eq!(poa.id_to_servant(&id).err(), gone);
        assert_eq!(poa.reference_to_servant(&mine).err(), gone);
        assert_eq!(
            poa.servant_to_id(&hello).err(),
            Some(PoaError::ServantNotActive)
        );
        // The id of a reference is known without the object.
        assert_eq!(poa.reference_to_id(&mine).unwrap(), id);
        poa.destroy(true, true).unwrap();
    }
}

#[test]
fn references_made_before_and_after_activation_are_equivalent_where_they_were_made() {
    let world = World::new();
    let poa = world.poa("A", &[USER_ID]);
    let before: Teller = poa.create_reference_with_id(&"ada".into()).unwrap();
    let other: Teller = poa.create_reference_with_id(&"bob".into()).unwrap();
    let after: Teller = poa
        .activate_with_id(&"ada".into(), saying("hello"))
        .unwrap();
    assert_eq!(before, after);
    assert_ne!(before, other);
    assert_eq!(world.seen(&before).tell().unwrap(), "hello");
}

#[test]
fn a_reference_of_another_adapter_is_told_from_its_own() {
    let world = World::new();
    for (policies, others) in [
        (&[][..], &[USER_ID][..]),
        (&[PERSISTENT], &[PERSISTENT, USER_ID]),
    ] {
        let (a, b) = (world.poa("A", policies), world.poa("B", others));
        let mine: Teller = a.activate(saying("hello")).unwrap();
        let wrong = Some(PoaError::WrongAdapter);
        assert_eq!(b.reference_to_id(&mine).err(), wrong);
        assert_eq!(b.reference_to_servant(&mine).err(), wrong);
        assert_eq!(b.deactivate(&mine).err(), wrong);
        a.destroy(true, true).unwrap();
        b.destroy(true, true).unwrap();
    }
}

#[test]
fn a_reference_may_come_before_its_object() {
    let world = World::new();
    for policies in [&[][..], &[PERSISTENT]] {
        let poa = world.poa("A", policies);
        let mine: Teller = poa.create_reference().unwrap();
        let other: Teller = poa.create_reference().unwrap();
        assert_ne!(mine, other);
        let theirs = world.seen(&mine);
        assert_eq!(theirs.fails(), Kind::ObjectNotExist);
        let id = poa.reference_to_id(&mine).unwrap();
        poa.activate_object_with_id(&id, servant(&saying("hello")))
            .unwrap();
        assert_eq!(theirs.tell().unwrap(), "hello");
        assert_eq!(world.seen(&other).fails(), Kind::ObjectNotExist);
        poa.destroy(true, true).unwrap();
    }
}

#[test]
fn what_policies_forbid_is_refused() {
    let world = World::new();
    let located: [PoaPolicy; 4] = [SERVANT_MANAGER, NON_RETAIN, USER_ID, MULTIPLE_ID];
    let poa = world.poa("A", &located);
    let mine: Teller = poa.create_reference_with_id(&"ada".into()).unwrap();
    let retain = Some(PoaError::WrongPolicy("RETAIN"));
    assert_eq!(poa.id_to_reference::<Teller>(&"ada".into()).err(), retain);
    assert_eq!(poa.deactivate(&mine).err(), retain);
    assert_eq!(poa.deactivate_object(&"ada".into()).err(), retain);
    let with_id = poa.activate_with_id::<Teller, _>(&"ada".into(), saying("hello"));
    assert_eq!(with_id.err(), retain);
    let either = Some(PoaError::WrongPolicy("RETAIN or USE_DEFAULT_SERVANT"));
    assert_eq!(poa.reference_to_servant(&mine).err(), either);
    assert_eq!(poa.id_to_servant(&"ada".into()).err(), either);
    let helps = Some(PoaError::WrongPolicy("UNIQUE_ID or IMPLICIT_ACTIVATION"));
    let hello = servant(&saying("hello"));
    assert_eq!(poa.servant_to_id(&hello).err(), helps);
    let many = world.poa("many", &[MULTIPLE_ID]);
    assert_eq!(many.servant_to_id(&hello).err(), helps);
    assert_eq!(poa.reference_to_id(&mine).unwrap(), "ada".into());
}
