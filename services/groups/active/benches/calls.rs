//! Calls to an active group of three members, by one client and by sixteen, on a log in a file and on JetStream:
//! `cargo bench -p punctual-groups-active`. JetStream is left out where there is no `nats-server` (in the path, or named by
//! `PUNCTUAL_NATS_SERVER`). All is in one process but the NATS server.
#![allow(clippy::unwrap_used, missing_docs, dead_code)]

#[path = "../../../jetstream/tests/nats/mod.rs"]
mod nats;
#[path = "../tests/it/support.rs"]
mod support;

/// Rust code of the members' interface.
mod idl {
    include!(concat!(env!("OUT_DIR"), "/ledger.rs"));
}

use std::thread;
use std::time::{Duration, Instant};

use support::{Groups, log_on};

const RUN: Duration = Duration::from_secs(3);

fn main() {
    println!("{:<10} clients  calls/s    p50 µs    p99 µs", "log");
    let measured = |log: &str, groups: &Groups| {
        let _members = ["a", "b", "c"].map(|location| groups.member(location));
        for clients in [1, 16] {
            let mut times = run(groups, clients);
            times.sort_unstable();
            let micros = |part: usize| times[times.len() * part / 100].as_micros();
            let rate = times.len() as f64 / RUN.as_secs_f64();
            println!(
                "{log:<10} {clients:>7} {rate:>8.0} {:>9} {:>9}",
                micros(50),
                micros(99)
            );
        }
    };
    measured("file", &Groups::new());
    if let Some(nats) = nats::Nats::start() {
        let groups = Groups::with_log(tempfile::tempdir().unwrap(), log_on(&nats.url));
        measured("JetStream", &groups);
    }
}

/// Makes calls for a time, by so many clients; returns how long each took.
fn run(groups: &Groups, clients: usize) -> Vec<Duration> {
    thread::scope(|scope| {
        let clients: Vec<_> = (0..clients)
            .map(|_| {
                let ledger = groups.ledger();
                scope.spawn(move || {
                    let (begun, mut times) = (Instant::now(), Vec::new());
                    while begun.elapsed() < RUN {
                        let called = Instant::now();
                        // An exception of the servant: the ledger does not grow.
                        assert!(ledger.enter("").is_err());
                        times.push(called.elapsed());
                    }
                    times
                })
            })
            .collect();
        let all = clients.into_iter().flat_map(|one| one.join().unwrap());
        all.collect()
    })
}
