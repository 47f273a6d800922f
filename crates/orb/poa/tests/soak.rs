//! Soak test with many objects: the memory that they take, and the memory left after objects were
//! activated and deactivated while other threads called them.
#![allow(
    missing_docs,
    dead_code,
    unused_imports,
    unreachable_pub,
    clippy::unwrap_used
)]

#[path = "../src/object_map/by_servant.rs"]
mod by_servant;
#[path = "../src/object_map/deactivation.rs"]
mod deactivation;
#[path = "../src/object_map/entry.rs"]
mod entry;
#[path = "../src/object_map/index/mod.rs"]
mod index;
#[path = "../src/object_map/link.rs"]
mod link;
#[path = "../src/object_map/lookup.rs"]
mod lookup;
#[path = "../src/object_map/lookup_compared.rs"]
mod lookup_compared;
#[path = "../src/object_map/map.rs"]
mod map;
#[path = "../src/object_map/name.rs"]
mod name;
#[path = "../src/own_policies.rs"]
mod own_policies;
#[path = "../src/object_map/pinned.rs"]
mod pinned;
#[path = "../src/object_map/slot.rs"]
#[allow(unsafe_code)]
mod slot;
#[path = "../src/object_map/slots.rs"]
mod slots;
#[path = "../src/object_map/sync.rs"]
mod sync;

/// Stand-in for the crate's module of this name, which the included code imports.
mod servant {
    pub(crate) use punctual_poa::{Identity, Servant};
}

use by_servant::Servants;
use entry::{Deactivated, EntryId, Ids, OnDeactivated};
use index::Strategy;
use map::ActiveMap;
use pinned::{Lookup, Pinned};
use punctual_heap::in_use;
use punctual_orb::{DispatchError, Dispatched, ServerCall};
use punctual_poa::Servant;
use std::any::Any;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// Lock for one test at a time: memory is counted for the whole process.
static ALONE: Mutex<()> = Mutex::new(());

struct Nothing;

impl Servant for Nothing {
    fn repository_ids(&self) -> &'static [&'static str] {
        &[]
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        Err(call.bad_operation())
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        self
    }
}

#[derive(Clone, Default)]
struct Gone(Arc<AtomicUsize>);

impl OnDeactivated for Gone {
    fn deactivated(&self, object: Deactivated) {
        drop(object);
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

const MANY: usize = 1_000_000;

/// Returns the memory per object in bytes with a million objects, without their servants and ids.
fn octets_each(strategy: Strategy, ids: Ids) -> f64 {
    let servants: Vec<Arc<dyn Servant>> = (0..MANY).map(|_| Arc::new(Nothing) as _).collect();
    let before = in_use();
    let gone = Box::new(Gone::default());
    let map = ActiveMap::new(&strategy, ids, Servants::Unique, gone).unwrap();
    let begun = Instant::now();
    for (number, servant) in servants.iter().enumerate() {
        let id = (number as u64).to_be_bytes();
        let id = (ids == Ids::User).then_some(&id[..]);
        map.activate(id, servant.clone()).unwrap();
    }
    let each = begun.elapsed().as_nanos() / MANY as u128;
    // Ids of eight octets are stored in the entries.
    let more = in_use() - before;
    assert_eq!(map.len(), MANY);
    let octets = more as f64 / MANY as f64;
    println!("{strategy:?}, {ids:?}: {octets:.1} octets, activated in {each} ns each");
    octets
}

#[test]
fn an_active_object_takes_at_most_100_octets_beside_its_servant_and_id() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(octets_each(Strategy::Active, Ids::System) <= 100.0);
    assert!(octets_each(Strategy::DynamicHash, Ids::User) <= 100.0);
}

/// Number of threads that activate and deactivate objects, and number of objects that each keeps
/// active.
const CHURNING: usize = 8;
const LIVE: usize = 100;

/// Makes a million activations and deactivations while other threads look objects up.
fn churn(map: &ActiveMap, ids: Ids) {
    let all_are_there = Barrier::new(CHURNING + 2);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let churning: Vec<_> = (0..CHURNING)
            .map(|thread| {
                let (map, all_are_there) = (&map, &all_are_there);
                scope.spawn(move || activate_and_deactivate(map, ids, thread, all_are_there))
            })
            .collect();
        for _ in 0..2 {
            scope.spawn(|| {
                all_are_there.wait();
                while !over.load(Ordering::Relaxed) {
                    look_up(map);
                }
            });
        }
        for thread in churning {
            thread.join().unwrap();
        }
        over.store(true, Ordering::Relaxed);
    });
}

fn activate_and_deactivate(map: &ActiveMap, ids: Ids, thread: usize, all_are_there: &Barrier) {
    let mut live = VecDeque::with_capacity(LIVE);
    for number in 0..MANY / CHURNING {
        let id = ((thread << 32 | number) as u64).to_be_bytes();
        let id = (ids == Ids::User).then_some(&id[..]);
        let servant: Arc<dyn Servant> = Arc::new(Nothing);
        live.push_back(map.activate(id, servant).unwrap());
        if live.len() == LIVE {
            if number + 1 == LIVE {
                all_are_there.wait();
            }
            assert!(map.deactivate(live.pop_front().unwrap()));
        }
    }
    for entry_id in live {
        assert!(map.deactivate(entry_id));
    }
}

/// Pins existing objects, and searches for them by id.
fn look_up(map: &ActiveMap) {
    map.each(|pinned| {
        let entry_id = pinned.entry_id();
        let octets = entry_id.octets();
        let id = pinned.id.as_deref().unwrap_or(&octets);
        assert!(pinned.is_named(id));
        if let Lookup::Pinned(found) = map.find_by_strategy(id) {
            assert!(found.is_named(id));
        }
        assert!(map.pin(entry_id).is_none_or(|again| again.is_named(id)));
    });
}

#[test]
fn a_million_activations_under_load_leave_nothing_behind() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for (strategy, ids) in [
        (Strategy::Active, Ids::System),
        (Strategy::DynamicHash, Ids::User),
    ] {
        let gone = Gone::default();
        let leave = Box::new(gone.clone());
        let map = ActiveMap::new(&strategy, ids, Servants::Unique, leave).unwrap();
        churn(&map, ids);
        let after_one = in_use();
        churn(&map, ids);
        let grown = in_use() - after_one;
        println!("{strategy:?}: {grown} octets more after the second round");
        assert_eq!(map.len(), 0);
        assert_eq!(gone.0.load(Ordering::Relaxed), 2 * MANY);
        assert_eq!(map.slots.count().next_power_of_two(), 1024);
        // Allowed difference, for the set of ids being deactivated and for threads' own memory.
        assert!(grown.abs() < 16 << 10, "{grown} octets are left");
    }
}
