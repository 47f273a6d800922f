//! Benchmark of the store in a file: `cargo bench -p punctual-durable`. Events have 1 KiB; a reader gets and acknowledges
//! them meanwhile. `PUNCTUAL_BENCH_FOLDER` names the folder of the file, whose disk is measured (the system's folder for
//! temporary files by default); `PUNCTUAL_BENCH_SECONDS` the time of each part.
#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use punctual_durable::{
    EventLog, EventStore, FileOptions, FileStore, LogSettings, Most, Name, NewEvent, Reader,
};

fn main() {
    println!("threads  events an append  events/s  appends/s  read/s");
    for (threads, batch) in [
        (1, 1),
        (1, 100),
        (8, 1),
        (8, 10),
        (8, 100),
        (64, 1),
        (64, 10),
    ] {
        measure(threads, batch);
    }
}

fn seconds() -> Duration {
    let seconds = std::env::var("PUNCTUAL_BENCH_SECONDS").ok();
    Duration::from_secs_f64(seconds.map_or(3.0, |text| text.parse().unwrap()))
}

fn folder() -> tempfile::TempDir {
    match std::env::var("PUNCTUAL_BENCH_FOLDER") {
        Ok(folder) => tempfile::tempdir_in(folder).unwrap(),
        Err(_) => tempfile::tempdir().unwrap(),
    }
}

fn measure(threads: usize, batch: usize) {
    let folder = folder();
    let store = FileStore::open(&folder.path().join("events.redb"), FileOptions::default());
    let store = store.unwrap();
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
    let appended = appended.load(Ordering::Relaxed) as f64;
    println!(
        "{threads:7}  {batch:16}  {:8.0}  {:9.0}  {:6.0}",
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
