//! Tree of adapters.

use super::teller::policies::{MULTIPLE_ID, NON_RETAIN, PERSISTENT, USER_ID};
use super::teller::{Teller, World, saying, servant};
use punctual::poa::{AdapterActivator, CreatePoaError, FindPoaError};
use punctual::stub::Arc;
use punctual::{Orb, Poa, RootPoa, SystemExceptionKind as Kind};
use std::sync::Mutex;

#[test]
fn adapters_stand_in_a_tree_and_find_one_another() {
    let world = World::new();
    assert_eq!(world.root.name(), "RootPOA");
    assert_eq!(world.root.parent(), None);
    let (a, b) = (world.poa("A", &[]), world.poa("B", &[]));
    let inner = a.create_poa("A", None, &[]).unwrap();
    assert_eq!(inner.parent(), Some(a.clone()));
    assert_eq!(world.root.children(), [a.clone(), b]);
    assert_eq!(world.root.find_poa("A", false), Ok(a.clone()));
    assert_eq!(a.find_poa("A", false), Ok(inner.clone()));
    let none = Err(FindPoaError::AdapterNonExistent("C".to_owned()));
    assert_eq!(a.find_poa("C", true), none);
    assert_ne!(a.id(), inner.id());
    assert_eq!(world.server.root_poa().unwrap(), world.root);
}

#[test]
fn a_name_is_given_once_among_siblings_and_must_make_sense() {
    let world = World::new();
    world.poa("A", &[]);
    let again = world.root.create_poa("A", None, &[]);
    let exists = Err(CreatePoaError::AdapterAlreadyExists("A".to_owned()));
    assert_eq!(again, exists);
    for (name, kind) in [
        ("a\0b", Kind::BadParam),
        (&"x".repeat(70_000), Kind::ImpLimit),
    ] {
        let made = world.root.create_poa(name, None, &[]);
        let Err(CreatePoaError::System(exception)) = made else {
            panic!("{made:?}");
        };
        assert_eq!(exception.kind(), kind);
    }
    let other = Orb::builder().build().unwrap();
    let manager = other.root_poa().unwrap().manager().clone();
    let made = world.root.create_poa("B", Some(&manager), &[]);
    let Err(CreatePoaError::System(exception)) = made else {
        panic!("{made:?}");
    };
    assert_eq!(exception.kind(), Kind::BadParam);
    other.shutdown(false).unwrap();
}

#[test]
fn policies_that_do_not_go_together_are_refused_by_their_index() {
    let world = World::new();
    let made = world
        .root
        .create_poa("A", None, &[USER_ID, MULTIPLE_ID, NON_RETAIN]);
    let Err(error @ CreatePoaError::InvalidPolicy { index: 2, .. }) = made else {
        panic!("{made:?}");
    };
    assert_eq!(
        error.to_string(),
        "the POA `A` cannot have its policy number 2: NON_RETAIN needs USE_DEFAULT_SERVANT or \
         USE_SERVANT_MANAGER: without a map no servant would be found"
    );
    assert!(world.root.children().is_empty());
}

#[test]
fn an_object_at_any_depth_is_called_alike() {
    let world = World::new();
    let mut poa = world.root.clone();
    for depth in 1..=20 {
        let manager = world.root.manager();
        poa = poa
            .create_poa(&format!("level {depth}"), Some(manager), &[])
            .unwrap();
        let mine: Teller = poa.activate(saying(&depth.to_string())).unwrap();
        assert_eq!(world.seen(&mine).tell().unwrap(), depth.to_string());
    }
    // The depth is bounded.
    let error = (0..300).find_map(|_| match poa.create_poa("deeper", None, &[]) {
        Ok(deeper) => {
            poa = deeper;
            None
        }
        Err(error) => Some(error),
    });
    let Some(CreatePoaError::System(exception)) = error else {
        panic!("{error:?}");
    };
    assert_eq!(exception.kind(), Kind::ImpLimit);
}

/// Adapter activator that makes the requested adapters; those whose name begins with a capital also
/// get an activator for their children.
#[derive(Default)]
struct Activator {
    asked: Mutex<Vec<String>>,
}

/// Adapter activator of one adapter, which shares its record with all others.
struct Asked(Arc<Activator>);

impl AdapterActivator for Asked {
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> bool {
        self.0.asked.lock().unwrap().push(name.to_owned());
        assert_ne!(name, "Panic", "on purpose");
        if !name.starts_with(char::is_uppercase) {
            return false;
        }
        let manager = parent.manager();
        let child = parent
            .create_poa(name, Some(manager), &[PERSISTENT, USER_ID])
            .unwrap();
        child.set_adapter_activator(Some(Arc::new(Asked(self.0.clone()))));
        let object = servant(&saying(name));
        child.activate_object_with_id(&"x".into(), object).unwrap();
        true
    }
}

#[test]
fn an_adapter_activator_makes_adapters_that_requests_ask_for() {
    let world = World::new();
    let activator = Arc::new(Activator::default());
    // References to adapters of a former process.
    let (deep, missing) = {
        let a = world.poa("A", &[PERSISTENT, USER_ID]);
        let b = a.create_poa("B", None, &[PERSISTENT, USER_ID]).unwrap();
        let c = a.create_poa("c", None, &[PERSISTENT, USER_ID]).unwrap();
        let references = (world.named(&b, "x"), world.named(&c, "x"));
        a.destroy(true, true).unwrap();
        references
    };
    assert_eq!(deep.fails(), Kind::ObjectNotExist);
    world
        .root
        .set_adapter_activator(Some(Arc::new(Asked(activator.clone()))));
    assert!(world.root.adapter_activator().is_some());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(deep.tell().unwrap(), "B"));
        }
    });
    assert_eq!(missing.fails(), Kind::ObjectNotExist);
    // Each was made once, however many calls asked.
    assert_eq!(*activator.asked.lock().unwrap(), ["A", "B", "c"]);
}

#[test]
fn finding_an_adapter_asks_the_activator_if_it_is_told_to() {
    let world = World::new();
    let activator = Arc::new(Activator::default());
    world
        .root
        .set_adapter_activator(Some(Arc::new(Asked(activator.clone()))));
    let none = |name: &str| Err(FindPoaError::AdapterNonExistent(name.to_owned()));
    assert_eq!(world.root.find_poa("A", false), none("A"));
    assert_eq!(world.root.find_poa("A", true).unwrap().name(), "A");
    assert_eq!(world.root.find_poa("b", true), none("b"));
    let panicked = world.root.find_poa("Panic", true);
    let Err(FindPoaError::System(exception)) = panicked else {
        panic!("{panicked:?}");
    };
    assert_eq!(exception.kind(), Kind::ObjAdapter);
    world.root.set_adapter_activator(None);
    assert_eq!(world.root.find_poa("C", true), none("C"));
}
