//! Channels and connections after a restart, and peers whose service has ended.

use std::net::TcpListener;

use punctual::NotNil;
use punctual_cosevent::cos_event_channel_admin::ProxyPushConsumer;
use punctual_cosevent::cos_event_comm::{Disconnected, PushConsumerPushError};
use punctual_cosevent::{EventService, Limits};
use punctual_host::store::Faults;

use crate::support::{
    Program, Served, event, exists, limits, number, pull_supplier, push_consumer, until,
};

/// Returns a port that stays free, as no other program and no other test uses this address of the loopback interface.
fn place(host: &str) -> (&str, u16) {
    let free = TcpListener::bind((host, 0)).unwrap();
    (host, free.local_addr().unwrap().port())
}

fn stored(path: &std::path::Path) -> EventService {
    let service = EventService::open(path).unwrap();
    service.set_limits(limits());
    service
}

#[test]
fn channels_and_connections_are_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.redb");
    let (place, program) = (place("127.77.1.1"), Program::new());
    let served = Served::of(stored(&path), place);
    let (push_supplier, sink) = program.sink(&served.channel);
    let (_, source) = program.source(&served.channel);
    let pushes = program.pushes_to(&served.channel);
    let pulls = program.pulls_from(&served.channel);
    let named = served
        .factory
        .create_channel("plant")
        .unwrap()
        .not_nil()
        .unwrap();
    let named = program.see(&named);
    pushes.push(&event(1)).unwrap();
    assert_eq!(sink.wait_for(1), [1]);
    assert_eq!(number(&pulls.pull().unwrap()), 1);
    drop(served);

    let served = Served::of(stored(&path), place);
    assert_eq!(served.service.size(), (2, 4));
    pushes.push(&event(2)).unwrap();
    assert_eq!(sink.wait_for(2), [1, 2]);
    assert_eq!(number(&pulls.pull().unwrap()), 2);
    source.supply(event(3));
    assert_eq!(sink.wait_for(3), [1, 2, 3]);
    assert!(exists(&named));
    assert!(served.factory.join_channel("plant").unwrap().is_some());
    push_supplier.disconnect_push_supplier().unwrap();
    named.destroy().unwrap();
    until(|| sink.disconnects() == 1);
    drop(served);

    let served = Served::of(stored(&path), place);
    assert_eq!(served.service.size(), (1, 3));
    assert!(!exists(&named));
}

#[test]
fn a_connection_that_cannot_be_made_at_the_start_stays_and_is_made_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.redb");
    let (place, program) = (place("127.77.1.5"), Program::new());
    let served = Served::of(stored(&path), place);
    let (first, sink) = program.sink(&served.channel);
    let (_, other) = program.sink(&served.channel);
    let pushes = program.pushes_to(&served.channel);
    drop(served);

    let service = EventService::open(&path).unwrap();
    service.set_limits(Limits {
        proxies: 2,
        ..limits()
    });
    let served = Served::of(service, place);
    assert_eq!(served.service.size(), (1, 2));
    // The proxy of the supplier may be there once another one has left.
    let refused = pushes.push(&event(1)).unwrap_err();
    let PushConsumerPushError::System(refused) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(refused.kind(), punctual::SystemExceptionKind::Transient);
    first.disconnect_push_supplier().unwrap();
    until(|| pushes.push(&event(2)).is_ok());
    assert_eq!(other.wait_for(1), [2]);
    assert_eq!(sink.numbers(), [0; 0]);
    drop(served);

    let served = Served::of(stored(&path), place);
    assert_eq!(served.service.size(), (1, 2));
    pushes.push(&event(3)).unwrap();
    assert_eq!(other.wait_for(2), [2, 3]);
}

#[test]
fn proxies_of_a_service_without_a_store_are_gone_after_a_restart_and_peers_connect_again() {
    let (place, program) = (place("127.77.1.2"), Program::new());
    let served = Served::at(place);
    let channel = program.see(&served.channel);
    let pushes = program.see(&program.pushes_to(&served.channel));
    drop(served);
    let served = Served::at(place);
    let refused = pushes.push(&event(1)).unwrap_err();
    let PushConsumerPushError::System(refused) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(
        refused.kind(),
        punctual::SystemExceptionKind::ObjectNotExist
    );
    // The channel has the same reference.
    let again = push_consumer(&channel);
    again.connect_push_supplier(None).unwrap();
    let pulls = pull_supplier(&channel);
    pulls.connect_pull_consumer(None).unwrap();
    again.push(&event(2)).unwrap();
    assert_eq!(number(&pulls.pull().unwrap()), 2);
    drop(served);
}

#[test]
fn a_proxy_that_ended_before_a_restart_does_not_come_back_as_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.redb");
    let (place, program) = (place("127.77.1.3"), Program::new());
    let served = Served::of(stored(&path), place);
    let ended: ProxyPushConsumer = program.pushes_to(&served.channel);
    ended.disconnect_push_consumer().unwrap();
    drop(served);
    let served = Served::of(stored(&path), place);
    for _ in 0..10 {
        program.pushes_to(&served.channel);
    }
    let refused = ended.push(&event(1)).unwrap_err();
    assert_eq!(refused, PushConsumerPushError::Disconnected(Disconnected));
}

#[test]
fn what_cannot_be_stored_is_refused_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.redb");
    let faults = Faults::default();
    let service = EventService::open_with_faults(&path, faults.clone()).unwrap();
    service.set_limits(limits());
    let (served, program) = (Served::of(service, ("127.0.0.1", 0)), Program::new());
    let proxy = push_consumer(&program.see(&served.channel));
    faults.fill_after(0);
    let refused = served.factory.create_channel("one").unwrap_err();
    let refused = punctual::OperationError::system(&refused).unwrap().kind();
    assert_eq!(refused, punctual::SystemExceptionKind::PersistStore);
    assert!(proxy.connect_push_supplier(None).is_err());
    assert!(!exists(&proxy));
    faults.mend();
    assert_eq!(served.service.size(), (1, 0));
    served.factory.create_channel("one").unwrap();
    let proxy = program.pushes_to(&served.channel);
    proxy.push(&event(1)).unwrap();
}

#[test]
fn connections_whose_calls_fail_as_the_service_ends_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.redb");
    let (place, program) = (place("127.77.1.4"), Program::new());
    let service = EventService::open(&path).unwrap();
    service.set_limits(punctual_cosevent::Limits {
        failures: 1,
        ..limits()
    });
    let served = Served::of(service, place);
    let (_, sink) = program.sink(&served.channel);
    let (_, source) = program.source(&served.channel);
    let pushes = program.pushes_to(&served.channel);
    sink.block(true);
    pushes.push(&event(1)).unwrap();
    pushes.push(&event(2)).unwrap();
    until(|| sink.begun() == 1 && source.asked() > 0);
    served.service.end_waiting();
    // Calls to peers fail from now on.
    served.orb.shutdown(false).unwrap();
    sink.block(false);
    drop(served);
    let served = Served::of(stored(&path), place);
    assert_eq!(served.service.size(), (1, 3));
}
