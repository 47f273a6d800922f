//! Passive groups: who is primary, and which state it has.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use punctual::{Any, ObjectRef};
use punctual_groups_client::punctual_groups::{
    AdministrationJoinError, AdministrationRenewError, AdministrationStoreStateError,
};
use punctual_groups_service::GroupService;
use punctual_groups_service::ft::{self, FtObjectGroupManagerSetPrimaryMemberError};
use rustix::process::Signal;

use crate::member::Processes;
use crate::support::{
    LONG, SHORT, Served, add_at_last, at, property, register, tolerant, tolerant_register, until,
};

#[test]
fn after_kill_9_of_the_primary_another_process_has_all_acknowledged_requests() {
    let served = Served::new();
    let (group, id) = served.group("warm-passive", "");
    let mut processes = Processes::of(&served, &group, SHORT);
    processes.start("a");
    until(|| served.primary(id).as_deref() == Some("a"));
    processes.start("b");
    let client = register(&served.reference(&group));
    let mut acknowledged = 0;
    for _ in 0..20 {
        acknowledged = client.add().unwrap();
    }
    processes.signal("a", Signal::KILL);
    let from = Instant::now();
    // The client's reference has the dead member first.
    let next = add_at_last(&client);
    println!(
        "the next answer came {:?} after the primary was killed",
        from.elapsed()
    );
    assert_eq!(next, acknowledged + 1);
    assert_eq!(client.whoami().unwrap(), "b");
}

#[test]
fn a_primary_that_was_stopped_stores_nothing_when_it_goes_on_and_serves_no_more() {
    let served = Served::new();
    let (group, id) = served.group("warm-passive", "");
    let mut processes = Processes::of(&served, &group, SHORT);
    processes.start("a");
    until(|| served.primary(id).as_deref() == Some("a"));
    processes.start("b");
    let old = register(&processes.reference("a"));
    let client = register(&served.reference(&group));
    assert_eq!(client.add().unwrap(), 1);
    processes.signal("a", Signal::STOP);
    until(|| served.primary(id).as_deref() == Some("b"));
    assert_eq!(register(&served.reference(&group)).add().unwrap(), 2);
    processes.signal("a", Signal::CONT);
    // Its own object forwards to the primary.
    assert_eq!(old.add().unwrap(), 3);
    assert_eq!(old.whoami().unwrap(), "b");
    assert_eq!(served.primary(id).as_deref(), Some("b"));
}

#[test]
fn a_member_that_leaves_hands_over_with_the_state_it_has_stored() {
    let served = Served::new();
    let (group, id) = served.group("cold-passive", "");
    let first = served.join(&group, "a", LONG);
    until(|| served.primary(id).as_deref() == Some("a"));
    let second = served.join(&group, "b", LONG);
    let client = register(&served.reference(&group));
    assert_eq!(client.add().unwrap(), 1);
    assert_eq!(second.counter.value_now(), 0, "a cold member has no state");
    let nowhere = served
        .replication
        .set_primary_member(Some(&group), &at("c"));
    assert!(matches!(
        nowhere,
        Err(FtObjectGroupManagerSetPrimaryMemberError::MemberNotFound(_))
    ));
    first.leave();
    // Its lease, of a minute, has ended with that.
    until(|| served.primary(id).as_deref() == Some("b"));
    assert_eq!(client.add().unwrap(), 2);
    assert_eq!(second.counter.value_now(), 2);
}

#[test]
fn set_primary_member_moves_the_primary_and_its_state() {
    let served = Served::new();
    let (group, id) = served.group("warm-passive", "");
    let a = served.add(&group, "a");
    let b = served.add(&group, "b");
    until(|| served.primary(id).is_some());
    let interval: u64 = 10_000_000_000;
    let checkpoints = property(
        "org.omg.ft.CheckpointInterval",
        Any::new(&interval).unwrap(),
    );
    served
        .replication
        .set_properties_dynamically(Some(&group), &[checkpoints])
        .unwrap();
    a.value.store(7, Ordering::SeqCst);
    let before = served.reference(&group);
    let moved = served
        .replication
        .set_primary_member(Some(&group), &at("b"))
        .unwrap()
        .unwrap();
    assert_eq!(served.primary(id).as_deref(), Some("b"));
    assert_eq!(b.value_now(), 7);
    assert_eq!(register(&moved).whoami().unwrap(), "b");
    let (before, after) = (before.ior().group().unwrap(), moved.ior().group().unwrap());
    assert!(before.is_same_group(&after) && before.version < after.version);
    let again = served
        .replication
        .set_primary_member(Some(&group), &at("b"))
        .unwrap()
        .unwrap();
    assert_eq!(again.ior().group(), moved.ior().group());
}

#[test]
fn a_member_that_refuses_the_state_does_not_become_primary() {
    let served = Served::new();
    let (group, id) = served.group("warm-passive", "");
    let first = served.join(&group, "a", LONG);
    until(|| served.primary(id).as_deref() == Some("a"));
    first.membership.store_state(&1_i32.to_be_bytes()).unwrap();
    let b = served.add(&group, "b");
    let c = served.add(&group, "c");
    b.refuses_states.store(true, Ordering::SeqCst);
    first.leave();
    until(|| served.primary(id).is_some());
    assert_eq!(served.primary(id).as_deref(), Some("c"));
    assert_eq!((b.value_now(), c.value_now()), (0, 1));
}

#[test]
fn a_primary_that_an_administrator_removes_keeps_its_lease_and_nobody_else_is_primary_meanwhile() {
    let served = Served::new();
    let (group, id) = served.group("warm-passive", "");
    let _first = served.join(&group, "a", LONG);
    until(|| served.primary(id).as_deref() == Some("a"));
    served.add(&group, "b");
    served
        .replication
        .remove_member(Some(&group), &at("a"))
        .unwrap();
    assert_eq!(served.primary(id), None);
    let metrics = served.metrics();
    assert!(metrics.contains("punctual_group_vacant 1"), "{metrics}");
}

#[test]
fn no_member_has_a_state_stored_but_the_primary() {
    let served = Served::new();
    let (group, id) = served.group("warm-passive", "");
    let join = |name: &str| {
        let object = served.activate(punctual::poa::servant_of::<crate::idl::Register, _>(
            crate::support::Counter::named(name),
        ));
        served
            .replication
            .join(Some(&group), &at(name), Some(&object), 60_000)
            .unwrap()
    };
    let (a, b) = (join("a"), join("b"));
    until(|| served.primary(id).is_some());
    assert_eq!(served.primary(id).as_deref(), Some("a"));
    served
        .replication
        .store_state(id, &at("a"), a.token, 1, b"one")
        .unwrap();
    for (location, token) in [("b", b.token), ("a", b.token), ("c", a.token)] {
        let stored = served
            .replication
            .store_state(id, &at(location), token, 2, b"two");
        assert!(matches!(
            stored,
            Err(AdministrationStoreStateError::NotPrimary(_)
                | AdministrationStoreStateError::MemberNotFound(_))
        ));
    }
    assert_eq!(served.replication.stored_state(id).unwrap(), b"one");
    // One that comes again at the same location is another member, and the one before has a lease.
    let again = join("a");
    let refused = served.replication.renew(id, &at("a"), a.token, &[]);
    assert!(matches!(
        refused,
        Err(AdministrationRenewError::MemberNotFound(_))
    ));
    assert!(
        !served
            .replication
            .renew(id, &at("a"), again.token, &[])
            .unwrap()
            .is_primary
    );
    let stored = served
        .replication
        .store_state(id, &at("a"), a.token, 2, b"two");
    assert!(matches!(
        stored,
        Err(AdministrationStoreStateError::MemberNotFound(_))
    ));
    assert_eq!(served.primary(id), None);
}

#[test]
fn a_lease_that_is_not_renewed_ends_and_the_member_joins_again() {
    let served = Served::new();
    let (group, id) = served.group("stateless", "");
    let object: ObjectRef = served.activate(punctual::poa::servant_of::<crate::idl::Register, _>(
        crate::support::Counter::named("a"),
    ));
    let joined = served
        .replication
        .join(Some(&group), &at("a"), Some(&object), 30)
        .unwrap();
    until(|| {
        served
            .replication
            .locations_of_members(Some(&group))
            .unwrap()
            .is_empty()
    });
    let late = served.replication.renew(id, &at("a"), joined.token, &[]);
    assert!(matches!(
        late,
        Err(AdministrationRenewError::MemberNotFound(_))
    ));
    for lease in [1, 29, 86_400_001] {
        let refused = served
            .replication
            .join(Some(&group), &at("a"), Some(&object), lease);
        assert!(
            matches!(refused, Err(AdministrationJoinError::Refused(_))),
            "{lease}"
        );
    }
}

#[test]
fn requests_for_a_group_without_a_primary_wait_for_the_next_one() {
    let served = Served::new();
    let (group, id) = served.group("cold-passive", "");
    let joined = served.join(&group, "a", SHORT);
    until(|| served.primary(id).is_some());
    joined.leave();
    let b = served.join(&group, "b", LONG);
    let client = register(&group);
    assert_eq!(client.whoami().unwrap(), "b");
    assert!(b.membership.is_primary());
}

#[test]
fn a_stateless_group_has_no_primary_and_all_members_in_its_reference() {
    let served = Served::new();
    let (group, id) = served.group("stateless", "");
    served.add(&group, "a");
    served.add(&group, "b");
    assert_eq!(served.primary(id), None);
    let refused = served
        .replication
        .set_primary_member(Some(&group), &at("a"));
    assert!(matches!(
        refused,
        Err(FtObjectGroupManagerSetPrimaryMemberError::BadReplicationStyle(_))
    ));
    let profiles = served.reference(&group).ior().profiles.len();
    // One of each member, and those of the service.
    assert!(profiles >= 3, "{profiles}");
    assert_eq!(register(&served.reference(&group)).whoami().unwrap(), "a");
}

#[test]
fn an_active_group_has_all_members_in_its_reference_and_a_primary_that_stores_its_state() {
    let served = Served::new();
    let (group, id) = served.group("active", "");
    let [a, b] = ["a", "b"].map(|name| served.add(&group, name));
    until(|| served.primary(id).is_some());
    let profiles = served.reference(&group).ior().profiles.len();
    // One of each member, and those of the service.
    assert!(profiles >= 3, "{profiles}");
    let manager = &served.replication;
    manager.set_primary_member(Some(&group), &at("b")).unwrap();
    assert_eq!(served.primary(id).as_deref(), Some("b"));
    // Requests at the service go to any of them, and states to none.
    let forwarded = register(&group).whoami().unwrap();
    assert!(forwarded == "a" || forwarded == "b", "{forwarded}");
    let taken = [a, b].map(|one| one.states_taken.load(Ordering::SeqCst));
    assert_eq!(taken, [0, 0]);
}

#[test]
fn a_checkpoint_of_the_primary_is_taken_at_intervals_and_given_to_a_warm_member() {
    let served = Served::new();
    let (group, id) = served.group("warm-passive", "");
    let interval: u64 = 100_000;
    let checkpoints = property(
        "org.omg.ft.CheckpointInterval",
        Any::new(&interval).unwrap(),
    );
    served
        .replication
        .set_properties_dynamically(Some(&group), &[checkpoints])
        .unwrap();
    let a = served.add(&group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    let b = served.add(&group, "b");
    a.value.store(41, Ordering::SeqCst);
    until(|| b.value_now() == 41);
    assert_eq!(
        served.replication.stored_state(id).unwrap(),
        41_i32.to_be_bytes()
    );
}

#[test]
fn a_primary_without_a_lease_that_does_not_answer_is_replaced() {
    let served = Served::new();
    let (group, id) = served.group("cold-passive", "");
    let gone = served
        .client
        .string_to_object("corbaloc::127.0.0.1:1/gone")
        .unwrap();
    served
        .replication
        .add_member(Some(&group), &at("a"), Some(&gone))
        .unwrap();
    until(|| served.primary(id).as_deref() == Some("a"));
    served.add(&group, "b");
    until(|| served.primary(id).as_deref() == Some("b"));
    assert_eq!(register(&served.reference(&group)).whoami().unwrap(), "b");
}

#[test]
fn a_primary_that_says_it_is_not_alive_is_replaced() {
    let served = Served::new();
    let (group, id) = served.group("cold-passive", "");
    let a = served.add(&group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    served.add(&group, "b");
    a.says_it_is_dead.store(true, Ordering::SeqCst);
    until(|| served.primary(id).as_deref() == Some("b"));
}

#[test]
fn members_that_push_are_not_asked_and_their_leases_end() {
    let served = Served::new();
    let (group, id) = served.group("cold-passive", "");
    let style = property(
        "org.omg.ft.FaultMonitoringStyle",
        Any::new(&ft::PUSH).unwrap(),
    );
    let manager = &served.replication;
    let set = manager.set_properties_dynamically(Some(&group), &[style]);
    set.unwrap();
    let silent = served.add(&group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    silent.says_it_is_dead.store(true, Ordering::SeqCst);
    // Another group, whose members are asked, shows that the service has asked since.
    let (asked, asked_id) = served.group("cold-passive", "");
    let other = served.add(&asked, "a");
    until(|| served.primary(asked_id).is_some());
    other.says_it_is_dead.store(true, Ordering::SeqCst);
    served.add(&asked, "b");
    until(|| served.primary(asked_id).as_deref() == Some("b"));
    assert_eq!(served.primary(id).as_deref(), Some("a"));
    // A member that pushes, and stops.
    let lease = served.activate(punctual::poa::servant_of::<crate::idl::Register, _>(
        crate::support::Counter::named("c"),
    ));
    let joined = manager.join(Some(&group), &at("c"), Some(&lease), 100);
    let joined = joined.unwrap();
    let ended = || {
        manager
            .renew(joined.id, &at("c"), joined.token, &[])
            .is_err()
    };
    until(|| {
        std::thread::sleep(Duration::from_millis(300));
        ended()
    });
}

#[test]
fn a_primary_that_is_drained_hands_over_and_stays_where_there_is_no_other() {
    let served = Served::new();
    let (group, id) = served.group("warm-passive", "");
    served.add(&group, "a");
    until(|| served.primary(id).is_some());
    served.replication.drain(id, &at("a"), true).unwrap();
    assert_eq!(served.primary(id).as_deref(), Some("a"));
    served.replication.drain(id, &at("a"), false).unwrap();
    served.add(&group, "b");
    served.replication.drain(id, &at("a"), true).unwrap();
    until(|| served.primary(id).as_deref() == Some("b"));
}

#[test]
fn after_a_restart_no_other_member_is_primary_before_the_lease_of_one_that_was_removed_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groups.redb");
    let serve = || {
        Served::serve(
            tempfile::tempdir().unwrap(),
            GroupService::open(&path).unwrap(),
        )
    };
    let served = serve();
    let (group, id) = served.group("warm-passive", "");
    let object: ObjectRef = served.activate(punctual::poa::servant_of::<crate::idl::Register, _>(
        crate::support::Counter::named("a"),
    ));
    let join = |served: &Served| {
        let joined = served
            .replication
            .join(Some(&group), &at("a"), Some(&object), 60_000);
        joined.unwrap()
    };
    join(&served);
    until(|| served.primary(id).as_deref() == Some("a"));
    served.add(&group, "b");
    served
        .replication
        .remove_member(Some(&group), &at("a"))
        .unwrap();
    drop(served);

    let served = serve();
    let (another, after) = served.group("warm-passive", "");
    served.add(&another, "x");
    until(|| served.primary(after).is_some());
    assert_eq!(served.primary(id), None, "the process at `a` may serve yet");
}

#[test]
fn a_change_of_the_style_does_not_shorten_the_lease_of_a_primary_that_was_removed() {
    let served = Served::new();
    let (group, id) = served.group("warm-passive", "");
    let _first = served.join(&group, "a", LONG);
    until(|| served.primary(id).as_deref() == Some("a"));
    served.add(&group, "b");
    served
        .replication
        .remove_member(Some(&group), &at("a"))
        .unwrap();
    for style in [0_i32, 2] {
        let style = property("org.omg.ft.ReplicationStyle", Any::new(&style).unwrap());
        served
            .replication
            .set_properties_dynamically(Some(&group), &[style])
            .unwrap();
    }
    let (another, after) = served.group("warm-passive", "");
    served.add(&another, "x");
    until(|| served.primary(after).is_some());
    assert_eq!(served.primary(id), None);
}

#[test]
fn a_checkpoint_that_is_older_than_a_stored_state_does_not_replace_it() {
    let served = Served::new();
    let (group, id) = served.group("warm-passive", "");
    let a = served.add(&group, "a");
    let b = served.add(&group, "b");
    until(|| served.primary(id).as_deref() == Some("a"));
    let interval: u64 = 10_000_000_000;
    let checkpoints = property(
        "org.omg.ft.CheckpointInterval",
        Any::new(&interval).unwrap(),
    );
    served
        .replication
        .set_properties_dynamically(Some(&group), &[checkpoints])
        .unwrap();
    a.value.store(5, Ordering::SeqCst);
    let replication = served.replication.clone();
    // The number of the first member of a group is 1.
    *a.during_get_state.lock() = Some(Box::new(move || {
        replication
            .store_state(id, &at("a"), 1, 1, &7_i32.to_be_bytes())
            .unwrap();
    }));
    served
        .replication
        .set_primary_member(Some(&group), &at("b"))
        .unwrap();
    assert_eq!(b.value_now(), 7);
    *a.during_get_state.lock() = None;
}

#[test]
fn a_state_that_was_delayed_does_not_replace_a_later_one() {
    let served = Served::new();
    let (group, id) = served.group("warm-passive", "");
    served.add(&group, "a");
    until(|| served.primary(id).is_some());
    let store = |number: u64, state: &[u8]| {
        served
            .replication
            .store_state(id, &at("a"), 1, number, state)
    };
    store(1, b"one").unwrap();
    store(3, b"three").unwrap();
    for number in [2, 3] {
        let refused = store(number, b"late");
        assert!(matches!(
            refused,
            Err(AdministrationStoreStateError::Refused(_))
        ));
    }
    assert_eq!(served.replication.stored_state(id).unwrap(), b"three");
}

#[test]
fn a_member_that_does_not_live_is_not_made_primary_and_the_primary_stays() {
    let served = Served::new();
    let (group, id) = served.group("cold-passive", "");
    served.add(&group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    let gone = served
        .client
        .string_to_object("corbaloc::127.0.0.1:1/gone")
        .unwrap();
    served
        .replication
        .add_member(Some(&group), &at("b"), Some(&gone))
        .unwrap();
    let is_alive = || {
        let groups = served.replication.list(0, 100).unwrap();
        let mut members = groups[0].the_members.iter();
        members.any(|member| member.the_location == at("b") && member.is_alive)
    };
    until(|| !is_alive());
    let before = served.reference(&group);
    let refused = served
        .replication
        .set_primary_member(Some(&group), &at("b"));
    assert!(matches!(
        refused,
        Err(FtObjectGroupManagerSetPrimaryMemberError::PrimaryNotSet(_))
    ));
    assert_eq!(served.reference(&group).ior().group(), before.ior().group());
}

#[test]
fn a_request_whose_reply_was_lost_with_the_primary_is_not_run_again_by_the_next() {
    let served = Served::new();
    let (group, id) = served.group("warm-passive", "");
    let mut processes = Processes::of(&served, &group, SHORT);
    processes.start_to_die_at("a", 2);
    until(|| served.primary(id).as_deref() == Some("a"));
    processes.start("b");
    let orb = tolerant();
    let client = tolerant_register(&orb, &served.reference(&group));
    assert_eq!(client.add().unwrap(), 1);
    // `a` ends in the midst of it, and the call is repeated at `b`.
    assert_eq!(client.add().unwrap(), 2);
    assert_eq!(client.whoami().unwrap(), "b");
    assert_eq!(client.add().unwrap(), 3);
}
