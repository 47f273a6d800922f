//! Model: threads that wait for calls to end, or for a deactivation, are woken when that has
//! happened, and not earlier.

use super::{by_entry, by_id, explore, servant};
use punctual_models::loom::cell::UnsafeCell;
use punctual_models::loom::sync::Arc;
use punctual_models::loom::sync::atomic::{AtomicU32, Ordering};
use punctual_models::loom::thread;

/// State of a POA manager, which calls read once they have pinned an object, and data that only
/// calls may touch while the manager is active.
struct Manager {
    /// Atomic that is not part of the modelled code: its accesses are `SeqCst`, which loom does not
    /// model, so the modelled code has to provide the order.
    holds: AtomicU32,
    /// Data that calls write: loom reports a call that was not waited for as a data race.
    served: UnsafeCell<u32>,
}

impl Manager {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            holds: AtomicU32::new(0),
            served: UnsafeCell::new(0),
        })
    }

    fn admits(&self) -> bool {
        self.holds.load(Ordering::SeqCst) == 0
    }
}

#[test]
fn who_holds_calls_waits_for_all_that_were_admitted() {
    explore("a manager that holds", || {
        let (map, _) = by_entry();
        let manager = Manager::new();
        let entry_id = map.activate(None, servant()).unwrap();
        let call = {
            let (map, manager) = (map.clone(), manager.clone());
            thread::spawn(move || {
                let pinned = map.pin(entry_id).unwrap();
                if manager.admits() {
                    manager.served.with_mut(|_| ());
                }
                drop(pinned);
            })
        };
        manager.holds.store(1, Ordering::SeqCst);
        map.wait_until_unpinned(&|| false);
        manager.served.with_mut(|_| ());
        call.join().unwrap();
    });
}

#[test]
fn who_holds_calls_waits_for_those_of_an_object_that_has_just_come() {
    explore("a manager that holds, and a newcomer", || {
        let (map, _) = by_entry();
        let manager = Manager::new();
        let call = {
            let (map, manager) = (map.clone(), manager.clone());
            thread::spawn(move || {
                let entry_id = map.activate(None, servant()).unwrap();
                let pinned = map.pin(entry_id).unwrap();
                if manager.admits() {
                    manager.served.with_mut(|_| ());
                }
                drop(pinned);
            })
        };
        manager.holds.store(1, Ordering::SeqCst);
        map.wait_until_unpinned(&|| false);
        manager.served.with_mut(|_| ());
        call.join().unwrap();
    });
}

#[test]
fn two_who_wait_are_woken() {
    explore("two managers that hold", || {
        let (map, _) = by_entry();
        let entry_id = map.activate(None, servant()).unwrap();
        let pinned_by = {
            let map = map.clone();
            thread::spawn(move || drop(map.pin(entry_id)))
        };
        let other = {
            let map = map.clone();
            thread::spawn(move || map.wait_until_unpinned(&|| false))
        };
        map.wait_until_unpinned(&|| false);
        pinned_by.join().unwrap();
        other.join().unwrap();
    });
}

#[test]
fn who_waits_for_calls_waits_for_deactivations_too() {
    explore("a deactivation that is waited for", || {
        let (map, gone) = by_entry();
        let entry_id = map.activate(None, servant()).unwrap();
        let pinned = map.pin(entry_id).unwrap();
        assert!(map.deactivate(entry_id));
        let wait = {
            let (map, gone) = (map.clone(), gone.clone());
            thread::spawn(move || {
                map.wait_until_unpinned(&|| false);
                assert_eq!(gone.count(), 1);
            })
        };
        drop(pinned);
        wait.join().unwrap();
    });
}

#[test]
fn who_waits_while_an_id_is_deactivated_has_it_next() {
    explore("an id that is waited for", || {
        let (map, gone) = by_id();
        let entry_id = map.activate(Some(b"a"), servant()).unwrap();
        let call = {
            let map = map.clone();
            thread::spawn(move || drop(map.pin(entry_id)))
        };
        assert!(map.deactivate(entry_id));
        map.wait_while_closing(b"a");
        assert_eq!(gone.count(), 1);
        let next = map.activate(Some(b"a"), servant()).unwrap();
        assert_eq!(next.index, entry_id.index);
        call.join().unwrap();
    });
}
