//! Persistent alarms with 20 filterable fields through a channel: pushed in batches, stored before a push returns, and
//! acknowledged when the consumer has them.
//!
//! `cargo bench -p punctual-notification --bench durable` prints a line for each store: a file, and a cluster of three NATS
//! servers on this machine if there is a `nats-server` (in the path, or named by `PUNCTUAL_NATS_SERVER`), whose files are in
//! memory; beside them a channel that stores nothing. `… --bench durable -- 20000` pushes so many events in each.
//! `PUNCTUAL_BENCH_FOLDER` names the folder of the file.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../jetstream/tests/nats/mod.rs"]
mod nats;
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nats::{Nats, cluster_options};
use punctual::Any;
use punctual_jetstream::JetStreamStore;
use punctual_notification::cos_notification::{
    CONNECTION_RELIABILITY, EVENT_RELIABILITY, MAXIMUM_BATCH_SIZE, PACING_INTERVAL, PERSISTENT,
    Property, StructuredEvent,
};
use punctual_notification::{Limits, NotificationService};
use support::{Counter, Served, alarm};

/// Number of events in one run.
const EVENTS: u64 = 100_000;
/// Runs of each store, by turns.
const ROUNDS: usize = 3;
/// Numbers of suppliers, and events in each of their pushes.
const LOADS: [(u64, usize); 3] = [(1, 100), (4, 100), (16, 10)];
/// Upper bound of the events on their way: logs must not fill.
const ON_THE_WAY: u64 = 5_000;

fn property(name: &str, value: Any) -> Property {
    Property {
        name: name.to_owned(),
        value,
    }
}

fn persistent() -> Vec<Property> {
    [CONNECTION_RELIABILITY, EVENT_RELIABILITY]
        .map(|name| property(name, Any::new(&PERSISTENT).unwrap()))
        .to_vec()
}

/// Pushes events to a new channel with one consumer of batches, and prints how many a second were taken and came.
fn run(store: &str, served: &Served, (suppliers, batch): (u64, usize), events: u64) {
    let counter = Counter::default();
    let quality = [
        property(MAXIMUM_BATCH_SIZE, Any::new(&100_i32).unwrap()),
        // In units of 100 ns: a millisecond.
        property(PACING_INTERVAL, Any::new(&10_000_u64).unwrap()),
    ];
    served.connect_batches(&counter, &quality, None);
    let proxies: Vec<_> = (0..suppliers).map(|_| served.pushes_batches()).collect();
    let batches = events / suppliers / batch as u64;
    let alarms: Vec<StructuredEvent> = (0..10).cycle().take(batch).map(alarm).collect();
    let pushed = AtomicU64::new(0);
    let begin = Instant::now();
    std::thread::scope(|scope| {
        for proxy in &proxies {
            scope.spawn(|| {
                for _ in 0..batches {
                    let after = pushed.fetch_add(batch as u64, Ordering::AcqRel);
                    while after > counter.count() + ON_THE_WAY {
                        std::thread::sleep(Duration::from_micros(200));
                    }
                    proxy.push_structured_events(&alarms).unwrap();
                }
            });
        }
    });
    let taken = begin.elapsed();
    let count = batches * suppliers * batch as u64;
    while counter.count() < count {
        std::thread::sleep(Duration::from_micros(200));
    }
    let rate = |took: Duration| f64::from(u32::try_from(count).unwrap()) / took.as_secs_f64();
    println!(
        "{store}: {suppliers} suppliers, {batch} events a push: {:.0} a second taken, {:.0} delivered",
        rate(taken),
        rate(begin.elapsed())
    );
}

/// Runs one store with each load; `service` makes it anew.
fn run_all(store: &str, qos: &[Property], events: u64, service: impl Fn() -> NotificationService) {
    for load in LOADS {
        let served = Served::of(service(), Limits::default(), qos);
        run(store, &served, load, events);
        served.channel.destroy().unwrap();
        served.end();
    }
}

fn main() {
    let events = std::env::args().find_map(|one| one.parse().ok());
    let events = events.unwrap_or(EVENTS);
    let folder = match std::env::var("PUNCTUAL_BENCH_FOLDER") {
        Ok(folder) => tempfile::tempdir_in(folder).unwrap(),
        Err(_) => tempfile::tempdir().unwrap(),
    };
    let next = AtomicU64::new(0);
    let stored = || {
        let number = next.fetch_add(1, Ordering::Relaxed);
        NotificationService::open(&folder.path().join(format!("{number}.redb"))).unwrap()
    };
    let nodes = Nats::cluster();
    for _ in 0..ROUNDS {
        run_all("in memory", &[], events, NotificationService::in_memory);
        run_all("a file", &persistent(), events, stored);
        if let Some(nodes) = &nodes {
            run_all("a cluster of three", &persistent(), events, || {
                let service = stored();
                let events = JetStreamStore::open(cluster_options(nodes)).unwrap();
                service.set_event_store(Arc::new(events));
                service
            });
        }
    }
}
