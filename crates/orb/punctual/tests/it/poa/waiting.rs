//! Operations that wait until requests have ended, and their refusal where they would wait for
//! themselves.

use super::managed::{activator, ending, locator, slowly};
use super::teller::policies::{MAIN_THREAD, NON_RETAIN, SERVANT_MANAGER, USER_ID};
use super::teller::{Teller, World, saying, servant, telling};
use punctual::poa::{ManagerError, ManagerState};
use punctual::stub::Arc;
use punctual::{Poa, SystemException, SystemExceptionKind as Kind};
use std::sync::Mutex;
use std::thread;

#[test]
fn who_waits_for_requests_returns_when_the_manager_is_activated_again() {
    let world = World::new();
    let (slow, entered, leave) = slowly(|| Ok("slow".to_owned()));
    let mine: Teller = world.root.activate(telling(slow)).unwrap();
    let theirs = world.seen(&mine);
    let manager = world.root.manager();
    thread::scope(|scope| {
        let call = scope.spawn(|| theirs.tell().unwrap());
        entered.recv().unwrap();
        for _ in 0..50 {
            let holder = scope.spawn(|| manager.hold_requests(true));
            while manager.state() != ManagerState::Holding {
                thread::yield_now();
            }
            manager.activate().unwrap();
            holder.join().unwrap().unwrap();
        }
        leave.send(()).unwrap();
        assert_eq!(call.join().unwrap(), "slow");
    });
}

fn of_manager(result: Result<(), ManagerError>) -> Result<(), SystemException> {
    result.map_err(|why| match why {
        ManagerError::System(exception) => exception,
        other => panic!("{other}"),
    })
}

type Wait = fn(&Poa) -> Result<(), SystemException>;

/// Operations that wait at least until the requests at an adapter have ended.
const WAITS: [Wait; 5] = [
    |poa| poa.destroy(true, true),
    |poa| of_manager(poa.manager().hold_requests(true)),
    |poa| of_manager(poa.manager().discard_requests(true)),
    |poa| of_manager(poa.manager().deactivate(true, true)),
    |poa| poa.orb().shutdown(true),
];

type Noted = Arc<Mutex<Vec<Kind>>>;

/// Calls the first `count` of these operations, and records the kinds of their exceptions.
fn tries_to_wait(count: usize, poa: &Poa, noted: &Noted) {
    for wait in &WAITS[..count] {
        noted.lock().unwrap().push(wait(poa).unwrap_err().kind());
    }
}

const REFUSED: [Kind; 5] = [Kind::BadInvOrder; 5];

#[test]
fn an_activator_is_told_that_it_would_wait_for_itself() {
    let (world, came, went) = (World::new(), Noted::default(), Noted::default());
    let (coming, going) = (came.clone(), went.clone());
    let manager = activator(
        move |poa| {
            tries_to_wait(5, poa, &coming);
            servant(&saying("x"))
        },
        move |_, poa, _| tries_to_wait(4, poa, &going),
    );
    let poa = world.poa("A", &[SERVANT_MANAGER, USER_ID]);
    poa.set_servant_manager(manager).unwrap();
    let theirs = world.named(&poa, "x");
    assert_eq!(theirs.tell().unwrap(), "x");
    assert_eq!(*came.lock().unwrap(), REFUSED);
    poa.deactivate_object(&"x".into()).unwrap();
    // The ORB's end does not wait for work that is no request.
    assert_eq!(*went.lock().unwrap(), REFUSED[..4]);
    // None of them had an effect.
    assert_eq!(theirs.tell().unwrap(), "x");
}

#[test]
fn a_locator_is_told_that_it_would_wait_for_itself() {
    let (world, before, after) = (World::new(), Noted::default(), Noted::default());
    let (coming, going) = (before.clone(), after.clone());
    let manager = locator(
        move |poa| {
            tries_to_wait(5, poa, &coming);
            servant(&saying("x"))
        },
        move |poa| tries_to_wait(5, poa, &going),
    );
    let poa = world.poa("A", &[SERVANT_MANAGER, USER_ID, NON_RETAIN]);
    poa.set_servant_manager(manager).unwrap();
    assert_eq!(world.named(&poa, "x").tell().unwrap(), "x");
    assert_eq!(*before.lock().unwrap(), REFUSED);
    assert_eq!(*after.lock().unwrap(), REFUSED);
}

#[test]
fn a_servant_is_told_at_its_end_that_it_would_wait_for_itself() {
    let (world, noted) = (World::new(), Noted::default());
    let poa = world.poa("A", &[USER_ID]);
    let (inside, told) = (poa.clone(), noted.clone());
    let last = ending(move || tries_to_wait(4, &inside, &told));
    poa.activate_object_with_id(&"x".into(), servant(&last))
        .unwrap();
    drop(last);
    poa.deactivate_object(&"x".into()).unwrap();
    assert_eq!(*noted.lock().unwrap(), REFUSED[..4]);
    poa.destroy(true, true).unwrap();
}

#[test]
fn the_main_thread_may_wait_for_the_end_of_what_waits_for_it() {
    let world = World::new();
    world.server.perform_work().unwrap();
    for (wait, expected) in [
        (WAITS[1], Ok("x".to_owned())),
        (WAITS[0], Err(Kind::Transient)),
        (WAITS[4], Err(Kind::Transient)),
    ] {
        let poa = world.poa("A", &[MAIN_THREAD]);
        let mine: Teller = poa.activate(saying("x")).unwrap();
        let theirs = world.seen(&mine);
        let told = thread::scope(|scope| {
            let call = scope.spawn(|| theirs.tell().map_err(|exception| exception.kind()));
            while !world.server.work_pending() {
                thread::yield_now();
            }
            wait(&poa).unwrap();
            let _over = poa.manager().activate();
            while !call.is_finished() {
                let _over = world.server.perform_work();
            }
            call.join().unwrap()
        });
        assert_eq!(told, expected);
        poa.destroy(true, true).unwrap();
    }
}
