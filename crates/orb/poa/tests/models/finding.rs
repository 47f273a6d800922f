//! Model: an active object is found by its id, whatever other threads change meanwhile.

use super::{ActiveMap, by_id, explore, map_of, servant};
use crate::entry::Ids;
use crate::index::Strategy;
use crate::pinned::Lookup;
use punctual_models::loom::sync::Arc;
use punctual_models::loom::thread;

/// Searches for an id on a thread. The hash of an id is its single octet. There are two buckets at
/// first; their number doubles when another object is added to as many objects as there are
/// buckets.
fn find(map: &Arc<ActiveMap>, id: &'static [u8]) -> thread::JoinHandle<bool> {
    let map = map.clone();
    thread::spawn(move || is_found(&map, id))
}

fn is_found(map: &ActiveMap, id: &[u8]) -> bool {
    matches!(map.find_by_strategy(id), Lookup::Pinned(pinned) if pinned.is_named(id))
}

#[test]
fn an_object_is_found_while_its_neighbour_goes_into_another_chain() {
    explore("a neighbour that goes", || {
        let (map, _) = by_id();
        // In one bucket, in this order: 0, 4, 2.
        let neighbour = map.activate(Some(&[4]), servant()).unwrap();
        map.activate(Some(&[2]), servant()).unwrap();
        let found = find(&map, &[2]);
        assert!(map.deactivate(neighbour));
        map.activate(Some(&[1]), servant()).unwrap();
        assert!(found.join().unwrap());
    });
}

#[test]
fn an_object_is_found_while_its_neighbour_goes_and_nothing_comes() {
    explore("a neighbour that is free", || {
        let (map, _) = by_id();
        let neighbour = map.activate(Some(&[0]), servant()).unwrap();
        map.activate(Some(&[4]), servant()).unwrap();
        let found = find(&map, &[4]);
        assert!(map.deactivate(neighbour));
        assert!(found.join().unwrap());
    });
}

#[test]
fn an_object_is_found_while_another_comes_before_it() {
    explore("a neighbour that comes", || {
        let (map, _) = by_id();
        map.activate(Some(&[4]), servant()).unwrap();
        let found = find(&map, &[4]);
        map.activate(Some(&[0]), servant()).unwrap();
        assert!(found.join().unwrap());
    });
}

#[test]
fn an_object_is_found_while_there_come_more_buckets() {
    explore("more buckets", || {
        let (map, _) = by_id();
        for id in [0, 4, 2, 6] {
            map.activate(Some(&[id]), servant()).unwrap();
        }
        let found = find(&map, &[6]);
        // The fifth makes eight of four, and an entrance before 6.
        map.activate(Some(&[14]), servant()).unwrap();
        assert!(found.join().unwrap());
        for id in [0, 4, 2, 6, 14] {
            assert!(is_found(&map, &[id]));
        }
    });
}

#[test]
fn an_id_is_active_or_being_deactivated_until_it_is_removed() {
    for strategy in [Strategy::DynamicHash, Strategy::Linear, Strategy::Active] {
        let by_entry = matches!(strategy, Strategy::Active);
        explore("an id that goes", move || {
            let (map, gone) = map_of(strategy.clone(), Ids::User);
            let entry_id = map.activate(Some(b"a"), servant()).unwrap();
            let look = {
                let (map, gone) = (map.clone(), gone.clone());
                thread::spawn(move || {
                    let found = match by_entry {
                        true => map.find(b"a", Some(entry_id)),
                        false => map.find_by_strategy(b"a"),
                    };
                    if let Lookup::None = found {
                        assert_eq!(gone.count(), 1);
                    }
                })
            };
            assert!(map.deactivate(entry_id));
            look.join().unwrap();
        });
    }
}
