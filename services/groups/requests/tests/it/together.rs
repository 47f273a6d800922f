//! Requests that wait at the same time: they are stored together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use punctual::{Interface, SystemException, SystemExceptionKind};

use crate::idl::Register;
use crate::members::{Member, logged};
use crate::support::{Served, register, until};

/// Requests of a test that wait at the same time.
const MANY: i32 = 9;

type Sums = Vec<Result<i32, SystemException>>;

/// Has requests come that wait, until `go` is called when all have come. Returns what each has got.
fn waiting(client: &Register, member: &Member, go: impl FnOnce()) -> Sums {
    thread::scope(|scope| {
        let each = (0..MANY).map(|_| {
            let client = Register::from_object(client.as_object().clone());
            scope.spawn(move || client.add())
        });
        let each: Vec<_> = each.collect();
        until(|| member.logged.waiting() == each.len());
        go();
        each.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

/// Has requests come while the servant cannot be called.
fn waiting_for_servant(client: &Register, member: &Member) -> Sums {
    member.refuses.store(true, Ordering::SeqCst);
    waiting(client, member, || {
        member.refuses.store(false, Ordering::SeqCst);
    })
}

/// Has requests come while the servant is asked for its state.
fn waiting_for_state(client: &Register, member: &Member) -> Sums {
    let (may_go_on, goes_on) = (Arc::new(AtomicBool::new(false)), Ordering::SeqCst);
    let during = {
        let may_go_on = may_go_on.clone();
        move || until(|| may_go_on.load(goes_on))
    };
    *member.counter.during_get_state.lock() = Some(Box::new(during));
    waiting(client, member, || may_go_on.store(true, goes_on))
}

fn sorted(sums: Sums) -> Vec<i32> {
    let mut sums: Vec<i32> = sums.into_iter().map(Result::unwrap).collect();
    sums.sort_unstable();
    sums
}

#[test]
fn requests_that_wait_are_stored_together_and_the_next_primary_runs_them_in_their_order() {
    let served = Served::new();
    let (group, id) = served.group("cold-passive", "");
    let first = Member::join(&served, &group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    let client = register(&served.reference(&group));
    let mut sum = client.add().unwrap();
    until(|| {
        let before = logged(&served, id);
        let sums = sorted(waiting_for_servant(&client, &first));
        assert_eq!(sums, (sum + 1..=sum + MANY).collect::<Vec<_>>());
        sum += MANY;
        // On a machine that is busy the servant may be too slow for that.
        logged(&served, id) < before + MANY.unsigned_abs()
    });
    until(|| first.logged.waiting() == 0);
    let second = Member::join(&served, &group, "b");
    first.leave();
    until(|| served.primary(id).as_deref() == Some("b"));
    assert_eq!(second.counter.value_now(), sum);
    assert_eq!(second.logged.differences(), 0);
    // The log goes on.
    let client = register(&served.reference(&group));
    assert_eq!(client.add().unwrap(), sum + 1);
}

#[test]
fn requests_of_a_servant_that_takes_long_for_each_are_not_stored_together() {
    let served = Served::new();
    let (group, id) = served.group("cold-passive", "");
    let member = Member::join(&served, &group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    member.counter.takes.store(60, Ordering::SeqCst);
    let client = register(&served.reference(&group));
    client.add().unwrap();
    let before = logged(&served, id);
    sorted(waiting_for_servant(&client, &member));
    assert_eq!(logged(&served, id), before + MANY.unsigned_abs());
}

#[test]
fn each_reply_to_requests_that_were_stored_together_is_compared() {
    let served = Served::new();
    let (group, id) = served.group("warm-passive", "");
    let first = Member::join(&served, &group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    let second = Member::join(&served, &group, "b");
    // It refuses the last one of those that wait, which is another answer, and the one behind them.
    second.counter.refuses_at.store(MANY + 1, Ordering::SeqCst);
    let client = register(&served.reference(&group));
    client.add().unwrap();
    sorted(waiting_for_servant(&client, &first));
    client.add().unwrap();
    until(|| second.logged.differences() == 1);
    client.add().unwrap();
    until(|| second.logged.differences() == 2);
    assert_eq!(first.logged.differences(), 0);
}

#[test]
fn requests_that_are_too_long_together_are_stored_one_after_the_other() {
    // No updates: each is stored with a state, which has room for one request or two.
    let served = Served::with(|limits| {
        limits.updates = 0;
        limits.state_bytes = 400;
    });
    let (group, id) = served.group("cold-passive", "");
    let member = Member::join(&served, &group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    let client = register(&served.reference(&group));
    client.add().unwrap();
    let sums = sorted(waiting_for_state(&client, &member));
    assert_eq!(sums, (2..=MANY + 1).collect::<Vec<_>>());
    assert_eq!(logged(&served, id), 0);
    assert_eq!(member.logged.failure(), None);
}

#[test]
fn requests_that_are_all_too_long_are_refused_without_a_state_for_each() {
    let served = Served::with(|limits| {
        limits.updates = 0;
        limits.state_bytes = 1_000;
    });
    let (group, id) = served.group("cold-passive", "");
    let member = Member::join(&served, &group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    let client = register(&served.reference(&group));
    let states_made = || member.counter.states_made.load(Ordering::SeqCst);
    until(|| {
        *member.counter.during_get_state.lock() = None;
        member.counter.ballast.store(0, Ordering::SeqCst);
        client.add().unwrap();
        member.counter.ballast.store(10_000, Ordering::SeqCst);
        let before = states_made();
        for refused in waiting_for_state(&client, &member) {
            let refused = refused.unwrap_err();
            assert_eq!(refused.kind(), SystemExceptionKind::NoResources);
        }
        // On a machine that is busy they may be stored one by one.
        states_made() - before < MANY / 2
    });
    assert_eq!(member.logged.failure(), None);
}
