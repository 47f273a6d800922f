//! Clients that disconnect, calls beyond the limit, answers that cannot be sent.

use super::desk::Desk;
use super::support::watchdog;
use super::{Pair, tcp, until};
use punctual::asynchronous::{Amh, AnswerError};
use punctual::{CompletionStatus, Interface, SystemExceptionKind as Kind};
use std::task::Waker;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);

#[test]
fn a_response_tells_that_its_client_has_gone() {
    let _watchdog = watchdog(LIMIT);
    for strategy in super::answers::strategies() {
        let desk = Desk::new();
        let server = |config: &mut punctual::OrbConfig| config.concurrency = strategy;
        let pair = Pair::with(|_| Amh::shared(desk.clone()), tcp(), server, |_| {});
        let waits = pair.clerk.sendp_wait_at("gate");
        until(|| desk.waiting() == 1);
        let (_, response) = desk.waiting.lock().unwrap().pop().unwrap();
        assert!(response.is_awaited());
        pair.client.shutdown(false).unwrap();
        assert_eq!(waits.wait().unwrap_err().kind(), Kind::CommFailure);
        until(|| !response.is_awaited());
        assert!(!response.watch(Waker::noop()));
        assert_eq!(response.reply(1), Err(AnswerError::NobodyWaits));
        pair.server.shutdown(true).unwrap();
    }
}

#[test]
fn a_request_that_is_cancelled_is_not_awaited_and_may_be_answered_all_the_same() {
    let _watchdog = watchdog(LIMIT);
    let desk = Desk::new();
    let pair = Pair::of(&desk);
    let waits = pair.clerk.sendp_wait_at("gate");
    until(|| desk.waiting() == 1);
    let (_, response) = desk.waiting.lock().unwrap().pop().unwrap();
    assert!(response.is_awaited());
    drop(waits);
    until(|| !response.is_awaited());
    response.reply(4).unwrap();
    // The late reply has no caller, and the connection stays open.
    assert_eq!(pair.clerk.add(1, 2).unwrap(), 3);
    pair.end();
}

#[test]
fn more_open_calls_than_a_connection_may_have_are_refused_and_there_is_room_once_some_are_answered()
{
    let _watchdog = watchdog(LIMIT);
    for (of_connection, of_all) in [(10, 1000), (1000, 10)] {
        let desk = Desk::new();
        let server = |config: &mut punctual::OrbConfig| {
            config.budgets.pending_replies_per_connection = of_connection;
            config.budgets.pending_replies = of_all;
        };
        let pair = Pair::with(|_| Amh::shared(desk.clone()), tcp(), server, |_| {});
        let waits: Vec<_> = (0..10).map(|_| pair.clerk.sendp_wait_at("gate")).collect();
        until(|| desk.waiting() == 10);
        let refused = pair.clerk.wait_at("gate").unwrap_err();
        assert_eq!(refused.kind(), Kind::Transient);
        assert!(refused.to_string().contains("TRANSIENT"), "{refused}");
        desk.open_gate("gate");
        for one in waits {
            assert_eq!(one.wait().unwrap(), 4);
        }
        // The last of them is counted out after its reply.
        until(|| pair.clerk.add(1, 2).is_ok_and(|sum| sum == 3));
        pair.end();
    }
}

#[test]
fn short_requests_that_are_kept_count_together_until_they_are_answered() {
    let _watchdog = watchdog(LIMIT);
    let desk = Desk::new();
    // One peer may use three quarters of it at most.
    let server = |config: &mut punctual::OrbConfig| config.budgets.received = 1 << 20;
    let pair = Pair::with(|_| Amh::shared(desk.clone()), tcp(), server, |_| {});
    let short = "g".repeat(8 << 10);
    let most = (768 << 10) / short.len();
    let mut open = Vec::new();
    let refused = loop {
        let mut waits = pair.clerk.sendp_wait_at(&short);
        while desk.waiting() == open.len() && !waits.is_ready(Duration::ZERO) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        if waits.is_ready(Duration::ZERO) {
            break waits.wait().unwrap_err();
        }
        open.push(waits);
        assert!(open.len() <= most, "more than there is room for");
    };
    assert_eq!(refused.kind(), Kind::Transient);
    assert!(
        open.len() > most / 2,
        "no more than {} are kept",
        open.len()
    );
    // There is room again once they are answered.
    desk.open_gate(&short);
    for one in open {
        one.wait().unwrap();
    }
    // The last of them is counted out after its reply.
    until(|| {
        let waits = pair.clerk.sendp_wait_at(&short);
        until(|| desk.waiting() > 0 || pair.clerk.add(1, 2).is_err());
        desk.open_gate(&short);
        waits.wait().is_ok()
    });
    pair.end();
}

#[test]
fn what_open_requests_have_sent_counts_until_they_are_answered() {
    let _watchdog = watchdog(LIMIT);
    let desk = Desk::new();
    // One peer may use three quarters of it at most.
    let server = |config: &mut punctual::OrbConfig| config.budgets.received = 4 << 20;
    let pair = Pair::with(|_| Amh::shared(desk.clone()), tcp(), server, |_| {});
    let long = "g".repeat(1 << 20);
    let mut open = Vec::new();
    let refused = loop {
        let mut waits = pair.clerk.sendp_wait_at(&long);
        while desk.waiting() == open.len() && !waits.is_ready(Duration::ZERO) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        if waits.is_ready(Duration::ZERO) {
            break waits.wait().unwrap_err();
        }
        open.push(waits);
        assert!(open.len() < 4, "more than there is room for");
    };
    // Its connection is ended, or, if the request came whole, only the request is refused.
    let kind = refused.kind();
    assert!(
        matches!(kind, Kind::CommFailure | Kind::Transient),
        "{refused}"
    );
    assert!(!open.is_empty());
    // Short requests are served meanwhile, by another connection.
    assert_eq!(pair.clerk.add(1, 2).unwrap(), 3);
    desk.open_gate(&long);
    until(|| {
        let waits = pair.clerk.sendp_wait_at(&long);
        until(|| desk.waiting() > 0);
        desk.open_gate(&long);
        waits.wait().is_ok()
    });
    pair.end();
}

#[test]
fn results_that_cannot_be_sent_are_told_of_to_client_and_servant() {
    let _watchdog = watchdog(LIMIT);
    let desk = Desk::new();
    let server = |config: &mut punctual::OrbConfig| config.limits.message = 4096;
    let pair = Pair::with(|_| Amh::shared(desk.clone()), tcp(), server, |_| {});
    // The request fits, but the reply has a longer header.
    let fits: Vec<u8> = vec![1; 3900];
    assert_eq!(pair.clerk.back(&fits).unwrap(), fits);
    let waits = pair.clerk.sendp_copies("x", &5000);
    let too_long = waits.wait().unwrap_err();
    let system = punctual::OperationError::system(&too_long).unwrap().kind();
    assert_eq!(system, Kind::ImpLimit);
    pair.end();
}

#[test]
fn a_clients_time_out_ends_its_wait_and_the_servant_learns_of_it() {
    let _watchdog = watchdog(LIMIT);
    let desk = Desk::new();
    let pair = Pair::of(&desk);
    let mut time = Duration::from_millis(50);
    loop {
        let raised = pair.clerk.with_timeout(time).wait_at("gate").unwrap_err();
        assert_eq!(raised.kind(), Kind::Timeout, "{raised}");
        if raised.completed() == CompletionStatus::Maybe {
            break;
        }
        // On a busy machine the request may not even have left by then.
        time *= 2;
        assert!(time < LIMIT, "the request never leaves");
    }
    until(|| desk.waiting() == 1);
    let (_, response) = desk.waiting.lock().unwrap().pop().unwrap();
    let _ = response.reply(4);
    assert_eq!(pair.clerk.add(1, 2).unwrap(), 3);
    pair.end();
}
