//! The end of a process while the server is silent: no call waits for it, though it never goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use punctual_durable::{DurableError, EventStore, LogSettings, Most, NewEvent};
use punctual_host::Turn;
use punctual_host::store::{SharedRecord, SharedRecords, StoreError};
use punctual_jetstream::{JetStreamOptions, JetStreamRecords, JetStreamStore};

use crate::away::{ended, name};
use crate::lost::Proxy;
use crate::nats::{LIMIT, Nats, eventually};

/// Time that no test waits for.
const LONG: Duration = Duration::from_secs(3_600);

/// Opens a store whose calls wait for the server for as long as they may.
fn patient(proxy: &Proxy) -> JetStreamStore {
    let options = JetStreamOptions {
        patience: LONG,
        ..JetStreamOptions::new([proxy.url()])
    };
    JetStreamStore::open(options).unwrap()
}

#[test]
fn calls_and_closings_end_though_the_server_is_silent() {
    let Some(nats) = Nats::start() else { return };
    let proxy = Proxy::of(&nats.url);
    let store = Arc::new(patient(&proxy));
    let records = JetStreamRecords::new(&store, &name("service"), LONG).unwrap();
    assert!(records.wait(&mut || false).unwrap());
    let log = store.open_log(&name("log"), LogSettings::default());
    let log = log.unwrap();
    let readers = ["one", "other"].map(|reader| log.open_reader(&name(reader)).unwrap());
    log.append(vec![NewEvent::new(vec![1])]).unwrap();
    for reader in &readers {
        let got = reader.fetch(Most::events(1), LIMIT).unwrap();
        reader.acknowledge(&[got[0].position]);
    }
    proxy.hold_up(true);
    let calls = {
        let (log, readers) = (log.clone(), readers.clone());
        let record = SharedRecord {
            table: "table".into(),
            number: 1,
            value: Some(vec![1]),
        };
        std::thread::spawn(move || {
            let outcomes = std::thread::scope(|scope| {
                let append = scope.spawn(|| log.append(vec![NewEvent::new(vec![2])]));
                let flush = scope.spawn(|| readers[0].flush());
                let status = scope.spawn(|| log.status().map(drop));
                let write = scope.spawn(|| records.write(&[record]));
                (
                    append.join().unwrap().unwrap_err(),
                    [flush, status].map(|one| one.join().unwrap().unwrap_err()),
                    write.join().unwrap().unwrap_err(),
                )
            });
            drop(records);
            outcomes
        })
    };
    store.end_waiting();
    let outcomes = ended("the calls", move || calls.join().unwrap());
    let (append, others, write) = outcomes;
    assert!(matches!(append, DurableError::Unknown(_)), "{append}");
    for other in others {
        assert!(matches!(other, DurableError::Away(_)), "{other}");
    }
    assert!(
        matches!(write, StoreError::Unknown(_) | StoreError::Away(_)),
        "{write}"
    );
    ended("the closings", move || drop((readers, log, store)));
}

#[test]
fn a_server_that_waits_for_its_turn_ends_though_the_servers_of_the_events_are_silent() {
    let Some(nats) = Nats::start() else { return };
    let proxy = Proxy::of(&nats.url);
    let records = JetStreamRecords::new(&patient(&proxy), &name("service"), LONG).unwrap();
    proxy.hold_up(true);
    let (is_ending, looks) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU32::new(0)),
    );
    let (ends, looked) = (is_ending.clone(), looks.clone());
    let waits = std::thread::spawn(move || {
        records.wait(&mut || {
            looked.fetch_add(1, Ordering::SeqCst);
            ends.load(Ordering::SeqCst)
        })
    });
    // The second time while its question waits for an answer.
    eventually("it waits", || looks.load(Ordering::SeqCst) > 1);
    is_ending.store(true, Ordering::SeqCst);
    let waited = ended("the wait", move || waits.join().unwrap());
    assert!(!waited.unwrap());
}
