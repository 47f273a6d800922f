//! Cases of limits: repeats, quotas, expiry, logs that are removed.

use std::time::Duration;

use super::support::{
    Open, append, check_empty, event, eventually, fetch, id, log, log_with, name, numbers,
    positions, reader, texts,
};
use crate::contract::{DurableError, LogSettings, NewEvent, Quota, WhenFull};

pub(super) fn an_event_whose_id_is_known_is_not_stored_again(open: Open<'_>) {
    let store = open();
    let log = log(&*store, "repeats");
    let reader = reader(&*log, "one");
    let with = |text: &str| event(text).with_id(id(text));
    let first = log.append(vec![with("a"), with("b"), with("a")]).unwrap();
    assert_eq!(first.repeated, 1);
    let got = fetch(&*reader, 2);
    assert_eq!(texts(&got), ["a", "b"]);
    reader.acknowledge(&positions(&got));
    reader.flush().unwrap();
    // They are known after they were acknowledged, too, and after the store was opened again.
    assert_eq!(log.append(vec![with("b"), with("c")]).unwrap().repeated, 1);
    assert_eq!(texts(&fetch(&*reader, 1)), ["c"]);
    drop((reader, log, store));
    let store = open();
    let log = super::support::again(&*store, "repeats");
    let reader = super::support::reader(&*log, "one");
    let again = log.append(vec![with("a"), with("c"), with("d")]).unwrap();
    assert_eq!(again.repeated, 2);
    assert_eq!(texts(&fetch(&*reader, 2)), ["c", "d"]);
    assert_eq!(log.status().unwrap().repeated, 2);
}

pub(super) fn a_full_log_refuses_until_readers_acknowledge(open: Open<'_>) {
    let store = open();
    let quota = Quota {
        events: 5,
        ..Quota::default()
    };
    let settings = LogSettings {
        quota,
        ..LogSettings::default()
    };
    let log = log_with(&*store, "full", settings);
    let reader = reader(&*log, "one");
    append(&*log, 0..5);
    let error = log.append(vec![event("5")]).unwrap_err();
    assert!(matches!(error, DurableError::Full { .. }), "{error}");
    assert!(error.to_string().contains("5 events"), "{error}");
    assert_eq!(log.status().unwrap().refused, 1);
    let got = fetch(&*reader, 5);
    assert_eq!(texts(&got), numbers(0..5));
    reader.acknowledge(&positions(&got[..1]));
    reader.flush().unwrap();
    eventually("there is room", || log.append(vec![event("6")]).is_ok());
    assert_eq!(texts(&fetch(&*reader, 1)), ["6"]);
}

pub(super) fn a_log_that_drops_the_oldest_keeps_the_latest(open: Open<'_>) {
    let store = open();
    let quota = Quota {
        events: 5,
        when_full: WhenFull::DropOldest,
        ..Quota::default()
    };
    let settings = LogSettings {
        quota,
        ..LogSettings::default()
    };
    let log = log_with(&*store, "drops", settings);
    // Closed, as an open one may hold events that are dropped later.
    drop(reader(&*log, "one"));
    append(&*log, 0..3);
    append(&*log, 3..5);
    append(&*log, 5..8);
    let reader = reader(&*log, "one");
    assert_eq!(texts(&fetch(&*reader, 5)), numbers(3..8));
    check_empty(&*reader);
    assert_eq!(log.status().unwrap().events, 5);
}

pub(super) fn an_event_that_has_expired_is_not_delivered(open: Open<'_>) {
    let store = open();
    let log = log(&*store, "expiry");
    let reader = reader(&*log, "one");
    let short = NewEvent {
        lifetime: Some(Duration::from_millis(1)),
        ..event("short")
    };
    log.append(vec![short, event("lasting")]).unwrap();
    std::thread::sleep(Duration::from_millis(2));
    assert_eq!(texts(&fetch(&*reader, 1)), ["lasting"]);
    eventually("the expired one is gone", || {
        check_empty(&*reader);
        log.status().unwrap().events == 1
    });
}

pub(super) fn a_log_without_readers_accepts_events_and_keeps_none(open: Open<'_>) {
    let store = open();
    let log = log(&*store, "unread");
    append(&*log, 0..10);
    assert_eq!(log.status().unwrap().events, 0);
    let late = reader(&*log, "late");
    check_empty(&*late);
}

pub(super) fn a_removed_log_is_gone_and_a_new_one_of_its_name_is_empty(open: Open<'_>) {
    let store = open();
    let log = log(&*store, "removed-log");
    let reader = reader(&*log, "one");
    append(&*log, 0..10);
    assert!(store.log_names().unwrap().contains(&name("removed-log")));
    drop(reader);
    assert!(store.remove_log(&name("removed-log")).unwrap());
    assert!(!store.remove_log(&name("removed-log")).unwrap());
    assert!(!store.log_names().unwrap().contains(&name("removed-log")));
    let error = log.append(vec![event("late")]).unwrap_err();
    assert!(matches!(error, DurableError::Removed(_)), "{error}");
    let new = super::support::again(&*store, "removed-log");
    let reader = super::support::reader(&*new, "one");
    append(&*new, 20..21);
    assert_eq!(texts(&fetch(&*reader, 1)), ["20"]);
}
