//! Default servants: one servant for all objects that are not active.

use super::teller::policies::{DEFAULT_SERVANT, MULTIPLE_ID, NON_RETAIN, USER_ID};
use super::teller::{World, saying, servant, telling, telling_ids};
use punctual::poa::{Current, PoaError};
use punctual::{Interface, SystemExceptionKind as Kind};

#[test]
fn a_default_servant_serves_every_object_and_knows_which_it_is() {
    let world = World::new();
    let poa = world.poa("A", &[DEFAULT_SERVANT, NON_RETAIN, USER_ID, MULTIPLE_ID]);
    let theirs = world.named(&poa, "ada");
    assert_eq!(theirs.fails(), Kind::ObjAdapter);
    assert_eq!(poa.servant().err(), Some(PoaError::NoServant));
    poa.set_servant(servant(&telling_ids())).unwrap();
    for id in ["ada", "bob", "\u{1}"] {
        let told = world.named(&poa, id).tell().unwrap();
        assert_eq!(told, punctual::ObjectId::from(id).to_string());
    }
    assert!(poa.servant().is_ok());
    // The servant can be replaced.
    poa.set_servant(servant(&saying("other"))).unwrap();
    assert_eq!(theirs.tell().unwrap(), "other");
}

#[test]
fn with_a_map_active_objects_have_their_own_servants() {
    let world = World::new();
    let poa = world.poa("A", &[DEFAULT_SERVANT, USER_ID, MULTIPLE_ID]);
    poa.set_servant(servant(&saying("default"))).unwrap();
    let theirs = world.named(&poa, "ada");
    assert_eq!(theirs.tell().unwrap(), "default");
    poa.activate_object_with_id(&"ada".into(), servant(&saying("own")))
        .unwrap();
    assert_eq!(theirs.tell().unwrap(), "own");
    poa.deactivate_object(&"ada".into()).unwrap();
    assert_eq!(theirs.tell().unwrap(), "default");
}

#[test]
fn the_object_called_is_the_default_servants_identity_while_it_is_called() {
    let world = World::new();
    let poa = world.poa("A", &[DEFAULT_SERVANT, NON_RETAIN, USER_ID, MULTIPLE_ID]);
    let inside = poa.clone();
    poa.set_servant(servant(&telling(move || {
        let servant = Current.servant().unwrap();
        Ok(inside.servant_to_id(&servant)?.to_string())
    })))
    .unwrap();
    assert_eq!(world.named(&poa, "ada").tell().unwrap(), "ada");
    let outside = poa.servant_to_id(&poa.servant().unwrap());
    assert_eq!(outside, Err(PoaError::ServantNotActive));
}

#[test]
fn a_default_servant_is_found_for_any_reference_and_id() {
    let world = World::new();
    let poa = world.poa("A", &[DEFAULT_SERVANT, NON_RETAIN, USER_ID, MULTIPLE_ID]);
    let default = servant(&saying("default"));
    poa.set_servant(default.clone()).unwrap();
    let found = poa.id_to_servant(&"ada".into()).unwrap();
    assert_eq!(found.identity(), default.identity());
    let mine: super::teller::Teller = poa.create_reference_with_id(&"ada".into()).unwrap();
    let found = poa.reference_to_servant(&mine).unwrap();
    assert_eq!(found.identity(), default.identity());
}

#[test]
fn what_every_object_answers_needs_no_servants_help() {
    let world = World::new();
    let poa = world.poa("A", &[DEFAULT_SERVANT, NON_RETAIN, USER_ID, MULTIPLE_ID]);
    poa.set_servant(servant(&telling(|| panic!("on purpose"))))
        .unwrap();
    let theirs = world.named(&poa, "ada");
    assert!(theirs.as_object().is_a("IDL:test/Teller:1.0").unwrap());
    assert!(!theirs.as_object().is_a("IDL:test/Other:1.0").unwrap());
    assert!(!theirs.as_object().non_existent().unwrap());
    assert!(theirs.as_object().locate().unwrap());
}

#[test]
fn only_the_policy_allows_one() {
    let world = World::new();
    let poa = world.poa("A", &[]);
    let wrong = Err(PoaError::WrongPolicy("USE_DEFAULT_SERVANT"));
    assert_eq!(poa.set_servant(servant(&saying("default"))), wrong);
    assert_eq!(poa.servant().map(drop), wrong);
}
