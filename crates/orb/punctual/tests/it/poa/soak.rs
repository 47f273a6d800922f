//! Objects and adapters that come and go while they are called.

use super::teller::policies::USER_ID;
use super::teller::{Teller, World, saying, servant};
use punctual::{ObjectId, SystemExceptionKind as Kind};
use std::sync::atomic::{AtomicBool, Ordering};

/// Makes calls that succeed or find that the object no longer exists, until stopped; returns the
/// number that succeeded.
fn call_until(stop: &AtomicBool, theirs: &[Teller]) -> usize {
    let mut succeeded = 0;
    while !stop.load(Ordering::SeqCst) {
        for one in theirs {
            match one.tell() {
                Ok(told) => {
                    assert_eq!(told, "hello");
                    succeeded += 1;
                }
                Err(exception) => assert_eq!(exception.kind(), Kind::ObjectNotExist),
            }
        }
    }
    succeeded
}

#[test]
fn objects_may_come_and_go_under_load() {
    let world = World::new();
    let poa = world.poa("A", &[USER_ID]);
    let ids: Vec<ObjectId> = (0..8).map(|id| format!("{id}").as_str().into()).collect();
    let theirs: Vec<Teller> = ids
        .iter()
        .map(|id| world.named(&poa, &id.to_string()))
        .collect();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let callers: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| call_until(&stop, &theirs)))
            .collect();
        let churners: Vec<_> = ids
            .chunks(2)
            .map(|own| {
                let poa = &poa;
                scope.spawn(move || {
                    for _ in 0..2_000 {
                        for id in own {
                            poa.activate_object_with_id(id, servant(&saying("hello")))
                                .unwrap();
                        }
                        for id in own {
                            poa.deactivate_object(id).unwrap();
                        }
                    }
                })
            })
            .collect();
        churners
            .into_iter()
            .for_each(|churner| churner.join().unwrap());
        for id in &ids {
            poa.activate_object_with_id(id, servant(&saying("hello")))
                .unwrap();
        }
        // Whatever happened in between, all are there now.
        for one in &theirs {
            assert_eq!(one.tell().unwrap(), "hello");
        }
        stop.store(true, Ordering::SeqCst);
        for caller in callers {
            caller.join().unwrap();
        }
    });
    assert_eq!(poa.active_objects(), 8);
}

#[test]
fn adapters_may_come_and_go_under_load() {
    let world = World::new();
    let stays = world.poa("stays", &[USER_ID]);
    stays
        .activate_object_with_id(&"x".into(), servant(&saying("hello")))
        .unwrap();
    let theirs = [world.named(&stays, "x")];
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let callers: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| call_until(&stop, &theirs)))
            .collect();
        for number in 0..150 {
            let poa = world.poa(&format!("goes {}", number % 3), &[USER_ID]);
            poa.activate_object_with_id(&"x".into(), servant(&saying("hello")))
                .unwrap();
            let there = world.named(&poa, "x");
            assert_eq!(there.tell().unwrap(), "hello");
            poa.destroy(true, true).unwrap();
            assert_eq!(there.fails(), Kind::ObjectNotExist);
        }
        stop.store(true, Ordering::SeqCst);
        for caller in callers {
            assert!(caller.join().unwrap() > 0);
        }
    });
}
