//! Servers that end, and clusters without a majority.

use std::time::Duration;

use punctual_durable::{DurableError, EventId, EventStore, LogSettings, Most, Name, NewEvent};
use punctual_jetstream::{JetStreamOptions, JetStreamStore};

use crate::nats::{LIMIT, Nats, cluster_options, eventually};

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn event(text: &str) -> NewEvent {
    NewEvent::new(text.as_bytes().to_vec()).with_id(EventId::new(text.as_bytes()).unwrap())
}

#[test]
fn what_is_acknowledged_survives_a_killed_server_and_the_connection_is_made_again() {
    let Some(mut nats) = Nats::start() else {
        return;
    };
    let options = JetStreamOptions {
        patience: Duration::from_secs(60),
        ..nats.options()
    };
    let store = JetStreamStore::open(options).unwrap();
    let log = store
        .open_log(&name("log"), LogSettings::default())
        .unwrap();
    let reader = log.open_reader(&name("reader")).unwrap();
    for number in 0..20 {
        log.append(vec![event(&number.to_string())]).unwrap();
        if number % 7 == 6 {
            nats.kill();
            nats.restart();
        }
    }
    let mut got = Vec::new();
    while got.len() < 20 {
        let more = reader.fetch(Most::events(20), LIMIT).unwrap();
        assert!(!more.is_empty(), "events that came: {}", got.len());
        reader.acknowledge(&more.iter().map(|one| one.position).collect::<Vec<_>>());
        got.extend(
            more.iter()
                .map(|one| String::from_utf8(one.bytes.to_vec()).unwrap()),
        );
    }
    assert_eq!(
        got,
        (0..20).map(|number| number.to_string()).collect::<Vec<_>>()
    );
    eventually("all acknowledgements are there", || {
        reader.flush().is_ok() && reader.waiting() == Ok(0)
    });
}

#[test]
fn a_cluster_without_a_majority_refuses_and_goes_on_when_there_is_one_again() {
    let Some(mut nodes) = Nats::cluster() else {
        return;
    };
    let options = JetStreamOptions {
        patience: Duration::from_secs(3),
        ..cluster_options(&nodes)
    };
    let store = JetStreamStore::open(options).unwrap();
    let log = store
        .open_log(&name("log"), LogSettings::default())
        .unwrap();
    let reader = log.open_reader(&name("reader")).unwrap();
    log.append(vec![event("before")]).unwrap();
    nodes[1].kill();
    nodes[2].kill();
    let error = log.append(vec![event("meanwhile")]).unwrap_err();
    assert!(
        matches!(error, DurableError::Unknown(_) | DurableError::Away(_)),
        "{error}"
    );
    nodes[1].restart();
    nodes[2].restart();
    // With its id it is stored once, whatever became of the first attempt.
    eventually("there is a majority again", || {
        log.append(vec![event("meanwhile")]).is_ok()
    });
    log.append(vec![event("after")]).unwrap();
    let mut got = Vec::new();
    while got.len() < 3 {
        let more = reader.fetch(Most::events(10), LIMIT).unwrap();
        assert!(!more.is_empty(), "events that came: {}", got.len());
        got.extend(
            more.iter()
                .map(|one| String::from_utf8(one.bytes.to_vec()).unwrap()),
        );
    }
    assert_eq!(got, ["before", "meanwhile", "after"]);
}

#[test]
fn appends_beyond_those_that_may_wait_fail_at_once_while_the_server_is_away() {
    let Some(mut nats) = Nats::start() else {
        return;
    };
    let options = JetStreamOptions {
        waiting_appends: 4,
        patience: Duration::from_secs(5),
        ..nats.options()
    };
    let store = JetStreamStore::open(options).unwrap();
    let log = store
        .open_log(&name("log"), LogSettings::default())
        .unwrap();
    nats.kill();
    let append = |number: u32| log.append(vec![event(&number.to_string())]).unwrap_err();
    let errors: Vec<DurableError> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..20)
            .map(|number| scope.spawn(move || append(number)))
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let full = errors
        .iter()
        .filter(|error| error.to_string().contains("too many appends"));
    assert!(full.count() > 0, "{errors:?}");
    assert!(
        errors
            .iter()
            .all(|error| { matches!(error, DurableError::Away(_) | DurableError::Unknown(_)) })
    );
}

#[test]
fn an_event_longer_than_the_server_takes_is_refused_with_both_lengths() {
    let Some(nats) = Nats::start() else { return };
    let store = nats.store();
    let log = store
        .open_log(&name("log"), LogSettings::default())
        .unwrap();
    let error = log
        .append(vec![NewEvent::new(vec![0; 2 << 20])])
        .unwrap_err();
    assert!(matches!(error, DurableError::TooLong { .. }), "{error}");
    assert!(error.to_string().contains("2097152"), "{error}");
}

#[test]
fn no_server_at_all_is_an_error_that_names_it() {
    let options = JetStreamOptions {
        patience: Duration::from_millis(500),
        ..JetStreamOptions::new(["nats://127.0.0.1:1"])
    };
    let error = JetStreamStore::open(options).unwrap_err();
    assert!(matches!(error, DurableError::Away(_)), "{error}");
    assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
}
