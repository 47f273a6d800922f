//! Quotas under appends of several threads.

use punctual_durable::{
    EventStore, FileOptions, FileStore, LogSettings, Name, NewEvent, Quota, WhenFull,
};

#[test]
fn appends_that_share_a_commit_are_not_refused_where_the_oldest_events_are_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.redb");
    let store = FileStore::open(&path, FileOptions::default()).unwrap();
    let quota = Quota {
        events: 2,
        when_full: WhenFull::DropOldest,
        ..Quota::default()
    };
    let settings = LogSettings {
        quota,
        ..LogSettings::default()
    };
    let name: Name = "log".parse().unwrap();
    let log = store.open_log(&name, settings).unwrap();
    let reader = log.open_reader(&name).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    log.append(vec![NewEvent::new(vec![1])]).unwrap();
                }
            });
        }
    });
    let status = log.status().unwrap();
    assert_eq!((status.events, status.dropped, status.refused), (2, 398, 0));
    assert_eq!(reader.waiting(), Ok(2));
    // Events that do not fit alone are refused, and drop nothing.
    log.append(vec![NewEvent::new(vec![1]); 3]).unwrap_err();
    assert_eq!(log.status().unwrap().events, 2);
}
