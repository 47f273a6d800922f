//! From an object key to its servant: `ObjectAdapter::locate`, as for a LocateRequest. It reads the key, finds
//! the adapter, finds and pins the object, and lets it go again, as for a request; no operation is searched, and
//! nothing called.

use super::super::server::Group;
use super::super::setup::{Chance, Setup, Strategy};
use super::{Line, each};
use crate::Result;
use punctual::{ListenEndpoint, Orb, RootPoa};
use punctual_orb::{Location, ObjectAdapter};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// What "key to servant" is to take at most, in nanoseconds.
const GOAL: f64 = 60.0;
/// Keys that are looked for in turn: few enough for what they lead to to stay in the caches.
const SOME: usize = 1000;
/// Keys that are looked for in turn, so many that it does not.
const COLD: usize = 200_000;
/// Beyond so many objects a linear search takes too long.
const LINEAR: u32 = 500;

pub(super) fn measure(many: u32) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for strategy in Strategy::ALL {
        // What de-layering takes in one step, `locate` does not have: it knows no operation.
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
    let setup = Setup {
        objects,
        depth: 1,
        operations: vec![1],
        one_way: false,
        strategies: vec![strategy],
    };
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
        // So many that what they lead to does not fit into the caches.
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

/// So many keys, in an order that no processor foresees.
fn keys(group: &Group, count: usize) -> Result<Vec<Vec<u8>>> {
    let mut keys = Vec::new();
    for reference in group.references(count)? {
        keys.push(reference.object_key().ok_or("a reference without a key")?);
    }
    let mut chance = Chance(1);
    for place in (1..keys.len()).rev() {
        keys.swap(place, chance.below(place + 1));
    }
    // Anew, in this order, so that the keys themselves lie one behind the other.
    Ok(keys.iter().map(|key| key.as_slice().to_vec()).collect())
}
