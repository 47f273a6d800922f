//! Persistent events on NATS JetStream. Skipped where there is no `nats-server` (in the path, or named by
//! `PUNCTUAL_NATS_SERVER`).

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use punctual::SystemExceptionKind as Kind;
use punctual_jetstream::{JetStreamOptions, JetStreamStore};
use punctual_notification::NotificationService;

use crate::nats::Nats;
use crate::persistent::persistent_events;
use crate::restarts::{place, stored};
use crate::support::{Program, Served, event, kind_of, number, until};

/// Service in a file, with its events on a NATS server.
fn stored_on(path: &Path, nats: &Nats) -> NotificationService {
    patient(path, nats, Duration::from_secs(2))
}

/// The same service, whose calls wait for the server for so long.
fn patient(path: &Path, nats: &Nats, patience: Duration) -> NotificationService {
    let service = stored(path);
    let options = JetStreamOptions {
        patience,
        ..nats.options()
    };
    service.set_event_store(Arc::new(JetStreamStore::open(options).unwrap()));
    service
}

#[test]
fn events_on_jetstream_come_after_a_restart_in_order() {
    let Some(nats) = Nats::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let (place, program) = (place("127.79.4.1"), Program::new());
    let served = Served::of(stored_on(&path, &nats), place);
    let channel = served.channel(&persistent_events(), &[]);
    let (proxy, sink) = program.sink(&channel);
    let pulls = program.pulls_from(&channel);
    let pushes = program.pushes_to(&channel);
    pushes.push_structured_event(&event(1)).unwrap();
    assert_eq!(sink.wait_for(1), [1]);
    proxy.suspend_connection().unwrap();
    let sequences = program.pushes_sequences_to(&channel);
    sequences
        .push_structured_events(&[event(2), event(3)])
        .unwrap();
    drop(served);

    let _served = Served::of(stored_on(&path, &nats), place);
    pushes.push_structured_event(&event(4)).unwrap();
    proxy.resume_connection().unwrap();
    until(|| sink.numbers().ends_with(&[2, 3, 4]));
    let mut pulled = Vec::new();
    while pulled.last() != Some(&4) {
        pulled.push(number(&pulls.pull_structured_event().unwrap()));
    }
    assert_eq!(pulled, [1, 2, 3, 4]);
}

#[test]
fn a_push_while_jetstream_is_away_raises_and_those_before_and_after_arrive() {
    let Some(mut nats) = Nats::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let service = stored_on(&folder.path().join("notification.redb"), &nats);
    let (served, program) = (Served::of(service, ("127.0.0.1", 0)), Program::new());
    let channel = served.channel(&persistent_events(), &[]);
    let (_, sink) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    pushes.push_structured_event(&event(1)).unwrap();
    nats.kill();
    let kind = kind_of(pushes.push_structured_event(&event(2)));
    assert!(
        matches!(kind, Kind::Transient | Kind::PersistStore),
        "{kind:?}"
    );
    nats.restart();
    nats.wait();
    until(|| pushes.push_structured_event(&event(3)).is_ok());
    until(|| sink.numbers().contains(&3));
    assert_eq!(sink.numbers().first(), Some(&1));
}

#[test]
fn the_service_ends_though_jetstream_is_silent_and_a_push_waits_for_it() {
    let Some(nats) = Nats::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    // It would wait for longer than a test takes.
    let hour = Duration::from_secs(3_600);
    let service = patient(&folder.path().join("notification.redb"), &nats, hour);
    let (served, program) = (Served::of(service, ("127.0.0.1", 0)), Program::new());
    let channel = served.channel(&persistent_events(), &[]);
    let (_, sink) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    pushes.push_structured_event(&event(1)).unwrap();
    assert_eq!(sink.wait_for(1), [1]);
    nats.freeze();
    std::thread::scope(|scope| {
        let push = scope.spawn(|| pushes.push_structured_event(&event(2)));
        drop(served);
        push.join().unwrap().unwrap_err();
    });
}

#[test]
fn a_channel_that_is_destroyed_leaves_no_stream_behind() {
    let Some(nats) = Nats::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let service = stored_on(&folder.path().join("notification.redb"), &nats);
    let served = Served::of(service, ("127.0.0.1", 0));
    let channel = served.channel(&persistent_events(), &[]);
    let names = || punctual_durable::EventStore::log_names(&nats.store()).unwrap();
    assert_eq!(names().len(), 1);
    channel.destroy().unwrap();
    assert_eq!(names(), []);
}
