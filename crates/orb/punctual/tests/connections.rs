//! The client's connections: made ahead of calls, kept for later ones, and let go when they are too many.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use punctual::{Interface, Mux, Orb, Otherwise, Policy, SetOverride, SystemExceptionKind as Kind};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;
use support::{Echo, Pair, watchdog};

const LIMIT: Duration = Duration::from_secs(60);

/// A client that keeps few connections, and references of its own to some servers.
fn client_of(servers: &[Pair], connections: usize) -> (Orb, Vec<Echo>) {
    let client = Orb::builder()
        .configure(|config| config.client_connections = connections)
        .build()
        .unwrap();
    let references = servers.iter().map(|pair| {
        let text = pair.client.object_to_string(&pair.echo).unwrap();
        Echo::from_object(client.string_to_object(&text).unwrap())
    });
    let references = references.collect();
    (client, references)
}

/// Waits until the servers have as many clients as this.
fn have(servers: &[Pair], expected: &[usize]) {
    for (pair, expected) in servers.iter().zip(expected) {
        while pair.server.client_connections() != *expected {
            std::thread::yield_now();
        }
    }
}

/// Lets the clock tick by which connections know when they were used.
fn a_tick() {
    let now = || clock_gettime(ClockId::MonotonicCoarse);
    let begin = now();
    while now() == begin {
        std::thread::yield_now();
    }
}

#[test]
fn the_connection_that_was_used_longest_ago_is_closed_for_a_new_one() {
    let _watchdog = watchdog(LIMIT);
    let servers: Vec<_> = (0..3).map(|_| Pair::new()).collect();
    let (_client, echoes) = client_of(&servers, 2);
    echoes[0].long(1).unwrap();
    a_tick();
    echoes[1].long(1).unwrap();
    a_tick();
    echoes[0].long(1).unwrap();
    a_tick();
    echoes[2].long(1).unwrap();
    have(&servers, &[1, 0, 1]);
    // It is opened again when it is needed, and another goes for it.
    a_tick();
    echoes[1].long(1).unwrap();
    have(&servers, &[0, 1, 1]);
}

#[test]
fn one_that_a_call_uses_is_not_closed() {
    let _watchdog = watchdog(LIMIT);
    let servers: Vec<_> = (0..2).map(|_| Pair::new()).collect();
    let (_client, echoes) = client_of(&servers, 1);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| echoes[0].wait());
        servers[0].servant.gate.wait_for_waiters(1);
        echoes[1].long(1).unwrap();
        have(&servers, &[1, 1]);
        servers[0].servant.gate.open();
        waiting.join().unwrap().unwrap();
    });
    assert_eq!(echoes[0].long(2).unwrap(), 2);
}

#[test]
fn callers_that_share_none_keep_as_many_as_they_need_and_leave_no_more_than_the_limit() {
    let _watchdog = watchdog(LIMIT);
    let servers = [Pair::new(), Pair::new()];
    let (_client, echoes) = client_of(&servers, 2);
    let alone = Echo::from_object(
        echoes[0]
            .as_object()
            .set_policy_overrides(&[Policy::Mux(Mux::Exclusive)], SetOverride::Add)
            .unwrap(),
    );
    std::thread::scope(|scope| {
        let waiting: Vec<_> = (0..4).map(|_| scope.spawn(|| alone.wait())).collect();
        servers[0].servant.gate.wait_for_waiters(4);
        have(&servers, &[4, 0]);
        servers[0].servant.gate.open();
        for waiting in waiting {
            waiting.join().unwrap().unwrap();
        }
    });
    echoes[1].long(1).unwrap();
    have(&servers, &[1, 1]);
}

#[test]
fn a_connection_can_be_made_ahead_of_calls() {
    let _watchdog = watchdog(LIMIT);
    let servers = [Pair::new()];
    let (_client, echoes) = client_of(&servers, 2);
    let object = echoes[0].as_object();
    assert_eq!(object.connected_to(), None);
    assert!(object.validate_connection().unwrap());
    assert!(object.connected_to().is_some());
    have(&servers, &[1]);
    assert_eq!(echoes[0].long(1).unwrap(), 1);
    have(&servers, &[1]);
    let only = [Policy::protocols(&["uiop"], Otherwise::Raise)];
    let elsewhere = object
        .set_policy_overrides(&only, SetOverride::Add)
        .unwrap();
    assert!(!elsewhere.validate_connection().unwrap());
    servers[0].server.shutdown(true).unwrap();
    let error = object.validate_connection().unwrap_err();
    assert_eq!(error.kind(), Kind::Transient, "{error}");
}
