//! What is in the file after it was closed.

use std::time::Duration;

use punctual_durable::{EventStore, FileOptions, FileStore, LogSettings, Most, Name, NewEvent};

#[test]
fn what_all_readers_have_acknowledged_leaves_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.redb");
    let store = FileStore::open(&path, FileOptions::default()).unwrap();
    let log = store
        .open_log(&name("log"), LogSettings::default())
        .unwrap();
    let reader = log.open_reader(&name("reader")).unwrap();
    for _ in 0..20 {
        log.append((0..1_000).map(|_| NewEvent::new(vec![7; 1_000])).collect())
            .unwrap();
        let mut left = 1_000;
        while left > 0 {
            let got = reader
                .fetch(Most::events(1_000), Duration::from_secs(30))
                .unwrap();
            left -= got.len();
            reader.acknowledge(&got.iter().map(|one| one.position).collect::<Vec<_>>());
        }
    }
    reader.flush().unwrap();
    assert_eq!(log.status().unwrap().events, 0);
    drop((reader, log, store));
    let store = FileStore::open(&path, FileOptions::default()).unwrap();
    store.compact().unwrap();
    let bytes = store.bytes().unwrap();
    assert!(bytes < 2 << 20, "{bytes} bytes are left of 20,000,000");
}

#[test]
fn positions_are_not_reused_after_all_events_were_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.redb");
    let mut last = None;
    for _ in 0..3 {
        let store = FileStore::open(&path, FileOptions::default()).unwrap();
        let log = store
            .open_log(&name("log"), LogSettings::default())
            .unwrap();
        let reader = log.open_reader(&name("reader")).unwrap();
        log.append(vec![NewEvent::new(vec![1])]).unwrap();
        let got = reader
            .fetch(Most::events(9), Duration::from_secs(30))
            .unwrap();
        assert_eq!(got.len(), 1);
        assert!(Some(got[0].position) > last);
        last = Some(got[0].position);
        reader.acknowledge(&[got[0].position]);
        reader.flush().unwrap();
    }
}

fn name(text: &str) -> Name {
    text.parse().unwrap()
}
