//! Processors that are taken from a server while it runs, as an administrator does by a cpuset. It needs a
//! process of its own, all of whose threads lose them.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::support::{Echo, Pair, watchdog};
use punctual::config::{Concurrency, PoolSize};
use punctual::{Interface, Orb};
use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);
const CLIENTS: u32 = 4;

/// Leaves all threads of this process one processor. A thread that is started meanwhile inherits it.
fn shrink() {
    let all = sched_getaffinity(None).unwrap();
    let first = (0..CpuSet::MAX_CPU).find(|&number| all.is_set(number));
    let mut one = CpuSet::new();
    one.set(first.unwrap());
    for thread in std::fs::read_dir("/proc/self/task").unwrap() {
        let id = thread.unwrap().file_name().into_string().unwrap();
        // A thread may have ended.
        let _ = sched_setaffinity(Pid::from_raw(id.parse().unwrap()), &one);
    }
}

/// Calls from several clients with a connection each, before, while and after processors are taken away.
fn served_on_fewer_processors(concurrency: Concurrency) {
    let pair = Pair::with(|config| config.concurrency = concurrency, |_| {});
    let text = pair.client.object_to_string(&pair.echo).unwrap();
    let called = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let client = Orb::builder().build().unwrap();
                let echo = Echo::narrow(client.string_to_object(&text).unwrap()).unwrap();
                for number in 0..2000 {
                    assert_eq!(echo.long(number).unwrap(), number);
                    called.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        while called.load(Ordering::Relaxed) < CLIENTS * 500 {
            std::thread::yield_now();
        }
        shrink();
    });
    assert_eq!(called.into_inner(), CLIENTS * 2000);
    assert_eq!(pair.echo.long(1).unwrap(), 1);
    pair.server.shutdown(true).unwrap();
}

#[test]
fn a_pool_that_loses_processors_goes_on() {
    crate::support::alone::alone(|| {
        let _watchdog = watchdog(LIMIT);
        served_on_fewer_processors(Concurrency::LeaderFollowers(PoolSize::default()));
        // From here on there is one processor.
        served_on_fewer_processors(Concurrency::LeaderFollowers(PoolSize::default()));
        served_on_fewer_processors(Concurrency::Reactive);
        served_on_fewer_processors(Concurrency::ThreadPerConnection);
    });
}
