//! Bytes that a service writes to its store for each request at a primary with a state of 1 MiB, which logs its requests, and the
//! time that the next primary takes to have the state again; then the calls a second of several clients: `cargo bench -p punctual-groups-requests --bench log`. Checkpoints count
//! with the requests. What states and updates cost is measured by the bench `updates` of `punctual-groups-service`.
#![allow(clippy::unwrap_used, missing_docs, dead_code)]

#[path = "../tests/it/members.rs"]
mod members;
#[path = "../../service/tests/it/support.rs"]
mod support;

/// Rust code of the interface of the members.
mod idl {
    include!(concat!(env!("OUT_DIR"), "/register.rs"));
}

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use idl::Register;
use members::Member;
use punctual::Interface;
use punctual_groups_service::{GroupService, Limits};
use support::{Served, register, until};

/// Length of what the state has beside the value.
const BALLAST: usize = 1 << 20;

const LEASE: Duration = Duration::from_secs(600);

/// Requests, of which the last ones are in the log when the primary leaves.
const REQUESTS: u32 = 1_950;

/// Numbers of clients that call at the same time, and for how long.
const CLIENTS: [usize; 3] = [1, 8, 32];
const TIME: Duration = Duration::from_secs(5);

fn main() {
    // On a disk: what is written to memory is not counted.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let service = GroupService::open(&folder.path().join("groups.redb")).unwrap();
    let mut limits = Limits::default();
    limits.state_bytes = 4 << 20;
    service.set_limits(limits);
    let served = Served::serve(tempfile::tempdir().unwrap(), service);
    let (group, id) = served.group("cold-passive", "");
    let join = |name: &str| Member::with(&served, &group, name, |options| options.lease = LEASE);
    let first = join("a");
    first.counter.ballast.store(BALLAST, Ordering::SeqCst);
    until(|| served.primary(id).is_some());
    let client = register(&served.reference(&group));
    client.add().unwrap();
    let (before, begun) = (written(), Instant::now());
    for _ in 0..REQUESTS {
        client.add().unwrap();
    }
    let millis = begun.elapsed().as_secs_f64() * 1e3 / f64::from(REQUESTS);
    let bytes = (written() - before) / u64::from(REQUESTS);
    println!(
        "{:>8} {:>9} {:>16} {:>12}",
        "", "requests", "bytes a request", "ms a request"
    );
    println!("{:>8} {REQUESTS:>9} {bytes:>16} {millis:>12.2}", "log");
    let second = join("b");
    let in_log = members::logged(&served, id);
    let begun = Instant::now();
    first.leave();
    until(|| served.primary(id).as_deref() == Some("b"));
    let millis = begun.elapsed().as_secs_f64() * 1e3;
    println!("the next primary has run {in_log} requests after {millis:.1} ms");
    assert_eq!(
        second.counter.value_now(),
        i32::try_from(REQUESTS).unwrap() + 1
    );
    for clients in CLIENTS {
        let before = written();
        let (calls, seconds) = called_by(&client, clients);
        let bytes = (written() - before) / u64::try_from(calls).unwrap();
        let rate = f64::from(calls) / seconds;
        println!("{clients:>4} clients: {rate:>6.0} calls a second, {bytes} bytes a call");
    }
}

/// Has clients call for some time. Returns the number of calls and the seconds.
fn called_by(client: &Register, clients: usize) -> (i32, f64) {
    let begun = Instant::now();
    let calls = std::thread::scope(|scope| {
        let each = (0..clients).map(|_| {
            let client = Register::from_object(client.as_object().clone());
            scope.spawn(move || {
                let mut calls = 0;
                while begun.elapsed() < TIME {
                    client.add().unwrap();
                    calls += 1;
                }
                calls
            })
        });
        let each: Vec<_> = each.collect();
        each.into_iter().map(|one| one.join().unwrap()).sum()
    });
    (calls, begun.elapsed().as_secs_f64())
}

/// Returns the bytes that this process has written to disks.
fn written() -> u64 {
    let text = std::fs::read_to_string(Path::new("/proc/self/io")).unwrap();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("write_bytes: "));
    line.unwrap().parse().unwrap()
}
