//! Peers that do not answer, fail or are gone: others are not affected.

use std::net::TcpListener;
use std::time::Duration;

use punctual::{Interface, SystemExceptionKind as Kind};
use punctual_cosevent::Limits;
use punctual_cosevent::cos_event_comm::{PullSupplier, PushConsumer, PushSupplier};

use crate::peers::{End, Sink, Source};
use crate::support::{
    Program, Served, event, exists, limits, number, pull_consumer, pull_supplier, push_consumer,
    push_supplier, until,
};

#[test]
fn a_consumer_that_blocks_delays_no_other_consumer_and_no_supplier() {
    let (served, program) = (Served::new(), Program::new());
    let blocked: Vec<Sink> = (0..6)
        .map(|_| {
            let (_, sink) = program.sink(&served.channel);
            sink.block(true);
            sink
        })
        .collect();
    let (_, sink) = program.sink(&served.channel);
    let pulls = program.pulls_from(&served.channel);
    let pushes = program.pushes_to(&served.channel);
    for number in 0..10 {
        pushes.push(&event(number)).unwrap();
    }
    let all: Vec<i32> = (0..10).collect();
    assert_eq!(sink.wait_for(10), all);
    assert_eq!(number(&pulls.pull().unwrap()), 0);
    for sink in &blocked {
        until(|| sink.begun() == 1);
        assert!(sink.numbers().is_empty());
        sink.block(false);
        assert_eq!(sink.wait_for(10), all);
    }
}

#[test]
fn a_supplier_that_does_not_answer_delays_no_other() {
    let (served, program) = (Served::new(), Program::new());
    let silent: Vec<Source> = (0..70)
        .map(|_| {
            let (_, source) = program.source(&served.channel);
            source.block(true);
            source
        })
        .collect();
    // There are more of them than threads.
    let other = Program::new();
    let (_, source) = other.source(&served.channel);
    let pulls = other.pulls_from(&served.channel);
    source.supply(event(1));
    assert_eq!(number(&pulls.pull().unwrap()), 1);
    for source in silent {
        source.block(false);
    }
}

#[test]
fn a_consumer_whose_pushes_fail_is_disconnected_and_what_it_lost_is_counted() {
    let (served, program) = (
        Served::with(Limits {
            failures: 3,
            ..limits()
        }),
        Program::new(),
    );
    let (proxy, sink) = program.sink(&served.channel);
    sink.refuse(Kind::Internal.because("as the test wants it").into());
    // All events are in its queue before the first push fails.
    sink.block(true);
    let (_, good) = program.sink(&served.channel);
    let pushes = program.pushes_to(&served.channel);
    for number in 0..5 {
        pushes.push(&event(number)).unwrap();
    }
    sink.block(false);
    until(|| sink.disconnects() == 1);
    assert!(!exists(&proxy));
    assert_eq!(good.wait_for(5), [0, 1, 2, 3, 4]);
    assert_eq!(sink.begun(), 3);
    until(|| served.metric("lost_peers_total") == 1);
    // Three whose push failed, and two that waited.
    until(|| served.metric("undelivered_total") == 5);
}

#[test]
fn a_consumer_that_takes_longer_than_a_call_may_loses_the_event() {
    let (served, program) = (
        Served::with(Limits {
            call_timeout: Duration::from_millis(20),
            failures: 2,
            ..limits()
        }),
        Program::new(),
    );
    let (proxy, sink) = program.sink(&served.channel);
    sink.block(true);
    let pushes = program.pushes_to(&served.channel);
    pushes.push(&event(1)).unwrap();
    pushes.push(&event(2)).unwrap();
    until(|| !exists(&proxy));
    sink.block(false);
    until(|| served.metric("undelivered_total") == 2);
}

/// Returns the text of a reference to an object at a port without a listener.
fn nowhere() -> String {
    // No other program uses this address of the loopback interface, so that the port stays free.
    let free = TcpListener::bind("127.77.0.2:0").unwrap();
    let port = free.local_addr().unwrap().port();
    format!("corbaloc:iiop:127.77.0.2:{port}/gone")
}

#[test]
fn peers_that_cannot_be_reached_are_disconnected() {
    let (served, program) = (
        Served::with(Limits {
            failures: 2,
            ..limits()
        }),
        Program::new(),
    );
    let gone = program.orb.string_to_object(&nowhere()).unwrap();
    let consumer = push_supplier(&program.see(&served.channel));
    consumer
        .connect_push_consumer(Some(&PushConsumer::from_object(gone.clone())))
        .unwrap();
    let supplier = pull_consumer(&program.see(&served.channel));
    supplier
        .connect_pull_supplier(Some(&PullSupplier::from_object(gone)))
        .unwrap();
    until(|| !exists(&supplier));
    let pushes = program.pushes_to(&served.channel);
    pushes.push(&event(1)).unwrap();
    pushes.push(&event(2)).unwrap();
    until(|| !exists(&consumer));
}

#[test]
fn peers_that_are_gone_are_found_although_there_are_no_events() {
    let (served, program) = (
        Served::with(Limits {
            check: Some(Duration::from_millis(1)),
            failures: 2,
            ..limits()
        }),
        Program::new(),
    );
    let gone = program.orb.string_to_object(&nowhere()).unwrap();
    let pushes = push_consumer(&program.see(&served.channel));
    pushes
        .connect_push_supplier(Some(&PushSupplier::from_object(gone.clone())))
        .unwrap();
    let pulls = pull_supplier(&program.see(&served.channel));
    let consumer = punctual_cosevent::cos_event_comm::PullConsumer::from_object(gone);
    pulls.connect_pull_consumer(Some(&consumer)).unwrap();
    // These exist.
    let (there, sink) = program.sink(&served.channel);
    let end: PushSupplier = program.object(End::default());
    let stays = push_consumer(&program.see(&served.channel));
    stays.connect_push_supplier(Some(&end)).unwrap();
    until(|| !exists(&pushes) && !exists(&pulls));
    stays.push(&event(1)).unwrap();
    assert_eq!(sink.wait_for(1), [1]);
    assert!(exists(&there));
}
