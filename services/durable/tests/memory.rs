//! Memory that a log takes once its store was opened: for each event that readers wait for, and for each id that is known
//! against repeats.
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::Path;

use punctual_durable::{EventId, EventStore, FileOptions, FileStore, LogSettings, Name, NewEvent};
use punctual_heap::in_use;

/// Number of events in one append: a block.
const BATCH: u64 = 1_000;

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

/// Stores events for a reader, and closes the store.
fn fill(path: &Path, events: u64, event: impl Fn(u64) -> NewEvent) {
    let store = FileStore::open(path, FileOptions::default()).unwrap();
    let log = store.open_log(&name("log"), LogSettings::default());
    let log = log.unwrap();
    log.open_reader(&name("reader")).unwrap();
    for first in (0..events).step_by(BATCH as usize) {
        log.append((first..first + BATCH).map(&event).collect())
            .unwrap();
    }
    assert_eq!(log.status().unwrap().events, events);
}

/// Returns the bytes that are in use once a file was opened, and were not before.
fn opened(path: &Path) -> isize {
    let before = in_use();
    let store = FileStore::open(path, FileOptions::default()).unwrap();
    let bytes = in_use() - before;
    drop(store);
    bytes
}

/// Returns the bytes for each event beyond the first ones of a log.
fn for_each_event(event: impl Fn(u64) -> NewEvent) -> f64 {
    const FEW: u64 = 10_000;
    const MANY: u64 = 90_000;
    let folder = tempfile::tempdir().unwrap();
    let [few, many] = [FEW, MANY].map(|events| {
        let path = folder.path().join(format!("{events}.redb"));
        fill(&path, events, &event);
        opened(&path)
    });
    (many - few) as f64 / (MANY - FEW) as f64
}

/// One test, as several would count one another's memory.
#[test]
fn an_event_takes_few_bytes_of_memory_and_an_id_some_more() {
    let plain = for_each_event(|_| NewEvent::new(vec![7; 20]));
    println!("{plain:.1} bytes for each event");
    let with_ids = for_each_event(|number| {
        NewEvent::new(vec![7; 20]).with_id(EventId::new(&number.to_be_bytes()).unwrap())
    });
    let id = with_ids - plain;
    println!("{id:.1} bytes more for each event with an id of 8 bytes");
    assert!(plain < 16.0, "{plain}");
    assert!(id < 120.0, "{id}");
}
