//! Memory of adapters, while they exist and after they were destroyed.
#![allow(clippy::unwrap_used)]

use crate::support;
use punctual_heap::in_use;

use punctual::poa::{IdAssignmentPolicy, LifespanPolicy, PoaPolicy};
use punctual::{Orb, Poa, RootPoa};
use std::thread;
use std::time::Duration;
use support::alone::alone;
use support::watchdog;

const LIMIT: Duration = Duration::from_secs(60);
/// Adapters, some of whose tables have grown to hold all of them.
const MANY: usize = 256;
/// Most that an adapter without objects takes, in bytes, and what the ORB's tables hold of it.
const AN_ADAPTER: isize = 6 * 1024;
/// Most that is left of a destroyed adapter, in bytes: its path, in a table that frees it late.
const DESTROYED: isize = 512;

fn persistent(root: &Poa, name: &str) -> Poa {
    let policies = [
        PoaPolicy::Lifespan(LifespanPolicy::Persistent),
        PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
    ];
    root.create_poa(name, None, &policies).unwrap()
}

#[test]
fn adapters_take_little_memory_and_give_it_back_when_they_are_destroyed() {
    let _watchdog = watchdog(LIMIT);
    alone(|| {
        let orb = Orb::builder().build().unwrap();
        let root = orb.root_poa().unwrap();
        let come_and_go = |count: usize| {
            let made: Vec<Poa> = (0..count)
                .map(|number| persistent(&root, &format!("adapter {number}")))
                .collect();
            let while_they_exist = in_use();
            for adapter in &made {
                adapter.destroy(true, true).unwrap();
            }
            while_they_exist
        };
        // Tables reach their sizes.
        come_and_go(MANY);
        let before = in_use();
        let with_them = come_and_go(MANY) - before;
        assert!(with_them < MANY.cast_signed() * AN_ADAPTER, "{with_them}");

        // Threads that destroy fewer each than a table frees at once.
        let before = in_use();
        for round in 0..MANY / 8 {
            let root = &root;
            thread::scope(|scope| {
                let one = scope.spawn(move || {
                    for number in 0..8 {
                        let adapter = persistent(root, &format!("adapter {number} of {round}"));
                        adapter.destroy(true, true).unwrap();
                    }
                });
                one.join().unwrap();
            });
        }
        let left = in_use() - before;
        assert!(left < MANY.cast_signed() * DESTROYED, "{left}");
        orb.shutdown(true).unwrap();
    });
}
