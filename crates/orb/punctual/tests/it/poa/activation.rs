//! Activation and deactivation of objects.

use super::teller::policies::{IMPLICIT, MULTIPLE_ID, USER_ID};
use super::teller::{Teller, World, saying, servant, telling};
use punctual::poa::PoaError;
use punctual::stub::Arc;
use punctual::{ObjectId, SystemExceptionKind as Kind};
use std::sync::OnceLock;

#[test]
fn an_object_under_an_id_of_the_adapters_is_called_until_it_is_deactivated() {
    let world = World::new();
    let poa = world.poa("A", &[]);
    let mine: Teller = poa.activate(saying("hello")).unwrap();
    let theirs = world.seen(&mine);
    assert_eq!(theirs.tell().unwrap(), "hello");
    assert_eq!(poa.active_objects(), 1);
    poa.deactivate(&mine).unwrap();
    assert_eq!(theirs.fails(), Kind::ObjectNotExist);
    assert_eq!(poa.deactivate(&mine), Err(PoaError::ObjectNotActive));
}

#[test]
fn an_object_under_an_id_of_the_users_can_be_activated_again_under_it() {
    let world = World::new();
    let poa = world.poa("A", &[USER_ID]);
    let id = ObjectId::from("pump 7");
    let mine: Teller = poa.activate_with_id(&id, saying("first")).unwrap();
    let theirs = world.seen(&mine);
    assert_eq!(theirs.tell().unwrap(), "first");
    let again = poa.activate_object_with_id(&id, servant(&saying("second")));
    assert_eq!(again, Err(PoaError::ObjectAlreadyActive));
    poa.deactivate_object(&id).unwrap();
    assert_eq!(theirs.fails(), Kind::ObjectNotExist);
    let again = poa.activate_object_with_id(&id, servant(&saying("second")));
    assert_eq!(again, Ok(()));
    assert_eq!(theirs.tell().unwrap(), "second");
}

#[test]
fn an_id_that_the_adapter_has_assigned_can_be_activated_again_and_no_other() {
    let world = World::new();
    let poa = world.poa("A", &[]);
    let id = poa.activate_object(servant(&saying("first"))).unwrap();
    let theirs = world.seen(&poa.id_to_reference(&id).unwrap());
    assert_eq!(theirs.tell().unwrap(), "first");
    poa.deactivate_object(&id).unwrap();
    poa.activate_object_with_id(&id, servant(&saying("second")))
        .unwrap();
    assert_eq!(theirs.tell().unwrap(), "second");
    let other = poa.activate_object_with_id(&"mine".into(), servant(&saying("third")));
    let Err(PoaError::System(exception)) = other else {
        panic!("{other:?}");
    };
    assert_eq!(exception.kind(), Kind::BadParam);
}

#[test]
fn policies_forbid_what_they_forbid() {
    let world = World::new();
    let user = world.poa("user", &[USER_ID]);
    let system = world.poa("system", &[]);
    let needs = |outcome| assert_eq!(outcome, Err(PoaError::WrongPolicy("SYSTEM_ID")));
    needs(user.activate::<Teller, _>(saying("hello")).map(drop));
    needs(user.create_reference::<Teller>().map(drop));
    let hello = saying("hello");
    let second = system.activate::<Teller, _>(hello.clone());
    second.unwrap();
    let third = system.activate::<Teller, _>(hello.clone());
    assert_eq!(third, Err(PoaError::ServantAlreadyActive));
    let elsewhere = user.activate_with_id::<Teller, _>(&"a".into(), hello.clone());
    elsewhere.unwrap();
    let twice = user.activate_with_id::<Teller, _>(&"b".into(), hello);
    assert_eq!(twice, Err(PoaError::ServantAlreadyActive));
}

#[test]
fn one_servant_may_be_many_objects_with_multiple_ids() {
    let world = World::new();
    let poa = world.poa("A", &[USER_ID, MULTIPLE_ID]);
    let shared = super::teller::telling_ids();
    for id in ["a", "b", "c"] {
        let mine: Teller = poa.activate_with_id(&id.into(), shared.clone()).unwrap();
        assert_eq!(world.seen(&mine).tell().unwrap(), id);
    }
    assert_eq!(poa.active_objects(), 3);
}

#[test]
fn asking_for_a_reference_activates_with_implicit_activation_and_does_not_without() {
    let world = World::new();
    let implicit = world.poa("implicit", &[IMPLICIT]);
    let explicit = world.poa("explicit", &[]);
    let hello = saying("hello");
    let mine: Teller = implicit.servant_to_reference(&hello).unwrap();
    assert_eq!(world.seen(&mine).tell().unwrap(), "hello");
    assert_eq!(implicit.servant_to_reference(&hello), Ok(mine.clone()));
    assert_eq!(implicit.active_objects(), 1);
    let none = explicit.servant_to_reference::<Teller, _>(&hello);
    assert_eq!(none, Err(PoaError::ServantNotActive));
    // With many ids for a servant, each time another.
    let many = world.poa("many", &[IMPLICIT, MULTIPLE_ID]);
    let first = many.servant_to_id(&servant(&hello)).unwrap();
    assert_ne!(many.servant_to_id(&servant(&hello)).unwrap(), first);
}

#[test]
fn an_object_may_deactivate_itself_in_its_own_upcall() {
    let world = World::new();
    let poa = world.poa("A", &[USER_ID]);
    let id = ObjectId::from("short-lived");
    let own = (poa.clone(), id.clone());
    let mine: Teller = poa
        .activate_with_id(
            &id,
            telling(move || {
                let (poa, id) = &own;
                poa.deactivate_object(id)?;
                // The id is not free before this upcall has ended.
                let again = poa.activate_object_with_id(id, servant(&saying("again")));
                assert_eq!(again, Err(PoaError::ObjectAlreadyActive));
                Ok("goodbye".to_owned())
            }),
        )
        .unwrap();
    let theirs = world.seen(&mine);
    assert_eq!(theirs.tell().unwrap(), "goodbye");
    assert_eq!(theirs.fails(), Kind::ObjectNotExist);
    poa.activate_object_with_id(&id, servant(&saying("again")))
        .unwrap();
    assert_eq!(theirs.tell().unwrap(), "again");
}

#[test]
fn a_servant_is_dropped_when_its_last_call_has_left() {
    let world = World::new();
    let poa = world.poa("A", &[]);
    let kept = Arc::new(());
    let weak = Arc::downgrade(&kept);
    let own: Arc<OnceLock<Teller>> = Arc::default();
    let (inside, reference) = (poa.clone(), own.clone());
    let mine: Teller = poa
        .activate(telling(move || {
            inside.deactivate(reference.get().unwrap())?;
            Ok(Arc::strong_count(&kept).to_string())
        }))
        .unwrap();
    own.set(mine.clone()).unwrap();
    assert_eq!(world.seen(&mine).tell().unwrap(), "1");
    // The reply may overtake the servant's end.
    while weak.strong_count() > 0 {
        crate::support::pause();
    }
}

#[test]
fn an_active_object_can_be_sent_elsewhere() {
    let world = World::new();
    let poa = world.poa("A", &[]);
    let here: Teller = poa.activate(saying("here")).unwrap();
    let there: Teller = poa.activate(saying("there")).unwrap();
    let theirs = world.seen(&here);
    assert_eq!(theirs.tell().unwrap(), "here");
    poa.forward(&here, &there).unwrap();
    assert_eq!(theirs.tell().unwrap(), "there");
    poa.deactivate(&here).unwrap();
    let fresh = world.seen(&here);
    assert_eq!(fresh.fails(), Kind::ObjectNotExist);
}

#[test]
fn a_servant_that_panics_hurts_its_caller_alone() {
    let world = World::new();
    let poa = world.poa("A", &[]);
    let bad: Teller = poa.activate(telling(|| panic!("on purpose"))).unwrap();
    let good: Teller = poa.activate(saying("hello")).unwrap();
    let (bad, good) = (world.seen(&bad), world.seen(&good));
    for _ in 0..3 {
        assert_eq!(bad.fails(), Kind::Unknown);
        assert_eq!(good.tell().unwrap(), "hello");
    }
    // The call that panicked is not counted as in progress.
    poa.destroy(true, true).unwrap();
}
