//! POA managers.

use super::teller::{Teller, World, saying, telling};
use punctual::poa::{AdapterInactive, ManagerError, ManagerState};
use punctual::{PoaManager, SystemExceptionKind as Kind};
use std::sync::{Arc, Barrier, Mutex, mpsc};

#[test]
fn managers_are_made_found_and_listed_by_their_ids() {
    let world = World::new();
    let factory = world.root.manager_factory();
    assert_eq!(world.root.manager().id(), "RootPOAManager");
    let own = factory.create_poa_manager("own").unwrap();
    assert_eq!(own.state(), ManagerState::Holding);
    assert_eq!(factory.create_poa_manager("own").unwrap_err().id, "own");
    assert_eq!(factory.find("own"), Some(own.clone()));
    assert_eq!(
        factory.find("RootPOAManager").as_ref(),
        Some(world.root.manager())
    );
    assert_eq!(factory.find("other"), None);
    // An adapter without a given manager gets one of its own.
    let poa = world.root.create_poa("own", None, &[]).unwrap();
    assert_eq!(poa.manager().id(), "own 1");
    assert_eq!(factory.list().len(), 3);
    drop(own);
    assert_eq!(factory.find("own"), None);
}

#[test]
fn one_manager_holds_the_requests_of_all_its_adapters_and_of_no_other() {
    let world = World::new();
    let manager = world
        .root
        .manager_factory()
        .create_poa_manager("own")
        .unwrap();
    let adapter = |name: &str| world.root.create_poa(name, Some(&manager), &[]).unwrap();
    let held: Vec<Teller> = ["A", "B"]
        .map(|name| world.seen(&adapter(name).activate(saying(name)).unwrap()))
        .into();
    let free: Teller = world.root.activate(saying("free")).unwrap();
    let free = world.seen(&free);
    std::thread::scope(|scope| {
        let calls: Vec<_> = held
            .iter()
            .map(|one| scope.spawn(|| one.tell().unwrap()))
            .collect();
        // This call follows them on the same connection.
        assert_eq!(free.tell().unwrap(), "free");
        assert!(calls.iter().all(|call| !call.is_finished()));
        manager.activate().unwrap();
        let told: Vec<String> = calls.into_iter().map(|call| call.join().unwrap()).collect();
        assert_eq!(told, ["A", "B"]);
    });
}

#[test]
fn a_reactive_endpoint_refuses_what_it_cannot_hold_and_serves_the_others() {
    let world = World::reactive();
    let poa = world.root.create_poa("A", None, &[]).unwrap();
    let held: Teller = poa.activate(saying("held")).unwrap();
    let free: Teller = world.root.activate(saying("free")).unwrap();
    let (held, free) = (world.seen(&held), world.seen(&free));
    assert_eq!(held.fails(), Kind::Transient);
    assert_eq!(free.tell().unwrap(), "free");
    poa.manager().activate().unwrap();
    assert_eq!(held.tell().unwrap(), "held");
}

#[test]
fn requests_are_discarded_or_refused_for_good_by_state() {
    let world = World::new();
    let poa = world.root.create_poa("A", None, &[]).unwrap();
    let mine: Teller = poa.activate(saying("hello")).unwrap();
    let theirs = world.seen(&mine);
    let manager = poa.manager();
    manager.activate().unwrap();
    assert_eq!(theirs.tell().unwrap(), "hello");
    manager.discard_requests(true).unwrap();
    assert_eq!(theirs.fails(), Kind::Transient);
    manager.activate().unwrap();
    assert_eq!(theirs.tell().unwrap(), "hello");
    manager.deactivate(true, true).unwrap();
    assert_eq!(theirs.fails(), Kind::ObjAdapter);
    let inactive = ManagerError::AdapterInactive(AdapterInactive);
    assert_eq!(manager.activate(), Err(AdapterInactive));
    assert_eq!(manager.hold_requests(true), Err(inactive.clone()));
    assert_eq!(manager.discard_requests(false), Err(inactive));
    manager.deactivate(true, true).unwrap();
}

/// Runs `change` on a manager while a call is in progress, and checks that `change` does not return
/// before the call ends.
fn while_a_call_is_in_progress(change: fn(&PoaManager) -> Result<(), ManagerError>) {
    let world = World::new();
    let poa = world.root.create_poa("A", None, &[]).unwrap();
    poa.manager().activate().unwrap();
    let (entered, has_entered) = mpsc::channel();
    let (leave, may_leave) = mpsc::channel::<()>();
    let may_leave = Mutex::new(may_leave);
    let mine: Teller = poa
        .activate(telling(move || {
            entered.send(()).unwrap();
            may_leave.lock().unwrap().recv().unwrap();
            Ok("done".to_owned())
        }))
        .unwrap();
    let theirs = world.seen(&mine);
    std::thread::scope(|scope| {
        let call = scope.spawn(|| theirs.tell().unwrap());
        has_entered.recv().unwrap();
        let changer = scope.spawn(|| change(poa.manager()).unwrap());
        while poa.manager().state() == ManagerState::Active {
            crate::support::pause();
        }
        assert!(!changer.is_finished());
        leave.send(()).unwrap();
        changer.join().unwrap();
        assert_eq!(call.join().unwrap(), "done");
    });
}

#[test]
fn a_change_of_state_waits_for_calls_in_progress_if_it_is_told_to() {
    while_a_call_is_in_progress(|manager| manager.hold_requests(true));
    while_a_call_is_in_progress(|manager| manager.discard_requests(true));
    while_a_call_is_in_progress(|manager| manager.deactivate(true, true));
}

#[test]
fn an_upcall_does_not_wait_for_itself() {
    let world = World::new();
    let manager = world.root.manager().clone();
    let mine: Teller = world
        .root
        .activate(telling(move || {
            let kind = |outcome: Result<(), ManagerError>| match outcome {
                Err(ManagerError::System(exception)) => exception.kind(),
                other => panic!("{other:?}"),
            };
            assert_eq!(kind(manager.hold_requests(true)), Kind::BadInvOrder);
            assert_eq!(kind(manager.discard_requests(true)), Kind::BadInvOrder);
            assert_eq!(kind(manager.deactivate(true, true)), Kind::BadInvOrder);
            manager.hold_requests(false).unwrap();
            manager.activate().unwrap();
            Ok("went on".to_owned())
        }))
        .unwrap();
    assert_eq!(world.seen(&mine).tell().unwrap(), "went on");
}

#[test]
fn no_call_passes_a_manager_that_was_not_active_before_it_was_made() {
    let world = World::new();
    let poa = world.root.create_poa("A", None, &[]).unwrap();
    let manager = poa.manager();
    manager.activate().unwrap();
    let inside = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counting = inside.clone();
    let mine: Teller = poa
        .activate(telling(move || {
            counting.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            crate::support::pause();
            counting.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
            Ok(String::new())
        }))
        .unwrap();
    let theirs = world.seen(&mine);
    let start = Barrier::new(3);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                start.wait();
                for _ in 0..500 {
                    theirs.tell().unwrap();
                }
            });
        }
        start.wait();
        for _ in 0..200 {
            manager.hold_requests(true).unwrap();
            assert_eq!(inside.load(std::sync::atomic::Ordering::SeqCst), 0);
            manager.activate().unwrap();
        }
    });
}
