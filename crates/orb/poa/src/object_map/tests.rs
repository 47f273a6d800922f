//! Tests of the map's behaviour through its interface.

use super::*;
use crate::servant::Servant;
use punctual_orb::{DispatchError, Dispatched, ServerCall};
use std::any::Any;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

struct Nothing(#[allow(dead_code)] u8);

impl Servant for Nothing {
    fn repository_ids(&self) -> &'static [&'static str] {
        &[]
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        Err(call.bad_operation())
    }

    fn operations(&self) -> &'static [&'static str] {
        &["ping", "pong"]
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        self
    }
}

/// Listener that records the objects removed from the map.
#[derive(Clone, Default)]
struct Gone(Arc<Mutex<Vec<Deactivated>>>);

impl OnDeactivated for Gone {
    fn deactivated(&self, object: Deactivated) {
        self.0.lock().unwrap().push(object);
    }
}

impl Gone {
    fn ids(&self) -> Vec<Vec<u8>> {
        self.0.lock().unwrap().iter().map(Deactivated::id).collect()
    }
}

fn map_of(strategy: Strategy, ids: Ids, servants: Servants) -> (ActiveMap, Gone) {
    let gone = Gone::default();
    let map = ActiveMap::new(&strategy, ids, servants, Box::new(gone.clone())).unwrap();
    (map, gone)
}

fn system() -> (ActiveMap, Gone) {
    map_of(Strategy::Active, Ids::System, Servants::Unique)
}

fn user(strategy: Strategy) -> (ActiveMap, Gone) {
    map_of(strategy, Ids::User, Servants::NotIndexed)
}

/// Returns one strategy of each kind, for objects with the given ids.
fn strategies(ids: &[&[u8]]) -> Vec<Strategy> {
    let set = ids.iter().map(|&id| Box::from(id)).collect();
    vec![
        Strategy::Active,
        Strategy::Linear,
        Strategy::DynamicHash,
        Strategy::PerfectHash(set),
        Strategy::DeLayered,
    ]
}

fn new_servant() -> Arc<dyn Servant> {
    Arc::new(Nothing(0))
}

fn servant() -> Arc<dyn Servant> {
    new_servant()
}

/// Returns whether an object is found by its entry, by its id, and by the strategy; all must agree.
fn is_found(map: &ActiveMap, id: &[u8], hint: Option<EntryId>) -> bool {
    let is = |found: Lookup<'_>| matches!(found, Lookup::Pinned(pinned) if pinned.is_named(id));
    let found = is(map.find(id, hint));
    assert_eq!(is(map.find_by_strategy(id)), found);
    found
}

#[test]
fn a_slot_used_again_tells_the_old_place_from_the_new() {
    let (map, _) = system();
    let old = map.activate(None, servant()).unwrap();
    assert!(map.deactivate(old));
    let new = map.activate(None, servant()).unwrap();
    assert_eq!(old.index, new.index);
    assert!(map.pin(old).is_none());
    assert!(!map.deactivate(old));
    assert_eq!(map.pin(new).unwrap().entry_id(), new);
}

#[test]
fn a_place_that_was_never_given_out_finds_nothing() {
    let (map, _) = system();
    map.activate(None, servant()).unwrap();
    for (index, generation) in [(1, 0), (64, 0), (1 << 20, 0), (u32::MAX, 0), (0, u32::MAX)] {
        assert!(map.pin(EntryId { index, generation }).is_none());
    }
}

#[test]
fn places_in_every_kind_of_segment_are_found() {
    let (map, _) = system();
    let entry_ids: Vec<_> = (0..if cfg!(miri) { 200 } else { 140_000 })
        .map(|_| map.activate(None, servant()).unwrap())
        .collect();
    for (index, &entry_id) in entry_ids.iter().enumerate() {
        assert_eq!(entry_id.index as usize, index);
        assert_eq!(map.pin(entry_id).unwrap().entry_id(), entry_id);
    }
    assert_eq!(map.len(), entry_ids.len());
}

#[test]
fn an_object_is_removed_with_its_last_pin() {
    let (map, gone) = system();
    let entry_id = map.activate(None, servant()).unwrap();
    let (one, other) = (map.pin(entry_id).unwrap(), map.pin(entry_id).unwrap());
    assert!(map.deactivate(entry_id));
    assert!(map.pin(entry_id).is_none());
    assert_eq!(map.len(), 0);
    drop(one);
    assert!(gone.ids().is_empty());
    assert_eq!(other.id.as_deref(), None, "what is pinned is there still");
    drop(other);
    assert_eq!(gone.ids(), [entry_id.octets()]);
}

#[test]
fn an_object_that_nobody_calls_is_removed_at_once() {
    let (map, gone) = system();
    let entry_id = map.activate(None, servant()).unwrap();
    assert!(map.deactivate(entry_id));
    assert_eq!(gone.ids(), [entry_id.octets()]);
}

#[test]
fn the_servant_that_is_given_back_is_the_one_that_was_active() {
    let (map, gone) = system();
    let one = new_servant();
    let entry_id = map.activate(None, one.clone()).unwrap();
    map.deactivate(entry_id);
    let object = gone.0.lock().unwrap().pop().unwrap();
    assert_eq!(object.entry.servant.identity(), one.identity());
    drop(object);
    assert_eq!(Arc::strong_count(&one), 1);
}

#[test]
fn an_id_is_closing_until_its_object_is_removed() {
    struct Look(mpsc::Sender<()>, Mutex<mpsc::Receiver<()>>);
    impl OnDeactivated for Look {
        fn deactivated(&self, _: Deactivated) {
            self.0.send(()).unwrap();
            self.1.lock().unwrap().recv().unwrap();
        }
    }
    for strategy in strategies(&[b"one"]) {
        let (entered, enters) = mpsc::channel();
        let (go_on, goes_on) = mpsc::channel();
        let look = Box::new(Look(entered, Mutex::new(goes_on)));
        let map = ActiveMap::new(&strategy, Ids::User, Servants::NotIndexed, look).unwrap();
        let entry_id = map.activate(Some(b"one"), servant()).unwrap();
        thread::scope(|scope| {
            let deactivation = scope.spawn(|| map.deactivate(entry_id));
            enters.recv().unwrap();
            assert!(matches!(map.find(b"one", Some(entry_id)), Lookup::Closing));
            assert!(matches!(map.find_by_strategy(b"one"), Lookup::Closing));
            assert!(matches!(map.find(b"other", None), Lookup::None));
            assert!(matches!(map.find_by_strategy(b"other"), Lookup::None));
            let again = map.activate(Some(b"one"), servant());
            assert_eq!(again, Err(Refused::Closing));
            let waits = scope.spawn(|| {
                map.wait_while_closing(b"one");
                map.activate(Some(b"one"), servant())
            });
            go_on.send(()).unwrap();
            assert!(deactivation.join().unwrap());
            assert!(waits.join().unwrap().is_ok());
        });
        go_on.send(()).unwrap();
        map.deactivate_all();
    }
}

#[test]
fn a_place_that_is_its_own_id_is_closing_until_it_is_unpinned() {
    let (map, _) = system();
    let entry_id = map.activate(None, servant()).unwrap();
    let id = entry_id.octets();
    let pinned = map.pin(entry_id).unwrap();
    map.deactivate(entry_id);
    assert!(matches!(map.find(&id, Some(entry_id)), Lookup::Closing));
    assert!(matches!(map.find_by_strategy(&id), Lookup::Closing));
    assert_eq!(map.activate(Some(&id), servant()), Err(Refused::Closing));
    drop(pinned);
    assert!(matches!(map.find(&id, Some(entry_id)), Lookup::None));
    assert!(matches!(map.find_by_strategy(&id), Lookup::None));
}

#[test]
fn an_object_that_is_removed_by_a_panic_frees_its_place() {
    struct Fails;
    impl OnDeactivated for Fails {
        fn deactivated(&self, _: Deactivated) {
            panic!("as an etherealize may");
        }
    }
    let map = ActiveMap::new(
        &Strategy::DynamicHash,
        Ids::User,
        Servants::NotIndexed,
        Box::new(Fails),
    )
    .unwrap();
    let entry_id = map.activate(Some(b"one"), servant()).unwrap();
    let outcome =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| map.deactivate(entry_id)));
    assert!(outcome.is_err());
    map.wait_while_closing(b"one");
    map.wait_until_unpinned(&|| false);
    assert!(map.activate(Some(b"one"), servant()).is_ok());
}

#[test]
fn a_pin_is_dropped_by_a_call_that_panics() {
    let (map, gone) = system();
    let entry_id = map.activate(None, servant()).unwrap();
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _pinned = map.pin(entry_id).unwrap();
        map.deactivate(entry_id);
        panic!("as an upcall may");
    }));
    assert!(outcome.is_err());
    assert_eq!(gone.ids().len(), 1);
}

#[test]
fn every_strategy_finds_each_id_and_no_other() {
    let count = if cfg!(miri) { 20 } else { 1000 };
    let ids: Vec<String> = (0..count)
        .map(|number| format!("object-{number}"))
        .collect();
    let octets: Vec<&[u8]> = ids.iter().map(String::as_bytes).collect();
    for strategy in strategies(&octets) {
        let (map, _) = user(strategy.clone());
        let entry_ids: Vec<_> = octets
            .iter()
            .map(|id| map.activate(Some(id), servant()).unwrap())
            .collect();
        for (id, entry_id) in octets.iter().zip(&entry_ids) {
            assert!(is_found(&map, id, None), "{strategy:?}");
            assert!(is_found(&map, id, Some(*entry_id)));
        }
        for wrong in [&b""[..], b"object", b"object-1000", b"\0\0\0\0\0\0\0\0"] {
            assert!(matches!(map.find(wrong, Some(entry_ids[0])), Lookup::None));
            assert!(matches!(map.find_by_strategy(wrong), Lookup::None));
        }
        for (id, &entry_id) in octets.iter().zip(&entry_ids).step_by(2) {
            assert!(map.deactivate(entry_id));
            assert!(matches!(map.find(id, Some(entry_id)), Lookup::None));
            assert!(matches!(map.find_by_strategy(id), Lookup::None));
        }
        for (number, id) in octets.iter().enumerate() {
            assert_eq!(is_found(&map, id, None), number % 2 == 1);
        }
    }
}

#[test]
fn a_perfect_hash_takes_its_own_ids_only() {
    let ids = [&b"one"[..], b"other"];
    let set = |ids: &[&[u8]]| Strategy::PerfectHash(ids.iter().map(|&id| Box::from(id)).collect());
    let (map, _) = user(set(&ids));
    assert!(map.activate(Some(b"one"), servant()).is_ok());
    let refused = map.activate(Some(b"none"), servant());
    assert_eq!(refused, Err(Refused::NotInTheSet));
    assert_eq!(map.len(), 1);
    let (empty, _) = user(set(&[]));
    assert!(matches!(empty.find(b"one", None), Lookup::None));
    let refused = empty.activate(Some(b"one"), servant());
    assert_eq!(refused, Err(Refused::NotInTheSet));
    let twice = set(&[b"one", b"other", b"one"]);
    let gone = Box::new(Gone::default());
    let refused = ActiveMap::new(&twice, Ids::User, Servants::NotIndexed, gone);
    assert_eq!(refused.err(), Some(DuplicateId));
}

#[test]
fn a_perfect_hash_has_no_place_for_ids_that_the_system_makes() {
    let strategy = Strategy::PerfectHash(vec![Box::from(&b"one"[..])]);
    let (map, _) = map_of(strategy, Ids::System, Servants::Unique);
    assert_eq!(map.activate(None, servant()), Err(Refused::NotInTheSet));
}

/// Every strategy finds the same entry and the same number of the operation.
#[test]
fn an_object_and_its_operation_are_found_together() {
    for strategy in strategies(&[b"one", b"other"]) {
        let (map, _) = user(strategy);
        let found = |id: &[u8], operation: &str| match map.find_de_layered(id, operation) {
            (Lookup::Pinned(pinned), number) => Some((pinned.entry_id(), number)),
            _ => None,
        };
        let one = map.activate(Some(b"one"), servant()).unwrap();
        // The first search fills the cache that the second uses.
        for _ in 0..2 {
            assert_eq!(found(b"one", "ping"), Some((one, Some(0))));
            assert_eq!(found(b"one", "pong"), Some((one, Some(1))));
            assert_eq!(found(b"one", "_is_a"), Some((one, None)));
            assert_eq!(found(b"other", "ping"), None);
        }
        map.deactivate(one);
        assert_eq!(found(b"one", "ping"), None);
        let again = map.activate(Some(b"one"), servant()).unwrap();
        assert_ne!(one, again);
        assert_eq!(found(b"one", "ping"), Some((again, Some(0))));
        assert_eq!(found(b"one", "ping"), Some((again, Some(0))));
    }
}

#[test]
fn more_objects_than_there_are_shortcuts_are_found() {
    let (map, _) = user(Strategy::DeLayered);
    let ids: Vec<_> = (0..if cfg!(miri) { 200 } else { 3000_u32 })
        .map(u32::to_be_bytes)
        .collect();
    for id in &ids {
        map.activate(Some(id), servant()).unwrap();
        for operation in ["ping", "pong"] {
            let (found, number) = map.find_de_layered(id, operation);
            assert!(matches!(found, Lookup::Pinned(pinned) if pinned.is_named(id)));
            assert!(number.is_some());
        }
    }
    for id in &ids {
        let (found, number) = map.find_de_layered(id, "pong");
        assert!(matches!(found, Lookup::Pinned(pinned) if pinned.is_named(id)));
        assert_eq!(number, Some(1));
    }
}

#[test]
fn a_hint_that_is_wrong_or_forged_does_no_harm() {
    let (map, _) = user(Strategy::Active);
    let one = map.activate(Some(b"one"), servant()).unwrap();
    let other = map.activate(Some(b"other"), servant()).unwrap();
    let far = EntryId {
        index: u32::MAX,
        generation: 7,
    };
    for hint in [one, other, far] {
        assert!(is_found(&map, b"one", Some(hint)));
        assert!(matches!(map.find(b"none", Some(hint)), Lookup::None));
    }
}

#[test]
fn an_id_is_active_once() {
    for strategy in strategies(&[b"one"]) {
        let (map, _) = user(strategy);
        let entry_id = map.activate(Some(b"one"), servant()).unwrap();
        let again = map.activate(Some(b"one"), servant());
        assert_eq!(again, Err(Refused::ObjectAlreadyActive));
        map.deactivate(entry_id);
        assert!(map.activate(Some(b"one"), servant()).is_ok());
        assert_eq!(map.len(), 1);
    }
}

#[test]
fn an_id_that_the_system_made_can_be_active_again() {
    for strategy in [Strategy::Active, Strategy::Linear, Strategy::DynamicHash] {
        let (map, _) = map_of(strategy, Ids::System, Servants::Unique);
        let entry_id = map.activate(None, servant()).unwrap();
        let id = entry_id.octets();
        assert!(is_found(&map, &id, None));
        assert_eq!(
            map.activate(Some(&id), servant()),
            Err(Refused::ObjectAlreadyActive)
        );
        map.deactivate(entry_id);
        assert!(matches!(map.find(&id, Some(entry_id)), Lookup::None));
        assert!(matches!(map.find_by_strategy(&id), Lookup::None));
        let again = map.activate(Some(&id), servant()).unwrap();
        assert_ne!(again, entry_id);
        assert!(is_found(&map, &id, Some(entry_id)));
        assert!(is_found(&map, &id, Some(again)));
        assert_eq!(
            map.activate(Some(&id), servant()),
            Err(Refused::ObjectAlreadyActive)
        );
    }
}

#[test]
fn a_fresh_place_is_nobodys() {
    let (map, _) = system();
    let mut seen = std::collections::HashSet::new();
    for _ in 0..10 {
        assert!(seen.insert(map.fresh_entry_id().unwrap()));
        let entry_id = map.activate(None, servant()).unwrap();
        assert!(seen.insert(entry_id));
        map.deactivate(entry_id);
    }
    assert!(seen.iter().all(|&entry_id| map.pin(entry_id).is_none()));
    assert!(
        seen.iter().all(|entry_id| entry_id.index < 2),
        "nothing is used up"
    );
}

#[test]
fn a_servant_has_one_place_until_it_is_deactivated() {
    let (map, _) = system();
    let shared = new_servant();
    let (first, new) = map.find_or_activate(&shared).unwrap();
    assert!(new);
    assert_eq!(map.find_or_activate(&shared), Ok((first, false)));
    assert_eq!(map.entry_of(shared.identity()), Some(first));
    assert_eq!(
        map.activate(None, shared.clone()),
        Err(Refused::ServantAlreadyActive(first))
    );
    map.deactivate(first);
    assert_eq!(map.entry_of(shared.identity()), None);
    let (third, new) = map.find_or_activate(&shared).unwrap();
    assert!(new);
    assert_ne!(first, third);
}

#[test]
fn many_servants_are_told_apart() {
    let (map, _) = system();
    let servants: Vec<_> = (0..if cfg!(miri) { 100 } else { 2000 })
        .map(|_| new_servant())
        .collect();
    let entry_ids: Vec<_> = servants
        .iter()
        .map(|one| map.find_or_activate(one).unwrap().0)
        .collect();
    for (one, &entry_id) in servants.iter().zip(&entry_ids) {
        assert_eq!(map.entry_of(one.identity()), Some(entry_id));
    }
    map.deactivate(entry_ids[7]);
    assert_eq!(map.entry_of(servants[7].identity()), None);
    assert_eq!(map.entry_of(servants[8].identity()), Some(entry_ids[8]));
}

#[test]
fn whether_a_servant_remains_is_told_when_an_object_is_removed() {
    let (map, gone) = map_of(Strategy::DynamicHash, Ids::User, Servants::Counted);
    let shared = new_servant();
    let activate = |id: &[u8]| {
        let active = shared.clone();
        map.activate(Some(id), active).unwrap()
    };
    let (one, other) = (activate(b"one"), activate(b"other"));
    map.deactivate(one);
    map.deactivate(other);
    let remains: Vec<_> = gone
        .0
        .lock()
        .unwrap()
        .iter()
        .map(|one| one.remains)
        .collect();
    assert_eq!(remains, [true, false]);
}

#[test]
fn an_upcall_deactivates_its_own_object_and_another_takes_its_servant() {
    let (map, gone) = system();
    let shared = new_servant();
    let (entry_id, _) = map.find_or_activate(&shared).unwrap();
    let pinned = map.pin(entry_id).unwrap();
    assert!(map.deactivate(entry_id));
    assert!(!map.deactivate(entry_id));
    let (next, new) = map.find_or_activate(&shared).unwrap();
    assert!(new);
    assert_ne!(
        next.index, entry_id.index,
        "the place is free when it is left"
    );
    drop(pinned);
    assert!(gone.0.lock().unwrap()[0].remains);
}

#[test]
fn everything_is_deactivated_at_once() {
    for strategy in strategies(&[b"a", b"b", b"c"]) {
        let (map, gone) = user(strategy);
        for id in [b"a", b"b", b"c"] {
            map.activate(Some(id), servant()).unwrap();
        }
        map.deactivate_all();
        assert_eq!(map.len(), 0);
        let mut ids = gone.ids();
        ids.sort();
        assert_eq!(ids, [b"a", b"b", b"c"]);
        map.each(|pinned| panic!("{pinned:?} is active"));
    }
}

#[test]
fn each_is_shown_what_is_active() {
    let (map, _) = user(Strategy::DynamicHash);
    let one = map.activate(Some(b"one"), servant()).unwrap();
    map.activate(Some(b"other"), servant()).unwrap();
    map.deactivate(one);
    let mut ids = Vec::new();
    map.each(|pinned| ids.push(pinned.id.as_deref().unwrap().to_vec()));
    assert_eq!(ids, [b"other"]);
}

#[test]
fn who_waits_until_nothing_is_pinned_goes_on_when_nothing_is() {
    let (map, _) = system();
    let entry_ids: Vec<_> = (0..3)
        .map(|_| map.activate(None, servant()).unwrap())
        .collect();
    map.wait_until_unpinned(&|| false);
    let left = Mutex::new(0);
    let (pinned, is_pinned) = mpsc::channel();
    let (go, goes) = mpsc::channel();
    let (map, entry_ids, left) = (&map, &entry_ids, &left);
    thread::scope(|scope| {
        let calls = scope.spawn(move || {
            let pins: Vec<_> = entry_ids
                .iter()
                .map(|&entry_id| map.pin(entry_id))
                .collect();
            pinned.send(()).unwrap();
            goes.recv().unwrap();
            for pin in pins {
                *left.lock().unwrap() += 1;
                drop(pin);
            }
        });
        is_pinned.recv().unwrap();
        let waits = scope.spawn(|| {
            go.send(()).unwrap();
            map.wait_until_unpinned(&|| false);
            assert_eq!(*left.lock().unwrap(), 3);
        });
        waits.join().unwrap();
        calls.join().unwrap();
    });
    assert_eq!(map.len(), 3);
}
