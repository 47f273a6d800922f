//! Answers given by other threads, in any order, over every protocol that supports replies.

use super::desk::{Desk, exercise};
use super::support::watchdog;
use super::{Pair, tcp, until};
use punctual::asynchronous::Amh;
use punctual::config::{Concurrency, GiopVersion, PoolSize};
use punctual::{Interface, ListenEndpoint, SystemExceptionKind as Kind, minor};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(240);

/// Protocols that support replies, each with an endpoint to listen at.
const PROTOCOLS: &[(&str, &str)] = &[
    ("iiop", "127.0.0.1:0"),
    ("uiop", ""),
    ("shmiop", ""),
    ("reliable+diop", "127.0.0.1:0"),
    ("giop_lite+iiop", "127.0.0.1:0"),
    ("giop_lite+shmiop", ""),
];

pub(super) fn strategies() -> [Concurrency; 3] {
    [
        Concurrency::ThreadPerConnection,
        Concurrency::Reactive,
        Concurrency::LeaderFollowers(PoolSize {
            threads: 2,
            most: 4,
            reserve: true,
        }),
    ]
}

#[test]
fn answers_come_back_over_every_protocol_and_concurrency_strategy() {
    let _watchdog = watchdog(LIMIT);
    for (protocol, place) in PROTOCOLS {
        for strategy in strategies() {
            let desk = Desk::new();
            let endpoint = ListenEndpoint::new(protocol, place);
            let server = |config: &mut punctual::OrbConfig| config.concurrency = strategy;
            let pair = Pair::with(|_| Amh::shared(desk.clone()), endpoint, server, |_| {});
            exercise(&pair.clerk).unwrap();
            until(|| desk.notes.load(Ordering::Relaxed) == 1);
            pair.end();
        }
    }
}

#[test]
fn answers_come_back_in_every_giop_version() {
    let _watchdog = watchdog(LIMIT);
    for version in [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2] {
        let desk = Desk::new();
        let client = |config: &mut punctual::OrbConfig| config.giop_version = version;
        let pair = Pair::with(|_| Amh::shared(desk.clone()), tcp(), |_| {}, client);
        exercise(&pair.clerk).unwrap();
        pair.end();
    }
}

#[test]
fn thousands_of_calls_are_open_at_once_and_are_answered_in_any_order() {
    let _watchdog = watchdog(LIMIT);
    for strategy in strategies() {
        let desk = Desk::new();
        let server = |config: &mut punctual::OrbConfig| config.concurrency = strategy;
        let pair = Pair::with(|_| Amh::shared(desk.clone()), tcp(), server, |_| {});
        assert_eq!(pair.clerk.add(1, 2).unwrap(), 3);
        let waits: Vec<_> = (0..3000)
            .map(|_| pair.clerk.sendp_wait_at("gate"))
            .collect();
        until(|| desk.waiting() == 3000);
        // Other calls go on, on the same connection.
        assert_eq!(pair.clerk.add(1, 2).unwrap(), 3);
        pair.clerk.open("gate").unwrap();
        for one in waits {
            assert_eq!(one.wait().unwrap(), 4);
        }
        pair.end();
    }
}

#[test]
fn a_response_that_is_dropped_answers_no_response_and_one_that_a_panic_drops_unknown() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::of(&Desk::new());
    let dropped = pair.clerk.wait_at("nowhere").unwrap_err();
    assert_eq!(
        (dropped.kind(), dropped.minor()),
        (Kind::NoResponse, minor::NOT_ANSWERED)
    );
    let panicked = pair.clerk.stumble().unwrap_err();
    assert_eq!(
        (panicked.kind(), panicked.minor()),
        (Kind::Unknown, minor::SERVANT_PANICKED)
    );
    assert_eq!(pair.clerk.add(1, 2).unwrap(), 3);
    pair.end();
}

#[test]
fn an_answer_may_send_the_call_to_another_object() {
    let _watchdog = watchdog(LIMIT);
    let (desk, other) = (Desk::new(), Desk::new());
    let (pair, elsewhere) = (Pair::of(&desk), Pair::of(&other));
    let clerk = pair.clerk.clone();
    let waits = thread::spawn(move || clerk.wait_at("far away"));
    until(|| desk.waiting() == 1);
    let (_, response) = desk.waiting.lock().unwrap().pop().unwrap();
    response.forward(elsewhere.clerk.as_object()).unwrap();
    until(|| other.waiting() == 1);
    other.open_gate("far away");
    assert_eq!(waits.join().unwrap().unwrap(), 8);
    pair.end();
    elsewhere.end();
}
