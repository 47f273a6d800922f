//! Calls and handles while the server is away, and logs and readers that another process has removed.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use punctual_durable::{
    DurableError, EventLog, EventStore, LogSettings, Most, Name, NewEvent, Reader,
};
use punctual_jetstream::{JetStreamOptions, JetStreamStore};

use crate::nats::{LIMIT, Nats, eventually};

pub(crate) fn name(text: &str) -> Name {
    text.parse().unwrap()
}

/// Opens the log, and its reader with `held` events that it was handed.
fn reading(options: JetStreamOptions, held: usize) -> (Arc<dyn EventLog>, Arc<dyn Reader>) {
    let store = JetStreamStore::open(options).unwrap();
    let log = store.open_log(&name("log"), LogSettings::default());
    let log = log.unwrap();
    let reader = log.open_reader(&name("reader")).unwrap();
    log.append(vec![NewEvent::new(vec![1]); held]).unwrap();
    let mut got = 0;
    while got < held {
        got += reader.fetch(Most::events(held), LIMIT).unwrap().len();
    }
    (log, reader)
}

/// Returns what work on another thread returns, which must end.
pub(crate) fn ended<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, outcome) = channel();
    std::thread::spawn(move || done.send(work()));
    let outcome = outcome.recv_timeout(LIMIT);
    outcome.unwrap_or_else(|_| panic!("it does not end: {what}"))
}

fn hasty(nats: &Nats) -> JetStreamOptions {
    JetStreamOptions {
        patience: Duration::from_secs(1),
        acknowledge_wait: Duration::from_millis(300),
        ..nats.options()
    }
}

#[test]
fn a_reader_is_closed_though_the_server_does_not_come_back() {
    let Some(mut nats) = Nats::start() else {
        return;
    };
    let (log, reader) = reading(hasty(&nats), 10);
    nats.kill();
    ended("closing", move || drop((reader, log)));
}

#[test]
fn calls_end_however_long_the_server_is_away() {
    let Some(mut nats) = Nats::start() else {
        return;
    };
    let (log, reader) = reading(hasty(&nats), 1_000);
    nats.kill();
    // As long as it takes to fill all that waits for the connection with signs of life.
    for _ in 0..5 {
        let asked = reader.clone();
        assert!(ended("waiting", move || asked.waiting()).is_err());
        let asked = log.clone();
        assert!(ended("names", move || asked.reader_names()).is_err());
        let flushed = reader.clone();
        assert!(ended("flush", move || flushed.flush()).is_err());
        let appended = log.clone();
        let append = move || appended.append(vec![NewEvent::new(vec![2])]);
        assert!(ended("append", append).is_err());
    }
    ended("closing", move || drop((reader, log)));
}

#[test]
fn a_reader_that_another_process_removes_is_gone() {
    let Some(nats) = Nats::start() else { return };
    let (_log, reader) = reading(hasty(&nats), 1);
    let other = nats.store();
    let other = other
        .open_log(&name("log"), LogSettings::default())
        .unwrap();
    assert!(other.remove_reader(&name("reader")).unwrap());
    eventually("the reader is known to be removed", || {
        matches!(
            reader.fetch(Most::events(1), Duration::from_millis(100)),
            Err(DurableError::Removed(_))
        )
    });
}

#[test]
fn a_log_that_is_opened_again_knows_the_readers_that_are_open() {
    let Some(nats) = Nats::start() else { return };
    let store = nats.store();
    let open = || {
        store
            .open_log(&name("log"), LogSettings::default())
            .unwrap()
    };
    let log = open();
    let reader = log.open_reader(&name("reader")).unwrap();
    drop(log);
    let log = open();
    let second = log.open_reader(&name("reader")).unwrap_err();
    assert!(
        matches!(second, DurableError::ReaderInUse { .. }),
        "{second}"
    );
    log.append(vec![NewEvent::new(vec![1])]).unwrap();
    assert_eq!(reader.fetch(Most::events(1), LIMIT).unwrap().len(), 1);
    assert!(log.remove_reader(&name("reader")).unwrap());
    let error = reader.fetch(Most::events(1), LIMIT).unwrap_err();
    assert!(matches!(error, DurableError::Removed(_)), "{error}");
}
