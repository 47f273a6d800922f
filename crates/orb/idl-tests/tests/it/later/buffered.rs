//! Deferred calls whose requests are buffered without a limit of time: they are sent when a caller
//! waits for one of their results, however it waits.

use super::desk::Desk;
use super::support::watchdog;
use super::{Pair, until};
use crate::asynchronous::generated::asynchronous::Clerk;
use punctual::policy::Buffering;
use punctual::{Interface, Policy, Poller, SetOverride};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(240);
const LONG: Duration = Duration::from_secs(200);
const SOME: usize = 3;

/// Makes a server, a client, and calls that are buffered.
fn buffered() -> (Arc<Desk>, Pair, Vec<Poller<i32>>) {
    let desk = Desk::new();
    let pair = Pair::of(&desk);
    let policies = [Policy::Buffering(Some(Buffering::EXPLICIT.messages(100)))];
    let object = pair.clerk.as_object();
    let object = object.set_policy_overrides(&policies, SetOverride::Add);
    let clerk = Clerk::from_object(object.unwrap());
    let waits: Vec<_> = (0..SOME).map(|_| clerk.sendp_wait_at("gate")).collect();
    assert_eq!(desk.waiting(), 0);
    (desk, pair, waits)
}

fn end(desk: &Desk, pair: Pair, waits: Vec<Poller<i32>>) {
    until(|| desk.waiting() == SOME);
    desk.open_gate("gate");
    for one in waits {
        assert_eq!(one.wait().unwrap(), 4);
    }
    pair.end();
}

#[test]
fn buffered_requests_are_sent_when_a_result_is_awaited() {
    let _watchdog = watchdog(LIMIT);
    let (desk, pair, mut waits) = buffered();
    let mut last = pin!(waits.pop().unwrap());
    let mut context = Context::from_waker(Waker::noop());
    assert!(last.as_mut().poll(&mut context).is_pending());
    end(&desk, pair, waits);
}

#[test]
fn buffered_requests_are_sent_when_a_pollable_set_waits() {
    let _watchdog = watchdog(LIMIT);
    let (desk, pair, mut waits) = buffered();
    let last = waits.pop().unwrap();
    let mut set = last.create_pollable_set();
    let last = set.add_pollable(last);
    let opens = std::thread::spawn(move || {
        until(|| desk.waiting() == SOME);
        desk.open_gate("gate");
    });
    assert_eq!(set.get_ready_pollable(LONG), Ok(last.id()));
    opens.join().unwrap();
    for one in waits {
        assert_eq!(one.wait().unwrap(), 4);
    }
    pair.end();
}
