//! Model: an object is removed exactly once, after its last call, and is never confused with
//! another.

use super::{ActiveMap, Pinned, by_entry, explore, servant};
use crate::entry::EntryId;
use crate::slot::{Slot, Unpinned};
use punctual_models::loom::sync::Arc;
use punctual_models::loom::thread;

fn spawn(map: &Arc<ActiveMap>, act: impl FnOnce(&ActiveMap) + 'static) -> thread::JoinHandle<()> {
    let map = map.clone();
    thread::spawn(move || act(&map))
}

/// Reads the pinned object, so that loom detects a concurrent write.
fn call(map: &ActiveMap, entry_id: EntryId) {
    if let Some(pinned) = map.pin(entry_id) {
        check_entry(&pinned);
    }
}

fn check_entry(pinned: &Pinned<'_>) {
    assert_eq!(pinned.id.as_deref(), None);
}

#[test]
fn an_object_is_removed_once_after_all_who_called_it() {
    explore("two calls and a deactivation", || {
        let (map, gone) = by_entry();
        let entry_id = map.activate(None, servant()).unwrap();
        let one = spawn(&map, move |map| call(map, entry_id));
        let other = spawn(&map, move |map| call(map, entry_id));
        assert!(map.deactivate(entry_id));
        one.join().unwrap();
        other.join().unwrap();
        assert_eq!(gone.count(), 1);
        assert_eq!(map.len(), 0);
        assert!(map.pin(entry_id).is_none());
    });
}

#[test]
fn of_two_deactivations_one_succeeds() {
    explore("two deactivations and a call", || {
        let (map, gone) = by_entry();
        let entry_id = map.activate(None, servant()).unwrap();
        let done = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
        let deactivate = |done: std::sync::Arc<std::sync::atomic::AtomicU32>| {
            move |map: &ActiveMap| {
                let did = u32::from(map.deactivate(entry_id));
                done.fetch_add(did, std::sync::atomic::Ordering::Relaxed);
            }
        };
        let one = spawn(&map, deactivate(done.clone()));
        let other = spawn(&map, deactivate(done.clone()));
        call(&map, entry_id);
        one.join().unwrap();
        other.join().unwrap();
        assert_eq!(done.load(std::sync::atomic::Ordering::Relaxed), 1);
        assert_eq!(gone.count(), 1);
    });
}

#[test]
fn an_upcall_that_deactivates_its_own_object_goes_on_with_it() {
    explore("deactivation in its own call", || {
        let (map, gone) = by_entry();
        let entry_id = map.activate(None, servant()).unwrap();
        let other = spawn(&map, move |map| call(map, entry_id));
        if let Some(pinned) = map.pin(entry_id) {
            assert!(map.deactivate(entry_id));
            assert_eq!(gone.count(), 0, "it is pinned here");
            check_entry(&pinned);
        }
        other.join().unwrap();
        assert_eq!(gone.count(), 1);
    });
}

#[test]
fn a_newcomer_is_never_shown_to_who_knows_the_place_of_another() {
    explore("a slot used again", || {
        let (map, gone) = by_entry();
        let old = map.activate(None, servant()).unwrap();
        let stale = spawn(&map, move |map| {
            for _ in 0..2 {
                if let Some(pinned) = map.pin(old) {
                    assert_eq!(pinned.id.as_deref(), None, "the newcomer has an id");
                }
            }
        });
        assert!(map.deactivate(old));
        let new = map.activate(Some(b"newcomer"), servant()).unwrap();
        assert_ne!(old, new);
        assert_eq!(map.pin(new).unwrap().id.as_deref(), Some(&b"newcomer"[..]));
        stale.join().unwrap();
        assert_eq!(gone.count(), 1);
        assert_eq!(map.len(), 1);
    });
}

#[test]
fn a_new_segment_is_whole_when_its_places_are_known() {
    explore("a lookup while the map grows", || {
        let (map, _) = by_entry();
        for _ in 0..2 {
            map.activate(None, servant()).unwrap();
        }
        let next = EntryId {
            index: 2,
            generation: 0,
        };
        let early = spawn(&map, move |map| call(map, next));
        assert_eq!(map.activate(None, servant()), Ok(next));
        early.join().unwrap();
    });
}

/// Model of the slot's control word alone, with more threads.
#[test]
fn a_slot_gives_its_entry_to_one() {
    explore("a slot", || {
        let slot = Arc::new(Slot::new());
        assert_eq!(slot.fill(1), Ok(0));
        let acts: [fn(&Slot<i32>) -> u32; 3] = [enter, enter, close];
        let threads = acts.map(|act| {
            let slot = slot.clone();
            thread::spawn(move || act(&slot))
        });
        let took: u32 = threads.map(|thread| thread.join().unwrap()).iter().sum();
        assert_eq!(took, 1);
        assert_eq!(slot.fill(2), Ok(1));
        assert!(slot.pin(0).is_none());
        assert_eq!(*slot.pin(1).unwrap(), 2);
    });
}

fn enter(slot: &Slot<i32>) -> u32 {
    slot.pin(0).map_or(0, |pin| {
        assert_eq!(*pin, 1);
        leave(pin)
    })
}

fn close(slot: &Slot<i32>) -> u32 {
    let pin = slot.pin(0).unwrap();
    assert!(pin.close());
    assert_eq!(*pin, 1);
    leave(pin)
}

fn leave(pin: crate::slot::Pin<'_, i32>) -> u32 {
    match pin.unpin() {
        Unpinned::Last(mut last) => {
            assert_eq!(last.take(), Some(1));
            assert!(last.free());
            1
        }
        Unpinned::NoWork | Unpinned::Watched => 0,
    }
}
