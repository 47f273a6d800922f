//! Bounds on calls in flight, and the effects of dropped calls.

use super::Pair;
use super::generated::asynchronous::Clerk;
use super::giop_server::{REQUEST, serve};
use super::support::watchdog;
use punctual::policy::{AtBound, CallsInFlight};
use punctual::{
    Interface, Orb, Policy, SetOverride, SystemException, SystemExceptionKind as Kind, minor,
};
use std::future::Future;
use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

fn bounded(clerk: &Clerk, calls: &CallsInFlight) -> Clerk {
    let policy = Policy::CallsInFlight(calls.clone());
    let object = clerk.as_object();
    let bounded = object.set_policy_overrides(&[policy], SetOverride::Add);
    Clerk::from_object(bounded.unwrap())
}

#[test]
fn one_call_more_than_the_bound_raises_transient_and_none_when_another_has_ended() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::over_tcp();
    let calls = CallsInFlight::new(2, AtBound::Raise);
    let clerk = bounded(&pair.clerk, &calls);
    let waits = [clerk.sendp_wait_at("one"), clerk.sendp_wait_at("two")];
    assert_eq!(calls.in_flight(), 2);
    let refused = clerk.sendp_add(1, 2).wait().unwrap_err();
    assert_eq!(
        (refused.kind(), refused.minor()),
        (Kind::Transient, minor::TOO_MANY_CALLS)
    );
    let (say, heard) = mpsc::channel();
    clerk.sendc_add(move |sum: Result<i32, _>| say.send(sum).unwrap(), 1, 2);
    assert_eq!(heard.recv().unwrap().unwrap_err().kind(), Kind::Transient);
    // Synchronous calls are not counted, nor is another reference.
    clerk.open("one").unwrap();
    assert_eq!(pair.clerk.sendp_add(1, 2).wait().unwrap(), 3);
    let [one, two] = waits;
    assert_eq!(one.wait().unwrap(), 3);
    assert_eq!(clerk.sendp_add(1, 2).wait().unwrap(), 3);
    // A dropped call is no longer in flight.
    drop(two);
    assert_eq!(calls.in_flight(), 0);
    pair.clerk.open("two").unwrap();
    pair.end();
}

#[test]
fn a_call_at_the_bound_blocks_until_another_has_ended_or_its_time_is_over() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::over_tcp();
    let calls = CallsInFlight::new(1, AtBound::Block);
    // The policies of an ORB.
    let policies = [Policy::CallsInFlight(calls.clone())];
    let manager = pair.client.policy_manager();
    manager
        .set_policy_overrides(&policies, SetOverride::Add)
        .unwrap();
    let (say, heard) = mpsc::channel();
    pair.clerk.sendc_wait_at(
        move |at: Result<i32, _>| say.send(at.unwrap()).unwrap(),
        "gate",
    );
    let brief = pair
        .clerk
        .as_object()
        .with_timeout(Duration::from_millis(20));
    let late = Clerk::from_object(brief)
        .sendp_add(1, 1)
        .wait()
        .unwrap_err();
    assert_eq!(
        (late.kind(), late.minor()),
        (Kind::Timeout, minor::TOO_MANY_CALLS)
    );
    thread::scope(|scope| {
        let blocked = scope.spawn(|| pair.clerk.sendp_add(2, 2).wait());
        pair.clerk.open("gate").unwrap();
        assert_eq!(blocked.join().unwrap().unwrap(), 4);
    });
    assert_eq!(heard.recv().unwrap(), 4);
    pair.end();
}

#[test]
fn a_reply_handler_that_calls_at_the_bound_does_not_wait_for_itself() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::over_tcp();
    let calls = CallsInFlight::new(2, AtBound::Block);
    let clerk = bounded(&pair.clerk, &calls);
    let (say, heard) = mpsc::channel();
    let waits = clerk.sendp_wait_at("gate");
    let inner = clerk.clone();
    let handler = move |_: Result<i32, _>| {
        // The outer call has ended: the first finds a place, the second does not.
        let first = inner.sendp_wait_at("gate");
        say.send(inner.sendp_add(1, 1).wait()).unwrap();
        drop(first);
    };
    clerk.sendc_add(handler, 1, 1);
    let refused = heard.recv().unwrap().unwrap_err();
    assert_eq!(refused.kind(), Kind::Transient);
    pair.clerk.open("gate").unwrap();
    assert_eq!(waits.wait().unwrap(), 4);
    pair.end();
}

#[test]
fn a_thousand_calls_that_are_deferred_at_the_bound_all_come_back() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::over_tcp();
    let calls = CallsInFlight::new(3, AtBound::Defer);
    let clerk = bounded(&pair.clerk, &calls);
    let (say, heard) = mpsc::channel();
    for number in 0..1000 {
        let (say, calls) = (say.clone(), calls.clone());
        let handler = move |sum: Result<i32, _>| {
            assert!(calls.in_flight() <= 3);
            say.send(sum.unwrap()).unwrap();
        };
        clerk.sendc_add(handler, number, 1);
    }
    drop(say);
    let mut sums: Vec<i32> = heard.iter().collect();
    sums.sort_unstable();
    assert!(sums.into_iter().eq(1..=1000));
    assert_eq!(calls.in_flight(), 0);
    pair.end();
}

#[test]
fn a_call_that_is_deferred_ends_at_its_time_out_though_no_place_becomes_free() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::over_tcp();
    let calls = CallsInFlight::new(1, AtBound::Defer);
    let clerk = bounded(&pair.clerk, &calls);
    let waits = clerk.sendp_wait_at("gate");
    let (say, heard) = mpsc::channel();
    // The first of the queue has its time for longer than the test takes.
    for millis in [60_000, 10, 20] {
        let brief = clerk
            .as_object()
            .with_timeout(Duration::from_millis(millis));
        let say = say.clone();
        let handler = move |sum: Result<i32, SystemException>| {
            let sum = sum.map_err(|exception| exception.kind());
            say.send((millis, sum)).unwrap();
        };
        Clerk::from_object(brief).sendc_add(handler, 1, 1);
    }
    let mut ended = [heard.recv().unwrap(), heard.recv().unwrap()];
    ended.sort_by_key(|(millis, _)| *millis);
    assert_eq!(ended, [10, 20].map(|millis| (millis, Err(Kind::Timeout))));
    assert_eq!(calls.in_flight(), 1);
    clerk.open("gate").unwrap();
    // A poller's call is in flight until somebody waits for it, and frees its place then.
    assert_eq!(waits.wait().unwrap(), 4);
    assert_eq!(heard.recv().unwrap(), (60_000, Ok(2)));
    pair.end();
}

#[test]
fn a_future_that_is_deferred_is_sent_when_there_is_a_place_and_dropped_leaves_it_to_others() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::over_tcp();
    let calls = CallsInFlight::new(1, AtBound::Defer);
    let clerk = bounded(&pair.clerk, &calls);
    let waits = clerk.sendp_wait_at("gate");
    let mut dropped = Box::pin(clerk.add_async(1, 1));
    let mut context = Context::from_waker(Waker::noop());
    assert!(dropped.as_mut().poll(&mut context).is_pending());
    let mut sent = pin!(clerk.add_async(2, 2));
    assert!(sent.as_mut().poll(&mut context).is_pending());
    assert_eq!(calls.in_flight(), 1);
    pair.clerk.open("gate").unwrap();
    assert_eq!(waits.wait().unwrap(), 4);
    drop(dropped);
    let sum = smol::block_on(async {
        match sent.as_mut().poll(&mut context) {
            Poll::Ready(sum) => sum,
            Poll::Pending => sent.await,
        }
    });
    assert_eq!(sum.unwrap(), 4);
    assert_eq!(calls.in_flight(), 0);
    pair.end();
}

#[test]
fn servers_are_told_of_dropped_calls_only_where_that_is_configured() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let client = Orb::builder()
        .configure(|config| config.cancel_requests = false)
        .build()
        .unwrap();
    let (clerk, server) = serve(&client, |mut peer| {
        let dropped = peer.next().unwrap();
        let next = peer.next().unwrap();
        for id in [dropped.id, next.id] {
            peer.answer(id, 9);
        }
        let _end = peer.next();
        (dropped, next)
    });
    drop(clerk.add_async(1, 1));
    assert_eq!(clerk.add_async(1, 1).wait().unwrap(), 9);
    client.shutdown(true).unwrap();
    let (dropped, next) = server.join().unwrap();
    assert_eq!((dropped.kind, next.kind), (REQUEST, REQUEST));
    assert_ne!(next.id, dropped.id);
}

#[test]
fn an_orb_runs_for_a_time_and_says_whether_it_is_over() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let orb = Orb::builder().build().unwrap();
    assert!(!orb.run_for(Duration::ZERO));
    assert!(!orb.run_for(Duration::from_millis(5)));
    thread::scope(|scope| {
        let runs = scope.spawn(|| orb.run_for(Duration::from_secs(100)));
        orb.shutdown(true).unwrap();
        assert!(runs.join().unwrap());
    });
    assert!(orb.run_for(Duration::ZERO));
}
