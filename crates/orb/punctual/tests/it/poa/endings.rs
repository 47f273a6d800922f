//! Ends of adapters, managers and ORBs while servants and servant managers are running.

use super::managed::{AtItsEnd, activator, ending, locator, slowly};
use super::teller::policies::{NON_RETAIN, SERVANT_MANAGER, USER_ID};
use super::teller::{Teller, World, saying, servant, telling};
use punctual::poa::{AdapterActivator, ManagerState, PoaError, ServantManager};
use punctual::stub::{Arc, Servant};
use punctual::{ObjectId, Poa, SystemExceptionKind as Kind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Barrier, Mutex, OnceLock, mpsc};
use std::thread;

fn with(world: &World, manager: ServantManager) -> Poa {
    let poa = world.poa("A", &[SERVANT_MANAGER, USER_ID]);
    poa.set_servant_manager(manager).unwrap();
    poa
}

/// Adapter activator that creates no adapters.
struct Idle;

impl AdapterActivator for Idle {
    fn unknown_adapter(&self, _: &Poa, _: &str) -> bool {
        false
    }
}

#[test]
fn a_servant_that_comes_while_its_adapter_is_destroyed_is_given_back_at_once() {
    let world = World::new();
    let (late, asked, leave) = slowly(|| servant(&saying("late")));
    let given_back = Arc::new(AtomicU32::new(0));
    let counted = given_back.clone();
    let manager = activator(
        move |_| late(),
        move |_, _, _| {
            counted.fetch_add(1, Ordering::SeqCst);
        },
    );
    let poa = with(&world, manager);
    let idle = Arc::new(Idle);
    poa.set_adapter_activator(Some(idle.clone()));
    let theirs = world.named(&poa, "x");
    thread::scope(|scope| {
        let call = scope.spawn(|| theirs.fails());
        asked.recv().unwrap();
        let destroyer = scope.spawn(|| poa.destroy(true, true));
        // The adapter drops it when its objects are deactivated.
        while Arc::strong_count(&idle) > 1 {
            thread::yield_now();
        }
        assert!(!destroyer.is_finished());
        leave.send(()).unwrap();
        let told = call.join().unwrap();
        assert!(
            matches!(told, Kind::Transient | Kind::ObjectNotExist),
            "{told:?}"
        );
        destroyer.join().unwrap().unwrap();
    });
    assert_eq!(poa.active_objects(), 0);
    assert_eq!(given_back.load(Ordering::SeqCst), 1);
}

#[test]
fn a_servant_that_comes_while_its_manager_is_deactivated_is_given_back() {
    let world = World::new();
    let factory = world.root.manager_factory();
    let manager = factory.create_poa_manager("own").unwrap();
    manager.activate().unwrap();
    let policies = [SERVANT_MANAGER, USER_ID];
    let poa = world
        .root
        .create_poa("A", Some(&manager), &policies)
        .unwrap();
    let (late, asked, leave) = slowly(|| servant(&saying("late")));
    let given_back = Arc::new(AtomicU32::new(0));
    let counted = given_back.clone();
    let servants = activator(
        move |_| late(),
        move |_, _, _| {
            counted.fetch_add(1, Ordering::SeqCst);
        },
    );
    poa.set_servant_manager(servants).unwrap();
    let theirs = world.named(&poa, "x");
    thread::scope(|scope| {
        let call = scope.spawn(|| theirs.tell());
        asked.recv().unwrap();
        let deactivation = scope.spawn(|| manager.deactivate(true, true));
        while manager.state() != ManagerState::Inactive {
            thread::yield_now();
        }
        assert!(!deactivation.is_finished());
        leave.send(()).unwrap();
        // The call was in progress: it may be served, or refused.
        let told = call.join().unwrap().map_err(|exception| exception.kind());
        let turned_away = matches!(told, Err(Kind::ObjAdapter | Kind::Transient));
        assert!(turned_away || told == Ok("late".to_owned()), "{told:?}");
        deactivation.join().unwrap().unwrap();
    });
    assert_eq!(poa.active_objects(), 0);
    assert_eq!(given_back.load(Ordering::SeqCst), 1);
}

#[test]
fn an_adapter_that_goes_gets_no_more_children() {
    let world = World::new();
    let parent = world.poa("P", &[]);
    let shared = Some(world.root.manager());
    let child = parent
        .create_poa("C", shared, &[SERVANT_MANAGER, USER_ID])
        .unwrap();
    let made = Arc::new(Mutex::new(Vec::new()));
    let noted = made.clone();
    let manager = activator(
        |_| servant(&saying("x")),
        move |_, poa, _| {
            let parent = poa.parent().unwrap();
            let sibling = parent.create_poa("new", None, &[]);
            noted.lock().unwrap().push(sibling.is_ok());
        },
    );
    child.set_servant_manager(manager).unwrap();
    world.named(&child, "x").tell().unwrap();
    parent.destroy(true, true).unwrap();
    assert_eq!(*made.lock().unwrap(), [false]);
    assert!(parent.create_poa("late", None, &[]).is_err());
}

#[test]
fn objects_that_are_activated_while_their_adapter_is_destroyed_go_with_it() {
    let world = World::new();
    for round in 0..200 {
        let poa = world.poa("A", &[]);
        let both = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                both.wait();
                while poa.activate::<Teller, _>(saying("x")).is_ok() {}
            });
            both.wait();
            poa.destroy(true, true).unwrap();
        });
        assert_eq!(poa.active_objects(), 0, "round {round}");
    }
}

#[test]
fn an_object_that_ends_is_not_activated_anew_by_its_own_end() {
    let world = World::new();
    let results = Arc::new(Mutex::new(Vec::new()));
    let noted = results.clone();
    let again = move |poa: &Poa, id: &ObjectId, servant: Arc<dyn Servant>| {
        let result = poa.activate_object_with_id(id, servant);
        noted.lock().unwrap().push(result);
    };
    let in_drop = again.clone();
    let manager = activator(
        |_| servant(&saying("x")),
        move |id, poa, servant| again(poa, id, servant),
    );
    let poa = with(&world, manager);
    let theirs = world.named(&poa, "x");
    theirs.tell().unwrap();
    poa.deactivate_object(&"x".into()).unwrap();
    let plain = world.poa("plain", &[USER_ID]);
    let inside = plain.clone();
    let last = ending(move || in_drop(&inside, &"y".into(), servant(&saying("new"))));
    plain
        .activate_object_with_id(&"y".into(), servant(&last))
        .unwrap();
    drop(last);
    plain.deactivate_object(&"y".into()).unwrap();
    let active = Err(PoaError::ObjectAlreadyActive);
    assert_eq!(*results.lock().unwrap(), [active.clone(), active]);
    // Afterwards both are allowed.
    assert_eq!(theirs.tell().unwrap(), "x");
    plain
        .activate_object_with_id(&"y".into(), servant(&saying("y")))
        .unwrap();
}

/// Activates a servant that panics when it is dropped.
fn activate_bomb(poa: &Poa) {
    let bomb = ending(|| panic!("on purpose"));
    poa.activate_object_with_id(&"bomb".into(), servant(&bomb))
        .unwrap();
}

#[test]
fn a_servant_that_panics_at_its_end_keeps_no_adapter_alive() {
    for wait in [true, false] {
        let world = World::new();
        let poa = world.poa("A", &[USER_ID]);
        activate_bomb(&poa);
        poa.activate_object_with_id(&"b".into(), servant(&saying("b")))
            .unwrap();
        poa.destroy(true, wait).unwrap();
        assert_eq!(poa.active_objects(), 0);
        poa.destroy(true, true).unwrap();
    }
}

#[test]
fn a_servant_that_panics_at_its_end_keeps_no_orb_alive() {
    let world = World::new();
    activate_bomb(&world.poa("A", &[USER_ID]));
    let let_go = Arc::new(AtomicBool::new(false));
    let noted = let_go.clone();
    let other = ending(move || noted.store(true, Ordering::SeqCst));
    world.root.activate_object(servant(&other)).unwrap();
    drop(other);
    thread::scope(|scope| {
        let runner = scope.spawn(|| world.server.run());
        world.server.shutdown(true).unwrap();
        runner.join().unwrap();
    });
    assert!(let_go.load(Ordering::SeqCst));
}

#[test]
fn an_object_that_ends_itself_and_panics_at_its_end_is_answered_for_what_it_did() {
    let world = World::new();
    let poa = world.poa("A", &[USER_ID]);
    let call = |does: fn() -> String| {
        let (inside, end) = (poa.clone(), AtItsEnd::does(|| panic!("on purpose")));
        let mine = telling(move || {
            let _kept = &end;
            inside.deactivate_object(&"x".into())?;
            Ok(does())
        });
        poa.activate_object_with_id(&"x".into(), servant(&mine))
            .unwrap();
        drop(mine);
        world.named(&poa, "x").tell()
    };
    assert_eq!(call(|| "done".to_owned()).unwrap(), "done");
    let panicked = call(|| panic!("on purpose")).unwrap_err();
    assert_eq!(panicked.kind(), Kind::Unknown);
    assert_eq!(poa.active_objects(), 0);
    poa.destroy(true, true).unwrap();
}

/// Servant that uses its adapter when it is dropped.
struct Looking(Poa, mpsc::Sender<bool>);

impl AdapterActivator for Looking {
    fn unknown_adapter(&self, _: &Poa, _: &str) -> bool {
        false
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        self.1.send(self.0.adapter_activator().is_some()).unwrap();
    }
}

#[test]
fn an_adapter_activator_may_look_at_its_adapter_when_it_is_let_go() {
    let world = World::new();
    let poa = world.poa("A", &[]);
    let (sender, looked) = mpsc::channel();
    let looking = Looking(poa.clone(), sender);
    poa.set_adapter_activator(Some(Arc::new(looking)));
    poa.destroy(true, true).unwrap();
    assert_eq!(looked.recv(), Ok(false));
}

#[test]
fn a_servant_manager_is_let_go_with_its_adapter_even_if_it_holds_that() {
    for holds in [false, true] {
        let world = World::new();
        let poa = world.poa("A", &[SERVANT_MANAGER, USER_ID, NON_RETAIN]);
        let held = OnceLock::new();
        if holds {
            held.set(poa.clone()).unwrap();
        }
        let (sender, let_go) = mpsc::channel();
        let sender = Mutex::new(sender);
        let end = AtItsEnd::does(move || sender.lock().unwrap().send(()).unwrap());
        let manager = locator(
            move |_| {
                let _kept = (&held, &end);
                servant(&saying("x"))
            },
            |_| {},
        );
        poa.set_servant_manager(manager).unwrap();
        world.named(&poa, "x").tell().unwrap();
        assert!(let_go.try_recv().is_err());
        poa.destroy(true, true).unwrap();
        let_go.recv().unwrap();
    }
}
