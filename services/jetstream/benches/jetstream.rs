//! Benchmark of the store on JetStream: `cargo bench -p punctual-jetstream`, with a `nats-server` in the path or named by
//! `PUNCTUAL_NATS_SERVER`. One server, and a cluster of three on this machine; events have 1 KiB; a reader gets and
//! acknowledges them meanwhile. Servers keep their files in memory (`/dev/shm`). `PUNCTUAL_BENCH_SECONDS` is the time of each
//! part.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../tests/nats/mod.rs"]
mod nats;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nats::{Nats, cluster_options};
use punctual_durable::{EventLog, EventStore, LogSettings, Most, Name, NewEvent, Reader};
use punctual_jetstream::JetStreamStore;

fn main() {
    println!("servers  threads  events an append  events/s  appends/s  read/s");
    if let Some(nats) = Nats::start() {
        measure_all(1, &nats.store());
    }
    if let Some(nodes) = Nats::cluster() {
        measure_all(3, &JetStreamStore::open(cluster_options(&nodes)).unwrap());
    }
}

fn measure_all(servers: usize, store: &JetStreamStore) {
    for (threads, batch) in [(1, 1), (1, 100), (8, 10), (8, 100), (64, 1)] {
        measure(servers, store, threads, batch);
    }
}

fn seconds() -> Duration {
    let seconds = std::env::var("PUNCTUAL_BENCH_SECONDS").ok();
    Duration::from_secs_f64(seconds.map_or(3.0, |text| text.parse().unwrap()))
}

fn measure(servers: usize, store: &JetStreamStore, threads: usize, batch: usize) {
    let name = |text: &str| text.parse::<Name>().unwrap();
    let log = store
        .open_log(&name("log"), LogSettings::default())
        .unwrap();
    let reader = log.open_reader(&name("reader")).unwrap();
    let (is_over, appended, read) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| append(&*log, batch, &is_over, &appended));
        }
        scope.spawn(|| consume(&*reader, &is_over, &read));
        std::thread::sleep(seconds());
        is_over.store(true, Ordering::Relaxed);
    });
    let took = begun.elapsed().as_secs_f64();
    drop(reader);
    store.remove_log(&name("log")).unwrap();
    let appended = appended.load(Ordering::Relaxed) as f64;
    println!(
        "{servers:7}  {threads:7}  {batch:16}  {:8.0}  {:9.0}  {:6.0}",
        appended / took,
        appended / batch as f64 / took,
        read.load(Ordering::Relaxed) as f64 / took
    );
}

fn append(log: &dyn EventLog, batch: usize, is_over: &AtomicBool, appended: &AtomicU64) {
    let event = NewEvent::new(vec![7; 1_024]);
    while !is_over.load(Ordering::Relaxed) {
        log.append(vec![event.clone(); batch]).unwrap();
        appended.fetch_add(batch as u64, Ordering::Relaxed);
    }
}

fn consume(reader: &dyn Reader, is_over: &AtomicBool, read: &AtomicU64) {
    while !is_over.load(Ordering::Relaxed) {
        let got = reader
            .fetch(Most::events(1_000), Duration::from_millis(100))
            .unwrap();
        reader.acknowledge(&got.iter().map(|one| one.position).collect::<Vec<_>>());
        read.fetch_add(got.len() as u64, Ordering::Relaxed);
    }
}
