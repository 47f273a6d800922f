//! Clients that do not answer, fail or are gone: others are not affected, and those that come back go on.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use punctual::{
    Any, CompletionStatus, Interface, ListenEndpoint, Orb, RootPoa, SystemException,
    SystemExceptionKind as Kind,
};
use punctual_notification::Limits;
use punctual_notification::cos_notification::{
    DISCARD_POLICY, FIFO_ORDER, MAX_EVENTS_PER_CONSUMER, ORDER_POLICY,
};
use punctual_notification::cos_notify_comm::StructuredPushConsumer;

use crate::clients::Peer;
use crate::support::{Program, Served, event, exists, kind_of, limits, property, until};

#[test]
fn consumers_that_block_delay_no_other_and_no_supplier() {
    let served = Served::with(Limits {
        threads: 2,
        ..limits()
    });
    let (program, blocking) = (Program::new(), Program::new());
    let channel = served.channel(&[], &[]);
    // More than threads.
    let blocked: Vec<Peer> = (0..6)
        .map(|_| {
            let (_, sink) = blocking.sink(&channel);
            sink.block(true);
            sink
        })
        .collect();
    let (_, sink) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    for number in 0..10 {
        pushes.push_structured_event(&event(number)).unwrap();
    }
    let all: Vec<i32> = (0..10).collect();
    assert_eq!(sink.wait_for(10), all);
    for sink in &blocked {
        until(|| sink.begun() == 1);
        assert!(sink.numbers().is_empty());
    }
    for sink in &blocked {
        sink.block(false);
        assert_eq!(sink.wait_for(10), all);
    }
}

/// Returns a port of an address that no other program uses, so that it stays free.
fn free_port(host: &str) -> u16 {
    let free = TcpListener::bind((host, 0)).unwrap();
    free.local_addr().unwrap().port()
}

#[test]
fn a_consumer_that_was_away_gets_all_events_when_it_is_back() {
    let (served, program) = (Served::new(), Program::new());
    let channel = served.channel(&[], &[]);
    let (host, port) = ("127.77.0.31", free_port("127.77.0.31"));
    let orb = Orb::builder().build().unwrap();
    let text = format!("corbaloc:iiop:{host}:{port}/sink");
    let object = orb.string_to_object(&text).unwrap();
    let proxy = program.unconnected(&channel);
    let consumer = StructuredPushConsumer::from_object(object);
    proxy
        .connect_structured_push_consumer(Some(&consumer))
        .unwrap();
    let pushes = program.pushes_to(&channel);
    for number in 0..3 {
        pushes.push_structured_event(&event(number)).unwrap();
    }
    until(|| served.metric("retried_total") >= 3);
    // It comes.
    let sink = Peer::default();
    let back = Orb::builder()
        .listen(ListenEndpoint::iiop(host, port))
        .build()
        .unwrap();
    let poa = back.root_poa().unwrap();
    let object: StructuredPushConsumer = poa.activate(sink.clone()).unwrap();
    back.ior_table().unwrap().bind("sink", &object).unwrap();
    poa.manager().activate().unwrap();
    assert_eq!(sink.wait_for(3), [0, 1, 2]);
    assert_eq!(served.metric("undelivered_total"), 0);
    back.shutdown(true).unwrap();
}

#[test]
fn a_consumer_that_does_not_exist_is_disconnected() {
    let (served, program) = (Served::new(), Program::new());
    let channel = served.channel(&[], &[]);
    let other = Program::new();
    let (proxy, sink) = other.sink(&channel);
    sink.refuse(Some(Kind::ObjectNotExist.because("as the test wants it")));
    program
        .pushes_to(&channel)
        .push_structured_event(&event(1))
        .unwrap();
    until(|| !exists(&proxy));
    until(|| served.metric("lost_peers_total") == 1);
    assert_eq!(served.metric("undelivered_total"), 1);
    assert_eq!(sink.disconnects(), 0);
}

#[test]
fn an_event_that_a_consumer_refuses_is_lost_for_it_and_the_next_one_comes() {
    let (served, program) = (Served::new(), Program::new());
    let channel = served.channel(&[], &[]);
    let (proxy, sink) = program.sink(&channel);
    let refusal = SystemException::new(Kind::Internal, 0, CompletionStatus::Yes);
    sink.refuse(Some(refusal));
    let pushes = program.pushes_to(&channel);
    pushes.push_structured_event(&event(1)).unwrap();
    until(|| served.metric("undelivered_total") == 1);
    sink.refuse(None);
    pushes.push_structured_event(&event(2)).unwrap();
    assert_eq!(sink.wait_for(1), [2]);
    assert!(exists(&proxy));
}

#[test]
fn a_consumer_to_which_no_call_succeeds_is_given_up_in_the_end() {
    let served = Served::with(Limits {
        give_up: Some(Duration::from_millis(20)),
        ..limits()
    });
    let program = Program::new();
    let channel = served.channel(&[], &[]);
    let port = free_port("127.77.0.32");
    let nowhere = format!("corbaloc:iiop:127.77.0.32:{port}/gone");
    let object = program.orb.string_to_object(&nowhere).unwrap();
    let proxy = program.unconnected(&channel);
    let consumer = StructuredPushConsumer::from_object(object);
    proxy
        .connect_structured_push_consumer(Some(&consumer))
        .unwrap();
    program
        .pushes_to(&channel)
        .push_structured_event(&event(1))
        .unwrap();
    until(|| !exists(&proxy));
    until(|| served.metric("undelivered_total") == 1);
}

#[test]
fn clients_that_are_gone_are_found_although_there_are_no_events() {
    let served = Served::with(Limits {
        check: Some(Duration::from_millis(1)),
        give_up: Some(Duration::from_millis(5)),
        ..limits()
    });
    let program = Program::new();
    let channel = served.channel(&[], &[]);
    let (there, _) = program.sink(&channel);
    let other = Program::new();
    let (gone, _) = other.sink(&channel);
    let gone = program.see(&gone);
    drop(other);
    until(|| !exists(&gone));
    assert!(exists(&there));
}

#[test]
fn a_proxy_that_is_not_connected_is_removed_after_its_time() {
    let served = Served::with(Limits {
        connect_within: Duration::from_millis(5),
        ..limits()
    });
    let program = Program::new();
    let channel = served.channel(&[], &[]);
    let proxy = program.unconnected(&channel);
    until(|| !exists(&proxy));
}

#[test]
fn a_full_queue_loses_events_and_counts_them() {
    let (served, program) = (Served::new(), Program::new());
    let channel = served.channel(
        &[
            property(MAX_EVENTS_PER_CONSUMER, 2),
            property(ORDER_POLICY, FIFO_ORDER),
            property(DISCARD_POLICY, FIFO_ORDER),
        ],
        &[],
    );
    let (proxy, sink) = program.sink(&channel);
    proxy.suspend_connection().unwrap();
    let pushes = program.pushes_to(&channel);
    for number in 0..5 {
        pushes.push_structured_event(&event(number)).unwrap();
    }
    assert_eq!(served.metric("discarded_total"), 3);
    assert_eq!(served.metric("queued"), 2);
    proxy.resume_connection().unwrap();
    assert_eq!(sink.wait_for(2), [3, 4]);
}

#[test]
fn an_event_that_is_too_large_is_refused_and_others_pass() {
    let served = Served::with(Limits {
        event_bytes: 4_000,
        ..limits()
    });
    let program = Program::new();
    let channel = served.channel(&[], &[]);
    let (_, sink) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    let mut large = event(1);
    large.remainder_of_body = Any::new(&vec![0_u8; 4_000]).unwrap();
    assert_eq!(
        kind_of(pushes.push_structured_event(&large)),
        Kind::ImpLimit
    );
    pushes.push_structured_event(&event(2)).unwrap();
    assert_eq!(sink.wait_for(1), [2]);
}

#[test]
fn an_event_that_a_consumer_cannot_read_does_not_keep_the_next_ones_waiting() {
    let (served, program) = (Served::new(), Program::new());
    let channel = served.channel(&[], &[]);
    let (proxy, sink) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    for (count, kind) in [Kind::Marshal, Kind::BadParam, Kind::BadOperation]
        .into_iter()
        .enumerate()
    {
        sink.refuse(Some(SystemException::new(kind, 0, CompletionStatus::No)));
        pushes.push_structured_event(&event(1)).unwrap();
        let limit = Instant::now() + Duration::from_secs(60);
        while served.metric("undelivered_total") <= count as u64 {
            assert!(Instant::now() < limit, "{kind:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    sink.refuse(None);
    pushes.push_structured_event(&event(2)).unwrap();
    assert_eq!(sink.wait_for(1), [2]);
    assert!(exists(&proxy));
}

#[test]
fn an_event_whose_push_fails_after_its_consumer_was_disconnected_counts_as_undelivered() {
    let (served, program) = (Served::new(), Program::new());
    let channel = served.channel(&[], &[]);
    let (proxy, sink) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    sink.block(true);
    pushes.push_structured_event(&event(1)).unwrap();
    until(|| sink.begun() == 1);
    proxy.disconnect_structured_push_supplier().unwrap();
    assert_eq!(served.metric("undelivered_total"), 0);
    let not_taken = SystemException::new(Kind::Transient, 0, CompletionStatus::No);
    sink.refuse(Some(not_taken));
    sink.block(false);
    until(|| served.metric("undelivered_total") == 1);
}
