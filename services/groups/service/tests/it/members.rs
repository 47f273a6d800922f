//! Members by the crate for members: they join when the service comes, come again, and report loads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use punctual::fault_tolerance::FaultTolerance;
use punctual::poa::servant_of;
use punctual::{Interface, RootPoa, SystemExceptionKind};
use punctual_groups_client::cos_load_balancing::{CPU, LoadMonitor};
use punctual_groups_client::ft::CheckpointableSetStateError;
use punctual_groups_client::{
    Guard, MemberOptions, Membership, Monitor, StoreError, processor_load,
};

use crate::idl::Register;
use crate::support::{Counter, Served, at, register, tolerant, until};

#[test]
fn a_member_whose_lease_has_ended_joins_again_by_itself() {
    let served = Served::new();
    let (group, id) = served.group("stateless", "");
    let joined = served.join(&group, "a", Duration::from_millis(90));
    // As if it had been cut off.
    served
        .replication
        .remove_member(Some(&group), &at("a"))
        .unwrap();
    until(|| {
        !served
            .replication
            .locations_of_members(Some(&group))
            .unwrap()
            .is_empty()
    });
    assert!(
        joined.membership.store_state(b"x").is_err(),
        "it is not primary of group {id}"
    );
}

#[test]
fn a_member_whose_place_another_one_has_taken_stays_out_until_that_one_has_left() {
    let served = Served::new();
    let (group, _) = served.group("stateless", "");
    let first = served.join(&group, "a", Duration::from_secs(3));
    assert!(first.membership.has_joined());
    let second = served.join(&group, "a", Duration::from_secs(600));
    until(|| first.membership.is_replaced());
    assert!(!first.membership.has_joined());
    assert!(second.membership.has_joined() && !second.membership.is_replaced());
    // Its servant has the membership, too.
    *second.counter.membership.lock() = None;
    drop(second);
    until(|| first.membership.has_joined());
    assert!(!first.membership.is_replaced());
}

#[test]
fn a_member_reports_its_load_with_each_renewal() {
    let served = Served::new();
    let (group, _) = served.group("", "LeastLoaded");
    let load = Arc::new(AtomicU32::new(5));
    let reported = load.clone();
    let servant = servant_of::<Register, _>(Counter::named("a"));
    let object = served.activate(servant);
    let options = MemberOptions::with_lease(Duration::from_millis(150))
        .load(move || reported.load(Ordering::SeqCst) as f32);
    let membership = Membership::begin(&served.balancing, &group, "a", &object, options).unwrap();
    let loads = || served.balancing.get_loads(&at("a"));
    until(|| loads().is_ok_and(|loads| loads[0].value == 5.0 && loads[0].id == CPU));
    load.store(6, Ordering::SeqCst);
    until(|| loads().is_ok_and(|loads| loads[0].value == 6.0));
    drop(membership);
    assert!(
        served
            .balancing
            .locations_of_members(Some(&group))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_guard_counts_requests_in_progress_and_its_monitor_returns_them() {
    let served = Served::new();
    let (group, _) = served.group("", "LeastLoaded");
    let guard = Guard::new();
    let monitor = Monitor::of_requests("a", &guard);
    let monitor = served.activate(servant_of::<LoadMonitor, _>(monitor));
    let monitor = LoadMonitor::from_object(monitor);
    // The monitor's own requests pass the guard of this servant.
    let through = served.activate(guard.around(servant_of::<LoadMonitor, _>(
        Monitor::of_requests("a", &guard),
    )));
    assert_eq!(
        LoadMonitor::from_object(through).loads().unwrap()[0].value,
        1.0
    );
    assert_eq!(
        (guard.in_progress(), monitor.loads().unwrap()[0].value),
        (0, 0.0)
    );
    let object = served.activate(guard.around(servant_of::<Register, _>(Counter::named("a"))));
    let options = MemberOptions::with_lease(Duration::from_secs(30))
        .guard(&guard)
        .monitor(monitor.clone());
    let membership = Membership::begin(&served.balancing, &group, "a", &object, options).unwrap();
    until(|| served.balancing.get_loads(&at("a")).is_ok());
    let found = served
        .balancing
        .get_load_monitor(&at("a"))
        .unwrap()
        .unwrap();
    assert!(found.as_object().is_equivalent(monitor.as_object()));
    drop(membership);
    assert!(served.balancing.get_load_monitor(&at("a")).is_err());
    let processors = Monitor::of_processors("a");
    assert!(format!("{processors:?}").contains("location"));
    assert!(processor_load() >= 0.0);
}

#[test]
fn a_guarded_member_of_a_passive_group_serves_nobody_before_it_has_joined() {
    let served = Served::new();
    let (group, id) = served.group("warm-passive", "");
    let guard = Guard::new();
    let object = served.activate(guard.around(servant_of::<Register, _>(Counter::named("a"))));
    let options = MemberOptions::with_lease(Duration::from_secs(30))
        .guard(&guard)
        .passive();
    let nowhere = served
        .client
        .string_to_object("corbaloc::127.0.0.1:1/ReplicationManager")
        .unwrap();
    let lost = Membership::begin(&nowhere, &group, "a", &object, options).unwrap();
    let refused = register(&object).whoami().unwrap_err();
    assert_eq!(refused.kind(), SystemExceptionKind::Transient);
    assert_eq!(lost.store_state(b"x"), Err(StoreError::NotPrimary));
    assert!(!lost.has_joined() && !lost.is_primary());
    drop(lost);
    let options = MemberOptions::with_lease(Duration::from_secs(30))
        .guard(&guard)
        .passive();
    let _membership =
        Membership::begin(&served.replication, &group, "a", &object, options).unwrap();
    until(|| served.primary(id).is_some());
    assert_eq!(register(&served.reference(&group)).whoami().unwrap(), "a");
    let bad = Membership::begin(
        &served.replication,
        &group,
        "a\\b",
        &object,
        MemberOptions::with_lease(Duration::from_secs(1)),
    );
    assert!(bad.is_err());
}

#[test]
fn a_primary_takes_no_state() {
    let served = Served::new();
    let (group, _) = served.group("warm-passive", "");
    let joined = served.join(&group, "a", Duration::from_secs(60));
    let client = register(&served.reference(&group));
    assert_eq!(client.add().unwrap(), 1);
    assert!(joined.membership.is_primary());
    let refused = register(&served.reference(&group)).set_state(&5_i32.to_be_bytes());
    assert!(matches!(
        refused,
        Err(CheckpointableSetStateError::System(exception))
            if exception.kind() == SystemExceptionKind::BadInvOrder
    ));
    assert_eq!(client.add().unwrap(), 2);
}

#[test]
fn replies_of_a_member_are_kept_while_it_is_one() {
    let served = Served::new();
    let (group, id) = served.group("cold-passive", "");
    let orb = tolerant();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let guard = Guard::new();
    let servant = guard.around(servant_of::<Register, _>(Counter::named("a")));
    let object_id = poa.activate_object(servant).unwrap();
    let object: Register = poa.id_to_reference(&object_id).unwrap();
    let options = MemberOptions::with_lease(Duration::from_secs(60))
        .guard(&guard)
        .passive();
    let membership = Membership::begin(&served.replication, &group, "a", &object, options).unwrap();
    until(|| served.primary(id).is_some());
    let client_orb = tolerant();
    let text = served
        .client
        .object_to_string(&served.reference(&group))
        .unwrap();
    let client = register(&client_orb.string_to_object(&text).unwrap());
    let kept = || FaultTolerance::of(&orb).unwrap().retained().requests;
    assert_eq!(client.whoami().unwrap(), "a");
    assert_eq!(kept(), 1);
    drop(membership);
    let alone = register(&client_orb.string_to_object(&text).unwrap());
    let _led_to_the_group = alone.with_timeout(Duration::from_millis(1)).whoami();
    assert_eq!(kept(), 1);
}
