//! Search from an object key to its servant: `ObjectAdapter::locate`, as for a LocateRequest. It
//! reads the key, finds the adapter, finds and pins the object, and releases it, as for a request;
//! no operation is searched or called.

use super::super::server::Group;
use super::super::setup::{Chance, Setup, Strategy};
use super::{Line, each};
use crate::Result;
use punctual::{ListenEndpoint, Orb, RootPoa};
use punctual_orb::{Location, ObjectAdapter};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Goal: upper bound of the search from object key to servant, in nanoseconds.
const GOAL: f64 = 60.0;
/// Number of keys looked up in turn: few enough for the objects to stay in the caches.
const SOME: usize = 1000;
/// Number of keys looked up in turn for a cold search: more than the caches hold objects for.
const COLD: usize = 200_000;
/// Number of objects above which linear search is not measured, as it takes too long.
const LINEAR: u32 = 500;

pub(super) fn measure(many: u32) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for strategy in Strategy::ALL {
        // De-layering finds object and operation in one step, but `locate` knows no operation.
        if strategy == Strategy::DeLayered {
            continue;
        }
        for objects in [1, 100, 500, many] {
            if strategy != Strategy::Linear || objects <= LINEAR {
                let cold_too = objects == many && strategy != Strategy::Linear;
                lines.extend(search(strategy, objects, cold_too)?);
            }
        }
    }
    Ok(lines)
}

fn search(strategy: Strategy, objects: u32, cold_too: bool) -> Result<Vec<Line>> {
    let setup = Setup::of(objects, &[strategy]);
    let orb = Orb::builder()
        .configure(|config| config.listen.push(ListenEndpoint::iiop("127.0.0.1", 0)))
        .build()?;
    let root = orb.root_poa()?;
    let group = Group::new(&root, &setup, strategy, 1, &Arc::new(AtomicU64::new(0)))?;
    orb.listen()?;
    root.manager().activate()?;
    let adapter = orb.adapter().ok_or("the ORB has no adapter")?;
    let name = strategy.name();
    let warm = keys(&group, SOME)?;
    let line = Line::new(
        format!("key to servant, {name}, some of {objects} objects"),
        "ns",
        each(&warm, |key| locate(adapter, key)),
    );
    let mut lines = vec![match strategy {
        Strategy::Active => line.at_most(GOAL),
        _ => line,
    }];
    if cold_too {
        // So many keys that their objects do not fit into the caches.
        let cold = keys(&group, COLD)?;
        lines.push(Line::new(
            format!("key to servant, {name}, any of {objects} objects"),
            "ns",
            each(&cold, |key| locate(adapter, key)),
        ));
    }
    drop(group);
    orb.shutdown(true)?;
    Ok(lines)
}

fn locate(adapter: &Arc<dyn ObjectAdapter>, key: &[u8]) {
    let found = adapter.locate(std::hint::black_box(key));
    assert!(matches!(found, Location::Here), "the object is active");
}

/// Returns `count` keys in pseudo-random order, which a processor cannot predict.
fn keys(group: &Group, count: usize) -> Result<Vec<Vec<u8>>> {
    let mut keys = Vec::new();
    for reference in group.references(count)? {
        keys.push(reference.object_key().ok_or("a reference without a key")?);
    }
    let mut chance = Chance(1);
    for place in (1..keys.len()).rev() {
        keys.swap(place, chance.below(place + 1));
    }
    // The keys are copied in this order, so that they are contiguous in memory.
    Ok(keys.iter().map(|key| key.as_slice().to_vec()).collect())
}
