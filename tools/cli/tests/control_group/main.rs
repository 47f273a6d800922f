//! Every service in a control group of 256 MiB, under clients that read nothing, flood, send deep
//! and wide data, and are refused: it stays within its memory, and serves others.
//!
//! Needs root and a controller of memory (cgroup v2 or v1), and is skipped with a printed reason
//! without them. It prints the memory of each service over time; with PUNCTUAL_COMMAND, of another
//! build of the command, to compare.
#![allow(clippy::unwrap_used, missing_docs)]

mod attacks;
mod client;
#[path = "../it/naming_etcd/etcd.rs"]
mod etcd;
mod group;
mod services;
mod stuck;
#[path = "../it/support/mod.rs"]
mod support;
mod table;

use attacks::ATTACKS;
use group::Group;
use services::{Served, present};
use stuck::BUFFER;

/// Memory of the control group.
const MEMORY: usize = 256 << 20;

#[test]
fn every_service_stays_within_its_memory_and_serves_others_whatever_clients_do() {
    if let Err(reason) = Group::new("trial", MEMORY) {
        eprintln!("skipped: {reason}");
        return;
    }
    let only = std::env::var("PUNCTUAL_ONLY").unwrap_or_default();
    let mut failed = Vec::new();
    for service in present() {
        for attack in ATTACKS {
            let name = format!("{}, {}", service.name, attack.name);
            if !name.contains(&only) {
                continue;
            }
            let served = Served::start(service, attack.refuses);
            let others = served.call_meanwhile();
            let watched = served.group.watch();
            (attack.run)(&served, service.attack);
            let memory = watched.end();
            let calls = others.end();
            let is_alive = served.is_alive() && served.call();
            println!("{name}: {memory}; others: {calls}; alive: {is_alive}");
            if !is_alive || calls.count == 0 {
                eprintln!("{}", served.end());
                failed.push(name);
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn every_service_ends_within_its_deadline_beside_clients_that_read_nothing() {
    if let Err(reason) = Group::new("trial", MEMORY) {
        eprintln!("skipped: {reason}");
        return;
    }
    for service in present() {
        let Some(answer) = service.answer else {
            continue;
        };
        let endpoint = format!("iiop://127.0.0.1:0/send_buffer={BUFFER}");
        let served = Served::listening(service, false, &endpoint);
        let silent = attacks::silent(&served, (20, 8), answer, stuck::connect);
        let replies = stuck::wait_until_some_are(&silent, &served);
        // Without the deadline it would wait for ever: no reply has a time-out.
        let (status, took) = served.terminate();
        println!(
            "{}: {status} {took:?} after SIGTERM; {replies} replies waited",
            service.name
        );
        // A reply that waited was cut off at the deadline.
        assert_eq!(status.code(), Some(1), "{}", service.name);
        drop(silent);
    }
}
