//! Destruction of adapters.

use super::teller::policies::USER_ID;
use super::teller::{Teller, World, saying, servant, telling};
use punctual::SystemExceptionKind as Kind;
use punctual::poa::PoaError;
use std::sync::{Mutex, mpsc};

#[test]
fn a_destroyed_adapter_and_those_below_it_serve_no_more() {
    let world = World::new();
    let a = world.poa("A", &[]);
    let b = a.create_poa("B", Some(world.root.manager()), &[]).unwrap();
    let (in_a, in_b): (Teller, Teller) = (
        a.activate(saying("a")).unwrap(),
        b.activate(saying("b")).unwrap(),
    );
    let (in_a, in_b) = (world.seen(&in_a), world.seen(&in_b));
    assert_eq!(in_a.tell().unwrap() + &in_b.tell().unwrap(), "ab");
    a.destroy(true, true).unwrap();
    assert_eq!(in_a.fails(), Kind::ObjectNotExist);
    assert_eq!(in_b.fails(), Kind::ObjectNotExist);
    assert!(world.root.children().is_empty());
    let activated = b.activate::<Teller, _>(saying("late"));
    let Err(PoaError::System(exception)) = activated else {
        panic!("{activated:?}");
    };
    assert_eq!(exception.kind(), Kind::ObjectNotExist);
    // Destroying a destroyed adapter does nothing.
    a.destroy(true, true).unwrap();
    // Its name is free, but its references do not lead to the next one.
    let again = world.poa("A", &[]);
    let _other: Teller = again.activate(saying("other")).unwrap();
    assert_eq!(in_a.fails(), Kind::ObjectNotExist);
}

#[test]
fn destruction_waits_for_calls_in_progress_if_it_is_told_to() {
    for wait in [true, false] {
        let world = World::new();
        let poa = world.poa("A", &[]);
        let (entered, has_entered) = mpsc::channel();
        let (leave, may_leave) = mpsc::channel::<()>();
        let may_leave = Mutex::new(may_leave);
        let mine: Teller = poa
            .activate(telling(move || {
                entered.send(()).unwrap();
                may_leave.lock().unwrap().recv().unwrap();
                Ok("finished".to_owned())
            }))
            .unwrap();
        let theirs = world.seen(&mine);
        std::thread::scope(|scope| {
            let call = scope.spawn(|| theirs.tell().unwrap());
            has_entered.recv().unwrap();
            let destroyer = scope.spawn(|| poa.destroy(true, wait).unwrap());
            if wait {
                while theirs.as_client_is_served() {
                    crate::support::pause();
                }
                assert!(!destroyer.is_finished());
                leave.send(()).unwrap();
                destroyer.join().unwrap();
            } else {
                destroyer.join().unwrap();
                leave.send(()).unwrap();
            }
            assert_eq!(call.join().unwrap(), "finished");
        });
    }
}

trait Served {
    fn as_client_is_served(&self) -> bool;
}

impl Served for Teller {
    /// Returns whether a LocateRequest, which calls no servant, finds the object.
    fn as_client_is_served(&self) -> bool {
        punctual::Interface::as_object(self).locate().unwrap()
    }
}

#[test]
fn an_upcall_may_destroy_its_own_adapter_but_not_wait_for_itself() {
    let world = World::new();
    let poa = world.poa("A", &[]);
    let inside = poa.clone();
    let mine: Teller = poa
        .activate(telling(move || {
            let waiting = inside.destroy(true, true).unwrap_err();
            assert_eq!(waiting.kind(), Kind::BadInvOrder);
            inside.destroy(true, false).unwrap();
            // A new one under its name would have to wait for this very upcall.
            let root = inside.parent().unwrap();
            let again = root.create_poa("A", None, &[]);
            Ok(format!("{}", again.is_err()))
        }))
        .unwrap();
    let theirs = world.seen(&mine);
    assert_eq!(theirs.tell().unwrap(), "true");
    assert_eq!(theirs.fails(), Kind::ObjectNotExist);
    // This waits until the first one is gone.
    world.poa("A", &[]);
}

#[test]
fn thousands_of_adapters_that_come_and_go_leave_nothing() {
    let world = World::new();
    for number in 0..2_000 {
        let poa = world.poa(&format!("A {}", number % 7), &[USER_ID]);
        poa.activate_object_with_id(&"x".into(), servant(&saying("x")))
            .unwrap();
        poa.destroy(false, true).unwrap();
    }
    assert!(world.root.children().is_empty());
    let managers = world.root.manager_factory().list();
    assert_eq!(managers, [world.root.manager().clone()]);
}

#[test]
fn the_orbs_shutdown_is_the_end_of_all() {
    let world = World::new();
    let poa = world.poa("A", &[]);
    let mine: Teller = poa.activate(saying("hello")).unwrap();
    world.server.shutdown(true).unwrap();
    assert_eq!(poa.active_objects(), 0);
    let late = poa.activate::<Teller, _>(saying("late"));
    let Err(PoaError::System(exception)) = late else {
        panic!("{late:?}");
    };
    assert_eq!(exception.kind(), Kind::BadInvOrder);
    assert!(poa.manager().activate().is_err());
    drop(mine);
}
