//! The log of a group's requests: what is in it, and who runs it.

use std::sync::atomic::Ordering;

use punctual::{CompletionStatus, SystemExceptionKind};
use punctual_groups_client::ft::UpdateableSetUpdateError;
use punctual_groups_service::GroupService;
use punctual_host::store::Faults;

use crate::members::{Member, logged, transfers};
use crate::process::Process;
use crate::support::{Counter, LONG, Served, add_at_last, at, register, until};

fn tries(counter: &Counter) -> i32 {
    counter.tries.load(Ordering::SeqCst)
}

fn states_made(counter: &Counter) -> i32 {
    counter.states_made.load(Ordering::SeqCst)
}

#[test]
fn after_kill_9_of_a_primary_the_next_runs_the_log_and_has_all_acknowledged_requests() {
    for style in ["warm-passive", "cold-passive"] {
        let served = Served::new();
        let (group, id) = served.group(style, "");
        let first = Process::start(&served, &group, "a", (0, 6));
        until(|| served.primary(id).as_deref() == Some("a"));
        let second = Member::join(&served, &group, "b");
        let client = register(&served.reference(&group));
        let mut acknowledged = 0;
        for _ in 0..20 {
            acknowledged = client.add().unwrap();
        }
        first.kill();
        assert_eq!(add_at_last(&client), acknowledged + 1);
        assert_eq!(client.whoami().unwrap(), "b");
        assert_eq!(second.logged.differences(), 0);
    }
}

#[test]
fn a_request_is_logged_and_a_warm_member_runs_it_at_once_and_a_cold_one_before_it_serves() {
    for style in ["warm-passive", "cold-passive"] {
        let served = Served::new();
        let (group, id) = served.group(style, "");
        let first = Member::join(&served, &group, "a");
        until(|| served.primary(id).as_deref() == Some("a"));
        let second = Member::join(&served, &group, "b");
        let client = register(&served.reference(&group));
        for sum in 1..=5 {
            assert_eq!(client.add().unwrap(), sum);
        }
        // The first request had no state to follow. What is read is not logged.
        assert_eq!(client.value().unwrap(), 5);
        assert_eq!(states_made(&first.counter), 1);
        assert_eq!(logged(&served, id), 4);
        match style {
            "warm-passive" => until(|| second.counter.value_now() == 5),
            _ => assert_eq!(tries(&second.counter), 0, "a cold member has no state"),
        }
        first.leave();
        assert_eq!(add_at_last(&client), 6);
        assert_eq!(client.whoami().unwrap(), "b");
        assert_eq!(second.logged.differences(), 0);
        // It goes on with the log of the one before: the service does not know what it has.
        assert_eq!(client.add().unwrap(), 7);
        let third = Member::join(&served, &group, "c");
        second.leave();
        assert_eq!(add_at_last(&client), 8);
        assert_eq!(third.counter.value_now(), 8);
    }
}

#[test]
fn a_checkpoint_ends_the_log_and_the_next_primary_runs_what_follows_it() {
    let served = Served::new();
    let (group, id) = served.group("cold-passive", "");
    let first = Member::with(&served, &group, "a", |options| options.checkpoint_after = 4);
    until(|| served.primary(id).as_deref() == Some("a"));
    let client = register(&served.reference(&group));
    let mut logs = Vec::new();
    for _ in 0..11 {
        client.add().unwrap();
        logs.push(logged(&served, id));
    }
    // A checkpoint is stored with the request that follows it.
    assert_eq!(logs, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2]);
    assert_eq!(states_made(&first.counter), 3);
    let second = Member::join(&served, &group, "b");
    first.leave();
    until(|| served.primary(id).as_deref() == Some("b"));
    assert_eq!(second.counter.value_now(), 11);
    assert_eq!(
        tries(&second.counter),
        3,
        "those that follow the checkpoint's state"
    );
}

#[test]
fn a_checkpoint_that_the_service_takes_has_all_requests_before_it() {
    use crate::support::property;
    use punctual::Any;
    let served = Served::new();
    let (group, id) = served.group("cold-passive", "");
    let first = Member::join(&served, &group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    let client = register(&served.reference(&group));
    for _ in 0..3 {
        client.add().unwrap();
    }
    assert_eq!(logged(&served, id), 2);
    let interval = Any::new(&100_000_u64).unwrap();
    let interval = property("org.omg.ft.CheckpointInterval", interval);
    let replication = &served.replication;
    replication
        .set_properties_dynamically(Some(&group), &[interval])
        .unwrap();
    until(|| logged(&served, id) == 0);
    client.add().unwrap();
    let second = Member::join(&served, &group, "b");
    first.leave();
    assert_eq!(add_at_last(&client), 5);
    assert_eq!(second.counter.value_now(), 5);
}

#[test]
fn an_exception_of_the_servant_is_a_result_and_is_raised_again_when_the_request_is_run_again() {
    let served = Served::new();
    let (group, id) = served.group("cold-passive", "");
    let first = Member::join(&served, &group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    let second = Member::join(&served, &group, "b");
    for member in [&first, &second] {
        member.counter.refuses_at.store(3, Ordering::SeqCst);
    }
    let client = register(&served.reference(&group));
    for sum in 1..=2 {
        assert_eq!(client.add().unwrap(), sum);
    }
    for _ in 0..2 {
        let refused = client.add().unwrap_err();
        assert_eq!(refused.kind(), SystemExceptionKind::NoImplement);
    }
    assert_eq!(logged(&served, id), 3);
    first.leave();
    until(|| served.primary(id).as_deref() == Some("b"));
    assert_eq!((second.counter.value_now(), tries(&second.counter)), (2, 4));
    assert_eq!(second.logged.differences(), 0);
}

#[test]
fn a_reply_that_is_another_one_when_its_request_is_run_again_is_counted() {
    let served = Served::new();
    let (group, id) = served.group("warm-passive", "");
    let first = Member::join(&served, &group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    let second = Member::join(&served, &group, "b");
    // It is no other's state that makes it refuse.
    second.counter.refuses_at.store(2, Ordering::SeqCst);
    let client = register(&served.reference(&group));
    for _ in 0..3 {
        client.add().unwrap();
    }
    // Each request says how the one before was answered.
    until(|| second.logged.differences() == 1);
    assert_eq!(second.counter.value_now(), 1);
    assert_eq!(first.logged.differences(), 0);
}

#[test]
fn a_member_takes_the_requests_of_its_log_in_their_order_and_no_others() {
    let served = Served::new();
    let (group, id) = served.group("cold-passive", "");
    let first = Member::join(&served, &group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    let client = register(&served.reference(&group));
    for _ in 0..4 {
        client.add().unwrap();
    }
    let (updates, state) = served.replication.stored_updates(id).unwrap();
    let second = Member::join(&served, &group, "b");
    let other = transfers(&served, &group, "b");
    let refused = |update: &[u8]| {
        let taken = other.set_update(update);
        assert!(matches!(
            taken,
            Err(UpdateableSetUpdateError::InvalidUpdate(_))
        ));
    };
    refused(&updates[0]);
    assert_eq!(tries(&second.counter), 0, "it has no state to follow");
    other.set_state(&state).unwrap();
    other.set_update(&updates[0]).unwrap();
    for not_next in [&updates[0], &updates[2], &updates[1][..20].to_vec(), &state] {
        refused(not_next);
    }
    assert_eq!(second.counter.value_now(), 2);
    other.set_update(&updates[1]).unwrap();
    assert_eq!(second.counter.value_now(), 3);
    // What follows the state is given whole, and taken.
    first.leave();
    until(|| served.primary(id).as_deref() == Some("b"));
    assert_eq!(second.counter.value_now(), 4);
}

#[test]
fn a_state_that_was_stored_before_requests_were_logged_is_taken() {
    let served = Served::new();
    let (group, id) = served.group("cold-passive", "");
    let first = served.join(&group, "a", LONG);
    until(|| served.primary(id).as_deref() == Some("a"));
    let client = register(&served.reference(&group));
    for _ in 0..3 {
        client.add().unwrap();
    }
    let second = Member::join(&served, &group, "b");
    first.leave();
    assert_eq!(add_at_last(&client), 4);
    assert_eq!(second.counter.value_now(), 4);
}

#[test]
fn a_request_that_cannot_be_stored_is_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groups.redb");
    let faults = Faults::default();
    let service = GroupService::open_with_faults(&path, faults.clone()).unwrap();
    let served = Served::serve(tempfile::tempdir().unwrap(), service);
    let (group, id) = served.group("cold-passive", "");
    let first = Member::join(&served, &group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    let client = register(&served.reference(&group));
    for sum in 1..=3 {
        assert_eq!(client.add().unwrap(), sum);
    }
    faults.fail_late();
    client.add().unwrap_err();
    faults.mend();
    assert_eq!((first.counter.value_now(), tries(&first.counter)), (3, 3));
    // It may have been stored: the state ends a log that would have it.
    assert_eq!(client.add().unwrap(), 4);
    assert_eq!(client.add().unwrap(), 5);
    let second = Member::join(&served, &group, "b");
    first.leave();
    assert_eq!(add_at_last(&client), 6);
    assert_eq!(second.counter.value_now(), 6);
}

#[test]
fn the_log_is_there_after_a_restart_of_the_service() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groups.redb");
    let serve = || {
        let mut service = None;
        // A process that another test is starting may have the lock for a moment: it is this one's copy before it is its own program.
        until(|| {
            service = GroupService::open(&path).ok();
            service.is_some()
        });
        Served::serve(tempfile::tempdir().unwrap(), service.unwrap())
    };
    let served = serve();
    let (group, id) = served.group("warm-passive", "");
    let _first = Member::join(&served, &group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    let client = register(&served.reference(&group));
    for sum in 1..=5 {
        assert_eq!(client.add().unwrap(), sum);
    }
    let before = served.replication.stored_updates(id).unwrap();
    drop(served);

    let served = serve();
    assert_eq!(served.replication.stored_updates(id).unwrap(), before);
    let group = served.replication.get_object_group_ref_from_id(id);
    let group = group.unwrap().unwrap();
    let second = Member::join(&served, &group, "b");
    // The first member of the group, which does not know of this service.
    served.replication.leave(id, &at("a"), 1).unwrap();
    until(|| served.primary(id).as_deref() == Some("b"));
    assert_eq!(second.counter.value_now(), 5);
    let client = register(&served.reference(&group));
    assert_eq!(client.add().unwrap(), 6);
    assert_eq!(client.add().unwrap(), 7);
}

#[test]
fn a_member_whose_servant_cannot_be_called_leaves_the_group_and_the_next_has_the_request() {
    let served = Served::new();
    let (group, id) = served.group("cold-passive", "");
    let without_patience = |options: &mut punctual_groups_requests::LoggedOptions| {
        options.reached_within = std::time::Duration::ZERO;
    };
    let first = Member::with(&served, &group, "a", without_patience);
    until(|| served.primary(id).as_deref() == Some("a"));
    let second = Member::join(&served, &group, "b");
    let client = register(&served.reference(&group));
    assert_eq!(client.add().unwrap(), 1);
    first.refuses.store(true, Ordering::SeqCst);
    let refused = client.add().unwrap_err();
    assert_eq!(refused.completed(), CompletionStatus::Maybe, "{refused}");
    assert!(first.logged.failure().is_some());
    until(|| served.primary(id).as_deref() == Some("b"));
    assert_eq!(second.counter.value_now(), 2);
    assert_eq!(first.counter.value_now(), 1);
}
