//! Test that a request occupies no server thread while its servant, which answers later, has not
//! answered. The only test of its process, as it counts the process's threads.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, dead_code)]

#[path = "../it/later/desk.rs"]
mod desk;
#[path = "../it/later/front.rs"]
mod front;
#[path = "../it/later/pair.rs"]
mod pair;
use crate::support;

use desk::Desk;
use front::Front;
use generated::asynchronous::Clerk;
use pair::{Pair, by_orb, tcp, until};
use punctual::OrbConfig;
use punctual::asynchronous::Amh;
use punctual_idl_tests::clerks as generated;
use std::time::Duration;
use support::watchdog;

const CALLS: usize = 2000;

/// Returns the number of threads of this process.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// Makes many calls that stay unanswered until the servant `desk` opens their gate; checks that
/// they start no threads, and that all are answered in the end.
fn open_many(clerk: &Clerk, desk: &Desk) {
    // All threads for such calls have been started.
    assert_eq!(clerk.sendp_add(1, 2).wait().unwrap(), 3);
    let before = threads();
    let waits: Vec<_> = (0..CALLS).map(|_| clerk.sendp_wait_at("gate")).collect();
    until(|| desk.waiting() == CALLS);
    let while_open = threads();
    assert!(
        while_open <= before,
        "{while_open} threads, {before} before"
    );
    clerk.open("gate").unwrap();
    for one in waits {
        assert_eq!(one.wait().unwrap(), 4);
    }
}

#[test]
fn neither_responses_nor_futures_that_await_other_objects_replies_keep_a_thread() {
    crate::support::alone::alone(|| {
        let _watchdog = watchdog(Duration::from_secs(120));
        let desk = Desk::new();
        // A row of requests that may be held back needs a thread that looks after it.
        let at_once = |config: &mut OrbConfig| config.one_way_gather = Duration::ZERO;
        let servant = Amh::shared(desk.clone());
        let behind = Pair::with(|_| servant, tcp(), |_| {}, at_once);
        open_many(&behind.clerk, &desk);
        let servant = Front {
            behind: Some(behind.clerk.clone()),
            ..Front::default()
        };
        let front = Pair::with(by_orb(servant), tcp(), |_| {}, at_once);
        open_many(&front.clerk, &desk);
        front.end();
        behind.end();
    });
}
