//! Handles of readers that were removed, and those that outlive their store.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use punctual_durable::{
    DurableError, EventLog, EventStore, FileOptions, FileStore, LogSettings, Most, Name, NewEvent,
    Position, Reader,
};

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

/// Opens the store and its log; acknowledgements are stored with appends, or when the store is closed.
fn opened(path: &Path) -> (FileStore, Arc<dyn EventLog>) {
    let options = FileOptions {
        acknowledge_after: Duration::from_secs(3_600),
        ..FileOptions::default()
    };
    let store = FileStore::open(path, options).unwrap();
    let log = store.open_log(&name("log"), LogSettings::default());
    (store, log.unwrap())
}

fn append(log: &dyn EventLog, text: &str) {
    log.append(vec![NewEvent::new(text.as_bytes().to_vec())])
        .unwrap();
}

/// Fetches what there is.
fn fetched(reader: &dyn Reader) -> Vec<(Position, String)> {
    let got = reader.fetch(Most::events(100), Duration::ZERO).unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let pairs = got.iter().map(|one| (one.position, text(&one.bytes)));
    pairs.collect()
}

#[test]
fn a_handle_of_a_removed_reader_is_none_of_a_later_reader_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let (_store, log) = opened(&folder.path().join("events.redb"));
    let old = log.open_reader(&name("reader")).unwrap();
    append(&*log, "before");
    assert_eq!(fetched(&*old).len(), 1);
    assert!(log.remove_reader(&name("reader")).unwrap());
    let new = log.open_reader(&name("reader")).unwrap();
    append(&*log, "after");
    let error = old.fetch(Most::events(9), Duration::ZERO).unwrap_err();
    assert!(matches!(error, DurableError::Removed(_)), "{error}");
    assert!(matches!(old.waiting(), Err(DurableError::Removed(_))));
    let got = fetched(&*new);
    assert_eq!(got.len(), 1);
    assert_eq!(got[0].1, "after");
    // Neither does anything to the events of the new reader, nor closes it.
    old.give_back(&[got[0].0]);
    old.acknowledge(&[got[0].0]);
    drop(old);
    assert_eq!(fetched(&*new), []);
    assert_eq!(new.waiting(), Ok(1));
    let second = log.open_reader(&name("reader")).unwrap_err();
    assert!(
        matches!(second, DurableError::ReaderInUse { .. }),
        "{second}"
    );
}

#[test]
fn what_a_reader_acknowledges_after_the_store_was_dropped_is_stored_when_the_reader_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.redb");
    let (store, log) = opened(&path);
    let reader = log.open_reader(&name("reader")).unwrap();
    append(&*log, "one");
    append(&*log, "two");
    let got = fetched(&*reader);
    drop((store, log));
    reader.acknowledge(&[got[0].0]);
    drop(reader);
    let (_store, log) = opened(&path);
    let reader = log.open_reader(&name("reader")).unwrap();
    assert_eq!(fetched(&*reader), got[1..]);
}

#[test]
fn the_events_of_a_commit_expire_each_at_its_moment() {
    let folder = tempfile::tempdir().unwrap();
    let (_store, log) = opened(&folder.path().join("events.redb"));
    let reader = log.open_reader(&name("reader")).unwrap();
    let of = |lifetime| NewEvent {
        lifetime,
        ..NewEvent::new(vec![1])
    };
    let millis = |count| Some(Duration::from_millis(count));
    let events = [millis(1_500), None, millis(1), millis(86_400_000)];
    log.append(events.map(of).to_vec()).unwrap();
    let begun = Instant::now();
    while log.status().unwrap().expired < 2 {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(reader.waiting(), Ok(2));
    assert_eq!(fetched(&*reader).len(), 2);
}
