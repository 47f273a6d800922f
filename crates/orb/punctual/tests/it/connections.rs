//! Connections of a client: opened before calls, kept for later ones, and closed when they are too
//! many.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::support;

use punctual::policy::{Mux, Otherwise, Validation};
use punctual::stub::Operation;
use punctual::{Interface, Orb, Policy, SetOverride, SystemExceptionKind as Kind};
use rustix::time::{ClockId, clock_gettime};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use support::{Echo, Pair, watchdog};

const LIMIT: Duration = Duration::from_secs(60);

/// Makes a client that keeps at most `connections` connections open, and its references to the
/// servers.
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

/// Waits until each server has the expected number of client connections.
fn have(servers: &[Pair], expected: &[usize]) {
    for (pair, expected) in servers.iter().zip(expected) {
        while pair.server.client_connections() != *expected {
            crate::support::pause();
        }
    }
}

/// Waits for a tick of the clock that records the last use of connections.
fn a_tick() {
    let now = || clock_gettime(ClockId::MonotonicCoarse);
    let begin = now();
    while now() == begin {
        crate::support::pause();
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
    // It is opened again on demand, and another one is closed for it.
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
    assert!(object.validate_connection().unwrap().is_connected());
    assert!(object.connected_to().is_some());
    have(&servers, &[1]);
    assert_eq!(echoes[0].long(1).unwrap(), 1);
    have(&servers, &[1]);
    let only = [Policy::protocols(&["uiop"], Otherwise::Raise)];
    let elsewhere = object
        .set_policy_overrides(&only, SetOverride::Add)
        .unwrap();
    let Validation::Inconsistent { policies, why } = elsewhere.validate_connection().unwrap()
    else {
        panic!("there is no such endpoint");
    };
    assert_eq!(policies, only);
    assert_eq!(why, elsewhere.locate().unwrap_err());
    assert!(why.to_string().contains("uiop"), "{why}");
    servers[0].server.shutdown(true).unwrap();
    let error = object.validate_connection().unwrap_err();
    assert_eq!(error.kind(), Kind::Transient, "{error}");
}

const SPARE: Duration = Duration::from_millis(200);

/// Makes a client whose threads spread over up to three connections.
fn spreading(max_connections: usize) -> Pair {
    Pair::with(
        |config| {
            config.max_connections = max_connections;
            // One-ways are counted when they have been served, which has to be before the calls after them.
            config.timeouts.hand_over = None;
        },
        |config| {
            config.connections_per_endpoint = 3;
            config.timeouts.spare_connection = Some(SPARE);
        },
    )
}

/// Makes calls on eight threads, at least `least` each, and until `is_over`; each result is
/// checked.
fn all_call(pair: &Pair, least: u32, is_over: impl Fn() -> bool + Sync) {
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (echo, is_over) = (&pair.echo, &is_over);
            scope.spawn(move || {
                let mut number = 0;
                while number < least || !is_over() {
                    let value = thread * 1_000_000 + i32::try_from(number).unwrap();
                    assert_eq!(echo.long(value).unwrap(), value);
                    number += 1;
                }
            });
        }
    });
}

#[test]
fn threads_that_meet_spread_over_more_connections_and_return_to_one() {
    let _watchdog = watchdog(LIMIT);
    let pair = spreading(100);
    let most = AtomicUsize::new(0);
    all_call(&pair, 1000, || {
        let now = pair.server.client_connections();
        most.fetch_max(now, Ordering::Relaxed) > 2
    });
    assert_eq!(most.into_inner(), 3);
    have(&[pair], &[1]);
}

#[test]
fn one_thread_alone_stays_with_one_connection_to_each_server() {
    let _watchdog = watchdog(LIMIT);
    let servers: Vec<_> = (0..3).map(|_| Pair::new()).collect();
    let (_client, echoes) = client_of(&servers, 100);
    for number in 0..200 {
        for echo in &echoes {
            assert_eq!(echo.long(number).unwrap(), number);
        }
    }
    have(&servers, &[1, 1, 1]);
}

#[test]
fn a_server_that_refuses_further_connections_serves_on_the_first() {
    let _watchdog = watchdog(LIMIT);
    let pair = spreading(1);
    all_call(&pair, 2000, || true);
    have(&[pair], &[1]);
}

/// Makes a relay that passes only one connection on to the server; further ones are accepted, and
/// never answered.
fn only_the_first(port: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (near, _) = listener.accept().unwrap();
        let far = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (mut from_near, mut to_far) = (near.try_clone().unwrap(), far.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut from_near, &mut to_far));
        let (mut from_far, mut to_near) = (far, near);
        let _ = std::io::copy(&mut from_far, &mut to_near);
        drop(listener);
    });
    own
}

#[test]
fn a_server_that_never_answers_on_a_second_connection_serves_on_the_first() {
    let _watchdog = watchdog(LIMIT);
    let pair = spreading(100);
    let port = only_the_first(pair.port);
    let key = support::object_key(&pair);
    let escaped: String = key.iter().map(|octet| format!("%{octet:02x}")).collect();
    let url = format!("corbaloc::1.2@127.0.0.1:{port}/{escaped}");
    let echo = Echo::from_object(pair.client.string_to_object(&url).unwrap());
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let echo = &echo;
            scope.spawn(move || {
                for number in 0..1000 {
                    let value = thread * 1000 + number;
                    assert_eq!(echo.long(value).unwrap(), value);
                }
            });
        }
    });
}

#[test]
fn calls_do_not_overtake_the_one_ways_of_their_thread() {
    const SUM: Operation = Operation::one_way("sum_behind_gate");
    let _watchdog = watchdog(LIMIT);
    let pair = spreading(100);
    pair.servant.gate.open();
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let (echo, servant) = (&pair.echo, &pair.servant);
            scope.spawn(move || {
                for number in 0..250_usize {
                    let octets = [thread + 1; 1000];
                    let object = echo.as_object();
                    object.send(&SUM, |out| out.put_octets(&octets)).unwrap();
                    assert_eq!(echo.long(1).unwrap(), 1);
                    let own = u64::from(thread + 1) * 1000;
                    let sums = servant.sums.lock().unwrap();
                    let arrived = sums.iter().filter(|&&sum| sum == own).count();
                    assert_eq!(arrived, number + 1);
                }
            });
        }
        // These threads make others spread.
        all_call(&pair, 2000, || true);
    });
}
