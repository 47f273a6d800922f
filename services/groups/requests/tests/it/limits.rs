//! Limits that the log of requests meets: those of the service, and of the threads of a member's ORB.

use std::sync::atomic::Ordering;
use std::thread;

use punctual::config::{Concurrency, PoolSize};
use punctual::policy::Wait;
use punctual::{CompletionStatus, Interface, OrbConfig, SystemExceptionKind};

use crate::idl::Register;
use crate::members::{Member, logged};
use crate::support::{Served, register, until};

/// Clients that call at the same time: more than a pool has threads.
const WRITERS: i32 = 32;

#[test]
fn requests_of_many_clients_keep_no_thread_of_a_pool_waiting() {
    let served = Served::new();
    let (group, id) = served.group("cold-passive", "");
    let pool = |config: &mut OrbConfig| {
        config.concurrency = Concurrency::LeaderFollowers(PoolSize::default());
    };
    let member = Member::begin(&served, &group, "a", pool, |_| {}).unwrap();
    until(|| served.primary(id).as_deref() == Some("a"));
    let client = register(&served.reference(&group));
    thread::scope(|scope| {
        let add = || {
            let client = Register::from_object(client.as_object().clone());
            move || (0..3).try_for_each(|_| client.add().map(drop)).unwrap()
        };
        for _ in 0..WRITERS {
            scope.spawn(add());
        }
    });
    assert_eq!(client.value().unwrap(), 3 * WRITERS);
    assert_eq!(member.logged.failure(), None);
}

#[test]
fn a_member_that_would_wait_for_itself_does_not_begin() {
    let served = Served::new();
    let (group, _) = served.group("cold-passive", "");
    let settings: [fn(&mut OrbConfig); 2] = [
        |config| config.concurrency = Concurrency::Reactive,
        |config| config.wait = Wait::Reactor,
    ];
    for setting in settings {
        let refused = Member::begin(&served, &group, "a", setting, |_| {}).err();
        let refused = refused.unwrap();
        assert_eq!(refused.kind(), SystemExceptionKind::BadInvOrder);
        assert!(refused.to_string().contains("concurrency"), "{refused}");
    }
}

#[test]
fn a_full_log_is_ended_by_a_checkpoint() {
    let served = Served::with(|limits| limits.updates = 4);
    let (group, id) = served.group("warm-passive", "");
    let first = Member::join(&served, &group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    let second = Member::join(&served, &group, "b");
    let client = register(&served.reference(&group));
    let mut logs = Vec::new();
    for _ in 0..11 {
        client.add().unwrap();
        logs.push(logged(&served, id));
    }
    assert_eq!(logs, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0]);
    assert_eq!(first.counter.states_made.load(Ordering::SeqCst), 3);
    until(|| second.counter.value_now() == 11);
}

#[test]
fn a_checkpoint_is_taken_after_so_many_bytes_of_requests() {
    let served = Served::new();
    let (group, id) = served.group("cold-passive", "");
    let _member = Member::with(&served, &group, "a", |options| {
        options.checkpoint_after_bytes = 1;
    });
    until(|| served.primary(id).as_deref() == Some("a"));
    let client = register(&served.reference(&group));
    for _ in 0..3 {
        client.add().unwrap();
        assert_eq!(logged(&served, id), 0);
    }
}

#[test]
fn a_request_whose_checkpoint_is_longer_than_the_limit_is_refused_and_not_run() {
    let served = Served::with(|limits| limits.state_bytes = 20);
    let (group, id) = served.group("cold-passive", "");
    let member = Member::join(&served, &group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    let refused = register(&served.reference(&group)).add().unwrap_err();
    assert_eq!(refused.kind(), SystemExceptionKind::NoResources);
    assert_eq!(refused.completed(), CompletionStatus::No);
    assert_eq!(member.counter.tries.load(Ordering::SeqCst), 0);
    assert_eq!(member.logged.failure(), None);
}
