//! Bytes that a service writes to its store for each request at a primary with a state of 1 MiB, which stores its state or an update:
//! `cargo bench -p punctual-groups-service --bench updates`. States that end a full log count with the updates.
#![allow(clippy::unwrap_used, missing_docs, dead_code)]

#[path = "../tests/it/support.rs"]
mod support;

/// Rust code of the interface of the members.
mod idl {
    include!(concat!(env!("OUT_DIR"), "/register.rs"));
}

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use punctual_groups_service::GroupService;
use support::{Served, register, until};

/// Length of the state, with what it has beside the ballast.
const STATE: usize = 1 << 20;

const LEASE: Duration = Duration::from_secs(600);

fn main() {
    println!(
        "{:>8} {:>9} {:>16} {:>12}",
        "", "requests", "bytes a request", "ms a request"
    );
    for (what, by_updates, requests) in [("states", false, 200), ("updates", true, 2_002)] {
        let (bytes, time) = run(by_updates, requests);
        println!("{what:>8} {requests:>9} {bytes:>16} {time:>12.2}");
    }
}

/// Returns the bytes that were written for a request, and its time in milliseconds.
fn run(by_updates: bool, requests: u32) -> (u64, f64) {
    // On a disk: what is written to memory is not counted.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let service = GroupService::open(&folder.path().join("groups.redb")).unwrap();
    let served = Served::serve(tempfile::tempdir().unwrap(), service);
    let (group, id) = served.group("cold-passive", "");
    let member = served.join(&group, "a", LEASE);
    let counter = &member.counter;
    counter.ballast.store(STATE - 8, Ordering::SeqCst);
    counter.stores_updates.store(by_updates, Ordering::SeqCst);
    until(|| served.primary(id).is_some());
    let client = register(&served.reference(&group));
    client.add().unwrap();
    let (before, begun) = (written(), Instant::now());
    for _ in 0..requests {
        client.add().unwrap();
    }
    let millis = begun.elapsed().as_secs_f64() * 1e3 / f64::from(requests);
    ((written() - before) / u64::from(requests), millis)
}

/// Returns the bytes that this process has written to disks.
fn written() -> u64 {
    let text = std::fs::read_to_string(Path::new("/proc/self/io")).unwrap();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("write_bytes: "));
    line.unwrap().parse().unwrap()
}
