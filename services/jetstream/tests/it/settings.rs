//! Settings that servers refuse, and those that change when a log or reader is opened again.

use punctual_durable::{DurableError, EventStore, LogSettings, Most, Name, NewEvent};
use punctual_jetstream::{JetStreamOptions, JetStreamStore};

use crate::nats::{LIMIT, Nats};

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

#[test]
fn settings_that_the_server_refuses_are_invalid_and_not_an_absent_server() {
    let Some(nats) = Nats::start() else { return };
    let options = JetStreamOptions {
        replicas: 3,
        ..nats.options()
    };
    let store = JetStreamStore::open(options).unwrap();
    let refused = store.open_log(&name("log"), LogSettings::default());
    let error = refused.unwrap_err();
    assert!(matches!(error, DurableError::Invalid(_)), "{error}");
    assert!(error.to_string().contains("replicas"), "{error}");
}

#[test]
fn a_reader_of_a_log_that_another_process_has_removed_is_not_opened() {
    let Some(nats) = Nats::start() else { return };
    let (store, other) = (nats.store(), nats.store());
    let log = store
        .open_log(&name("log"), LogSettings::default())
        .unwrap();
    assert!(other.remove_log(&name("log")).unwrap());
    let error = log.open_reader(&name("reader")).unwrap_err();
    assert!(matches!(error, DurableError::Removed(_)), "{error}");
}

#[test]
fn a_reader_that_exists_takes_the_settings_with_which_it_is_opened_again() {
    let Some(nats) = Nats::start() else { return };
    let opened = |window| {
        let options = JetStreamOptions {
            window,
            ..nats.options()
        };
        let store = JetStreamStore::open(options).unwrap();
        store
            .open_log(&name("log"), LogSettings::default())
            .unwrap()
    };
    drop(opened(1).open_reader(&name("reader")).unwrap());
    let log = opened(10);
    let reader = log.open_reader(&name("reader")).unwrap();
    log.append(vec![NewEvent::new(vec![1]); 10]).unwrap();
    // None of them is acknowledged, so with a window of one only one would come.
    for _ in 0..10 {
        assert_eq!(reader.fetch(Most::events(1), LIMIT).unwrap().len(), 1);
    }
}
