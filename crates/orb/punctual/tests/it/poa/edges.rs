//! Unusual object ids, and servants and servant managers that call back.

use super::ior_table::at;
use super::managed::{activator, locator};
use super::teller::policies::{MULTIPLE_ID, NON_RETAIN, SERVANT_MANAGER, SINGLE_THREAD, USER_ID};
use super::teller::{Teller, World, saying, servant, telling};
use punctual::poa::{AdapterActivator, Current, FindPoaError, IorTableLocator, PoaError};
use punctual::stub::{Arc, DispatchError, Servant};
use punctual::{Interface, ObjectId, ObjectRef, Poa, RootPoa, SystemExceptionKind as Kind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

#[test]
fn an_id_may_have_no_octets() {
    let world = World::new();
    let poa = world.poa("A", &[USER_ID]);
    let id = ObjectId::from("");
    poa.activate_object_with_id(&id, servant(&saying("empty")))
        .unwrap();
    let mine: Teller = poa.id_to_reference(&id).unwrap();
    assert_eq!(world.seen(&mine).tell().unwrap(), "empty");
    assert_eq!(world.named(&poa, "").tell().unwrap(), "empty");
    assert_eq!(poa.reference_to_id(&mine).unwrap(), id);
    poa.deactivate(&mine).unwrap();
    assert_eq!(world.seen(&mine).fails(), Kind::ObjectNotExist);
}

#[test]
fn an_id_that_the_adapter_never_assigned_is_refused_where_it_assigns_them() {
    let world = World::new();
    let poa = world.poa("A", &[]);
    let never = ObjectId::from(&[0, 0, 0, 1, 0, 0, 0, 0]);
    let refused = poa.activate_object_with_id(&never, servant(&saying("first")));
    let Err(PoaError::System(exception)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(exception.kind(), Kind::BadParam);
    // An id that it did assign is still accepted.
    let assigned = poa.activate_object(servant(&saying("second"))).unwrap();
    poa.deactivate_object(&assigned).unwrap();
    poa.activate_object_with_id(&assigned, servant(&saying("third")))
        .unwrap();
    let other = poa.activate_object(servant(&saying("fourth"))).unwrap();
    assert_ne!(assigned, other);
    let mine: Teller = poa.id_to_reference(&assigned).unwrap();
    assert_eq!(world.seen(&mine).tell().unwrap(), "third");
}

/// Makes a servant that returns the id that the adapter reports for it.
fn asking_for_its_id(poa: &Poa) -> Arc<dyn Servant> {
    let poa = poa.clone();
    servant(&telling(move || {
        let myself = Current.servant().unwrap();
        Ok(poa.servant_to_id(&myself)?.to_string())
    }))
}

#[test]
fn an_upcall_finds_the_id_of_its_servant_whatever_the_policies() {
    let world = World::new();
    let located = world.poa("A", &[SERVANT_MANAGER, USER_ID, NON_RETAIN]);
    let manager = locator(asking_for_its_id, |_| {});
    located.set_servant_manager(manager).unwrap();
    assert_eq!(world.named(&located, "x").tell().unwrap(), "x");
    let multiple = world.poa("B", &[USER_ID, MULTIPLE_ID]);
    let shared = asking_for_its_id(&multiple);
    for id in ["y", "z"] {
        multiple
            .activate_object_with_id(&id.into(), shared.clone())
            .unwrap();
    }
    for id in ["y", "z"] {
        assert_eq!(world.named(&multiple, id).tell().unwrap(), id);
    }
    let outside = multiple.servant_to_id(&shared);
    assert!(matches!(outside, Err(PoaError::WrongPolicy(_))));
}

struct Panicking;

impl IorTableLocator for Panicking {
    fn locate(&self, _: &str) -> Result<Option<ObjectRef>, DispatchError> {
        panic!("on purpose");
    }
}

#[test]
fn a_locator_of_plain_keys_that_panics_hurts_that_request_alone() {
    for world in [World::new(), World::reactive()] {
        let mine: Teller = world.root.activate(saying("hello")).unwrap();
        let theirs = world.seen(&mine);
        let table = world.server.ior_table().unwrap();
        table.set_locator(Some(Arc::new(Panicking)));
        let lost = at(&world, "lost");
        assert_eq!(lost.as_object().locate(), Ok(false));
        assert_eq!(lost.fails(), Kind::Unknown);
        assert_eq!(theirs.tell().unwrap(), "hello");
    }
}

#[test]
fn servants_and_managers_of_a_single_threaded_adapter_run_one_at_a_time() {
    const ROUNDS: u32 = 200;
    let world = World::new();
    let poa = world.poa("A", &[SERVANT_MANAGER, USER_ID, SINGLE_THREAD]);
    let (now, most) = (AtomicU32::new(0), AtomicU32::new(0));
    let at_once = Arc::new((now, most));
    let turn = move || {
        let (now, most) = &*at_once;
        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        thread::yield_now();
        now.fetch_sub(1, Ordering::SeqCst);
        most.load(Ordering::SeqCst).to_string()
    };
    let (coming, going) = (turn.clone(), turn.clone());
    let manager = activator(
        move |_| {
            coming();
            let turn = turn.clone();
            servant(&telling(move || Ok(turn())))
        },
        move |_, _, _| {
            going();
        },
    );
    poa.set_servant_manager(manager).unwrap();
    let (steady, changing) = (world.named(&poa, "steady"), world.named(&poa, "changing"));
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..ROUNDS {
                changing.tell().unwrap();
                poa.deactivate_object(&"changing".into()).unwrap();
            }
        });
        for _ in 0..ROUNDS {
            steady.tell().unwrap();
        }
    });
    assert_eq!(steady.tell().unwrap(), "1");
}

/// Adapter activator that searches for the adapter that it is being asked to make.
#[derive(Default)]
struct Echoing(Mutex<Vec<Option<FindPoaError>>>);

impl AdapterActivator for Echoing {
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> bool {
        let found = parent.find_poa(name, true);
        self.0.lock().unwrap().push(found.err());
        false
    }
}

#[test]
fn an_adapter_activator_that_asks_for_what_it_is_asked_for_finds_nothing() {
    let world = World::new();
    let echoing = Arc::new(Echoing::default());
    world.root.set_adapter_activator(Some(echoing.clone()));
    let nothing = FindPoaError::AdapterNonExistent("x".to_owned());
    let found = world.root.find_poa("x", true);
    assert_eq!(found.err(), Some(nothing.clone()));
    assert_eq!(*echoing.0.lock().unwrap(), [Some(nothing)]);
}
