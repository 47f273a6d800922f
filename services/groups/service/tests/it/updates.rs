//! Passive groups whose primaries store updates: the log since the last state, and who gets it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use punctual::{Any, ObjectRef};
use punctual_groups_client::ft::UpdateableServant;
use punctual_groups_client::punctual_groups::AdministrationStoreUpdateError;
use punctual_groups_service::GroupService;
use punctual_host::store::Faults;
use rustix::process::Signal;

use crate::member::Processes;
use crate::support::{
    Counter, Joined, LONG, SHORT, Served, add_at_last, at, property, register, tolerant,
    tolerant_register, until,
};

/// Returns an update of a counter.
fn update(before: i32, after: i32) -> Vec<u8> {
    [before.to_be_bytes(), after.to_be_bytes()].concat()
}

/// Adds a member that stores updates.
fn join(served: &Served, group: &ObjectRef, name: &str) -> Joined {
    let joined = served.join(group, name, LONG);
    joined.counter.stores_updates.store(true, Ordering::SeqCst);
    joined
}

fn states_taken(counter: &Counter) -> i32 {
    counter.states_taken.load(Ordering::SeqCst)
}

fn updates_taken(counter: &Counter) -> i32 {
    counter.updates_taken.load(Ordering::SeqCst)
}

/// Returns the number of updates that a group has stored since its state.
fn logged(served: &Served, id: u64) -> u32 {
    let groups = served.replication.list(0, 100).unwrap();
    let group = groups.into_iter().find(|group| group.id == id).unwrap();
    group.updates
}

/// Sets the time between two checkpoints of a group, in units of TimeT.
fn set_interval(served: &Served, group: &ObjectRef, interval: u64) {
    let name = "org.omg.ft.CheckpointInterval";
    let interval = property(name, Any::new(&interval).unwrap());
    let replication = &served.replication;
    let set = replication.set_properties_dynamically(Some(group), &[interval]);
    set.unwrap();
}

fn state_needed<T: std::fmt::Debug>(stored: Result<T, AdministrationStoreUpdateError>) -> bool {
    matches!(stored, Err(AdministrationStoreUpdateError::StateNeeded(_)))
}

#[test]
fn after_kill_9_of_a_primary_that_stores_updates_the_next_has_all_acknowledged_requests() {
    for style in ["warm-passive", "cold-passive"] {
        let served = Served::new();
        let (group, id) = served.group(style, "");
        let mut processes = Processes::of(&served, &group, SHORT);
        processes.by_updates = true;
        processes.start("a");
        until(|| served.primary(id).as_deref() == Some("a"));
        processes.start("b");
        let client = register(&served.reference(&group));
        let mut acknowledged = 0;
        for _ in 0..20 {
            acknowledged = client.add().unwrap();
        }
        processes.signal("a", Signal::KILL);
        let next = add_at_last(&client);
        assert_eq!(next, acknowledged + 1);
        assert_eq!(client.whoami().unwrap(), "b");
    }
}

#[test]
fn a_request_whose_update_was_stored_and_whose_reply_was_lost_is_not_run_again_by_the_next() {
    let served = Served::new();
    let (group, id) = served.group("warm-passive", "");
    let mut processes = Processes::of(&served, &group, SHORT);
    processes.by_updates = true;
    processes.start_to_die_at("a", 3);
    until(|| served.primary(id).as_deref() == Some("a"));
    processes.start("b");
    let orb = tolerant();
    let client = tolerant_register(&orb, &served.reference(&group));
    assert_eq!((client.add().unwrap(), client.add().unwrap()), (1, 2));
    // `a` ends in the midst of it, and the call is repeated at `b`.
    assert_eq!(client.add().unwrap(), 3);
    assert_eq!(client.whoami().unwrap(), "b");
    assert_eq!(client.add().unwrap(), 4);
}

#[test]
fn a_warm_member_gets_each_update_and_a_cold_one_all_of_them_before_it_serves() {
    for style in ["warm-passive", "cold-passive"] {
        let served = Served::new();
        let (group, id) = served.group(style, "");
        let first = join(&served, &group, "a");
        until(|| served.primary(id).as_deref() == Some("a"));
        let second = join(&served, &group, "b");
        let client = register(&served.reference(&group));
        for sum in 1..=5 {
            assert_eq!(client.add().unwrap(), sum);
        }
        // The first request had no state to follow.
        assert_eq!(first.counter.states_made.load(Ordering::SeqCst), 1);
        assert_eq!(logged(&served, id), 4);
        let (updates, state) = served.replication.stored_updates(id).unwrap();
        assert_eq!(state, served.replication.stored_state(id).unwrap());
        let values: Vec<_> = updates.iter().map(|one| one[..8].to_vec()).collect();
        assert_eq!(
            values,
            [update(1, 2), update(2, 3), update(3, 4), update(4, 5)]
        );
        match style {
            "warm-passive" => {
                until(|| second.counter.value_now() == 5);
                // Counted last of all.
                until(|| updates_taken(&second.counter) >= 4);
            }
            _ => assert_eq!(second.counter.value_now(), 0, "a cold member has no state"),
        }
        let before = (
            states_taken(&second.counter),
            updates_taken(&second.counter),
        );
        first.leave();
        until(|| served.primary(id).as_deref() == Some("b"));
        assert_eq!(second.counter.value_now(), 5);
        let after = (
            states_taken(&second.counter),
            updates_taken(&second.counter),
        );
        assert_eq!(
            after,
            (before.0 + 1, before.1 + 4),
            "the state and all updates"
        );
        assert_eq!(client.add().unwrap(), 6);
        assert_eq!(
            logged(&served, id),
            5,
            "the next primary goes on with the log"
        );
    }
}

#[test]
fn a_member_that_lacks_something_gets_the_state_and_then_the_updates() {
    let served = Served::new();
    let (group, id) = served.group("warm-passive", "");
    let first = join(&served, &group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    let second = join(&served, &group, "b");
    let client = register(&served.reference(&group));
    for _ in 0..3 {
        client.add().unwrap();
    }
    until(|| second.counter.value_now() == 3);
    let states = states_taken(&second.counter);
    // It loses what it has: the next update does not fit.
    second.counter.value.store(1, Ordering::SeqCst);
    client.add().unwrap();
    until(|| second.counter.value_now() == 4);
    assert_eq!(states_taken(&second.counter), states + 1);
    // One that comes later has nothing.
    let third = join(&served, &group, "c");
    client.add().unwrap();
    until(|| third.counter.value_now() == 5);
    assert_eq!(states_taken(&third.counter), 1);
    until(|| second.counter.value_now() == 5);
    assert_eq!(states_taken(&second.counter), states + 1);
    assert_eq!(first.counter.states_made.load(Ordering::SeqCst), 1);
}

#[test]
fn a_member_that_refuses_an_update_after_the_state_too_does_not_become_primary() {
    let served = Served::new();
    let (group, id) = served.group("cold-passive", "");
    let first = join(&served, &group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    let b = served.add(&group, "b");
    let c = served.add(&group, "c");
    let client = register(&served.reference(&group));
    for _ in 0..3 {
        client.add().unwrap();
    }
    b.refuses_updates.store(i32::MAX, Ordering::SeqCst);
    first.leave();
    until(|| served.primary(id).is_some());
    assert_eq!(served.primary(id).as_deref(), Some("c"));
    assert_eq!(c.value_now(), 3);
}

#[test]
fn a_full_log_is_ended_by_a_state() {
    for by_bytes in [false, true] {
        let served = Served::with(|limits| match by_bytes {
            // Each update takes 12 bytes: two values, and the number of answers.
            true => limits.update_bytes = 4 * 12,
            false => limits.updates = 4,
        });
        let (group, id) = served.group("warm-passive", "");
        let first = join(&served, &group, "a");
        until(|| served.primary(id).as_deref() == Some("a"));
        let second = join(&served, &group, "b");
        let client = register(&served.reference(&group));
        let mut logs = Vec::new();
        for _ in 0..11 {
            client.add().unwrap();
            logs.push(logged(&served, id));
        }
        assert_eq!(logs, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0]);
        assert_eq!(first.counter.states_made.load(Ordering::SeqCst), 3);
        until(|| second.counter.value_now() == 11);
        let metrics = served.metrics();
        assert!(
            metrics.contains("punctual_group_updates_total 8"),
            "{metrics}"
        );
        assert!(
            metrics.contains("punctual_group_states_total 3"),
            "{metrics}"
        );
    }
}

#[test]
fn updates_count_against_the_limit_of_all_states_and_a_state_makes_room() {
    let served = Served::with(|limits| limits.all_state_bytes = 10);
    let (group, id) = served.group("warm-passive", "");
    served.add(&group, "a");
    until(|| served.primary(id).is_some());
    let store = |number, after, update: &[u8]| {
        let replication = &served.replication;
        replication.store_update(id, &at("a"), 1, number, after, update)
    };
    let state = |number, state: &[u8]| {
        let replication = &served.replication;
        replication.store_state(id, &at("a"), 1, number, state)
    };
    assert!(state_needed(store(1, 0, &[0; 4])), "there is no state");
    state(2, &[0; 6]).unwrap();
    store(3, 2, &[0; 4]).unwrap();
    assert!(state_needed(store(4, 3, &[0; 1])));
    state(5, &[0; 9]).unwrap();
    assert!(state_needed(store(6, 5, &[0; 2])));
    store(7, 5, &[0; 1]).unwrap();
    served.replication.remove_group(id).unwrap();
    let (other, id) = served.group("warm-passive", "");
    served.add(&other, "a");
    until(|| served.primary(id).is_some());
    let replication = &served.replication;
    replication
        .store_state(id, &at("a"), 1, 1, &[0; 10])
        .unwrap();
}

#[test]
fn no_update_is_stored_that_does_not_follow_what_is_stored() {
    let served = Served::new();
    let (group, id) = served.group("warm-passive", "");
    let join = |name: &str| {
        let servant = punctual::poa::servant_of::<crate::idl::Register, _>(Counter::named(name));
        let object = served.activate(servant);
        let replication = &served.replication;
        let joined = replication.join(Some(&group), &at(name), Some(&object), 60_000);
        joined.unwrap().token
    };
    let (a, b) = (join("a"), join("b"));
    until(|| served.primary(id).as_deref() == Some("a"));
    let store = |name: &str, token, number, after| {
        let replication = &served.replication;
        replication.store_update(id, &at(name), token, number, after, &update(1, 2))
    };
    let replication = &served.replication;
    let state = 1_i32.to_be_bytes();
    replication.store_state(id, &at("a"), a, 1, &state).unwrap();
    // Of others than the primary; of an earlier membership.
    for (name, token) in [("b", b), ("a", b), ("c", a)] {
        assert!(matches!(
            store(name, token, 2, 1),
            Err(AdministrationStoreUpdateError::NotPrimary(_)
                | AdministrationStoreUpdateError::MemberNotFound(_))
        ));
    }
    store("a", a, 2, 1).unwrap();
    // One that was delayed.
    for number in [1, 2] {
        let late = store("a", a, number, number - 1);
        assert!(matches!(
            late,
            Err(AdministrationStoreUpdateError::Refused(_))
        ));
    }
    // The member does not know that 2 was stored, or believes that 3 was.
    assert!(state_needed(store("a", a, 3, 1)));
    assert!(state_needed(store("a", a, 4, 3)));
    store("a", a, 5, 2).unwrap();
    assert_eq!(logged(&served, id), 2);
    // A primary that has lost its part has no more to say, also if it comes again.
    let again = join("a");
    for token in [a, again] {
        assert!(store("a", token, 6, 5).is_err());
    }
    assert_eq!(logged(&served, id), 2);
}

#[test]
fn a_checkpoint_takes_an_update_after_the_first_state() {
    let served = Served::new();
    let (group, id) = served.group("warm-passive", "");
    set_interval(&served, &group, 100_000);
    let a = served.add(&group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    let b = served.add(&group, "b");
    until(|| served.replication.stored_state(id).is_ok());
    for value in [41, 42] {
        a.value.store(value, Ordering::SeqCst);
        until(|| b.value_now() == value);
    }
    assert_eq!(logged(&served, id), 2);
    assert_eq!(a.states_made.load(Ordering::SeqCst), 1);
    // What a primary stores itself is no part of what it returns next: its state is taken.
    let state = 50_i32.to_be_bytes();
    let replication = &served.replication;
    replication.store_state(id, &at("a"), 1, 1, &state).unwrap();
    assert_eq!(logged(&served, id), 0);
    a.value.store(51, Ordering::SeqCst);
    until(|| b.value_now() == 51);
    assert_eq!(replication.stored_state(id).unwrap(), 51_i32.to_be_bytes());
    a.value.store(52, Ordering::SeqCst);
    until(|| b.value_now() == 52);
    assert_eq!(logged(&served, id), 1);
}

#[test]
fn a_checkpoint_of_a_full_log_is_a_state() {
    let served = Served::with(|limits| limits.updates = 2);
    let (group, id) = served.group("cold-passive", "");
    set_interval(&served, &group, 100_000);
    let a = served.add(&group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    until(|| served.replication.stored_state(id).is_ok());
    for (value, expected) in [(1, 1), (2, 2), (3, 0), (4, 1)] {
        a.value.store(value, Ordering::SeqCst);
        until(|| logged(&served, id) == expected);
    }
    assert_eq!(a.states_made.load(Ordering::SeqCst), 2);
}

#[test]
fn the_log_is_there_after_a_restart_and_ends_with_the_group() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groups.redb");
    let serve = || {
        let service = GroupService::open(&path).unwrap();
        Served::serve(tempfile::tempdir().unwrap(), service)
    };
    let served = serve();
    let (group, id) = served.group("warm-passive", "");
    let a = Counter::named("a");
    let object = served.activate(punctual::poa::servant_of::<crate::idl::Register, _>(a));
    let joined = served
        .replication
        .join(Some(&group), &at("a"), Some(&object), 60_000);
    let token = joined.unwrap().token;
    until(|| served.primary(id).is_some());
    let state = 1_i32.to_be_bytes();
    let replication = &served.replication;
    replication
        .store_state(id, &at("a"), token, 1, &state)
        .unwrap();
    for number in 2..=4 {
        let update = update(number - 1, number);
        let number = u64::try_from(number).unwrap();
        let stored = replication.store_update(id, &at("a"), token, number, number - 1, &update);
        stored.unwrap();
    }
    let before = replication.stored_updates(id).unwrap();
    assert_eq!(before.0.len(), 3);
    drop(served);

    let served = serve();
    let replication = &served.replication;
    assert_eq!(replication.stored_updates(id).unwrap(), before);
    // It is not known here what this membership has stored.
    let refused = replication.store_update(id, &at("a"), token, 5, 4, &update(4, 5));
    assert!(state_needed(refused));
    let b = served.add(&group, "b");
    replication.leave(id, &at("a"), token).unwrap();
    until(|| served.primary(id).as_deref() == Some("b"));
    assert_eq!(b.value_now(), 4);
    let stored = replication.store_update(id, &at("b"), 2, 1, 0, &update(4, 5));
    stored.unwrap();
    assert_eq!(logged(&served, id), 4);
    replication.remove_group(id).unwrap();
    drop(served);

    let served = serve();
    assert_eq!(served.service.groups(), 0);
    assert_eq!(served.replication.list(0, 10).unwrap().len(), 0);
}

#[test]
fn an_update_that_cannot_be_stored_is_refused_and_the_log_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groups.redb");
    let faults = Faults::default();
    let service = GroupService::open_with_faults(&path, faults.clone()).unwrap();
    let served = Served::serve(tempfile::tempdir().unwrap(), service);
    let (group, id) = served.group("cold-passive", "");
    let a = join(&served, &group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    let client = register(&served.reference(&group));
    for sum in 1..=3 {
        assert_eq!(client.add().unwrap(), sum);
    }
    faults.fail_late();
    assert!(client.add().is_err());
    faults.mend();
    assert_eq!(a.counter.value_now(), 3);
    assert_eq!(logged(&served, id), 2);
    assert_eq!(client.add().unwrap(), 4);
    drop(a);
    drop(served);
    let service = GroupService::open(&path).unwrap();
    let again = Served::serve(tempfile::tempdir().unwrap(), service);
    let (updates, _) = again.replication.stored_updates(id).unwrap();
    let last = updates.last().unwrap();
    assert_eq!(last[..8], update(3, 4));
}

#[test]
fn a_counter_refuses_an_update_that_does_not_fit() {
    let counter: Arc<Counter> = Counter::named("a");
    assert!(counter.set_update(&update(1, 2)).is_err());
    counter.set_update(&update(0, 2)).unwrap();
    assert_eq!(counter.value_now(), 2);
}
