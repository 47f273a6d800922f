//! Balanced groups: members by strategies, loads, alerts, monitors, and strategies of users.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use punctual::poa::servant_of;
use punctual::{Any, Interface, ObjectRef, SystemException, SystemExceptionKind as Kind};
use punctual_groups_client::cos_load_balancing::{
    CPU, Load, LoadAlert, LoadAlertServant, LoadList, LoadManager, LoadManagerGetLoadsError,
    LoadManagerRegisterLoadAlertError, LoadManagerRegisterLoadMonitorError, LoadMonitor,
    LoadMonitorServant, Location, Strategy, StrategyGetLoadsError, StrategyInfo,
    StrategyNextMemberError, StrategyPushLoadsError, StrategyServant,
};
use punctual_groups_client::portable_group::{self as pg, Property};
use punctual_groups_client::{Alert, Guard, MemberOptions, Membership, Monitor};

use crate::idl::Register;
use crate::support::{Counter, Served, at, property, register, until};

const LOAD: fn(f32) -> [Load; 1] = |value| [Load { id: CPU, value }];

/// Makes a group whose strategy has parameters.
fn group_of(served: &Served, name: &str, parameters: &[(&str, f32)]) -> ObjectRef {
    let parameter = |(parameter, value): &(&str, f32)| {
        let name = format!("org.omg.CosLoadBalancing.Strategy.{name}.{parameter}");
        property(&name, Any::new(value).unwrap())
    };
    let info = StrategyInfo {
        name: name.to_owned(),
        props: parameters.iter().map(parameter).collect(),
    };
    let info = property(
        "org.omg.CosLoadBalancing.StrategyInfo",
        Any::new(&info).unwrap(),
    );
    let (group, _) = served
        .balancing
        .create_object(crate::support::TYPE, &[info])
        .unwrap();
    group.unwrap()
}

/// Counts which members serve so many new clients.
fn served_by(group: &ObjectRef, clients: usize) -> BTreeMap<String, usize> {
    let mut by = BTreeMap::new();
    for _ in 0..clients {
        // A client of its own, which was not forwarded yet.
        let text = group.orb().object_to_string(group).unwrap();
        let client = register(&group.orb().string_to_object(&text).unwrap());
        *by.entry(client.whoami().unwrap()).or_default() += 1;
    }
    by
}

#[test]
fn round_robin_is_even_over_four_members() {
    let served = Served::new();
    let (group, _) = served.group("", "RoundRobin");
    for name in ["a", "b", "c", "d"] {
        served.add(&group, name);
    }
    let by = served_by(&group, 200);
    assert_eq!(by.len(), 4);
    for count in by.values() {
        assert!((48..=52).contains(count), "{by:?}");
    }
    let groups = served.balancing.list(0, 100).unwrap();
    let chosen: u64 = groups[0]
        .the_members
        .iter()
        .map(|member| member.chosen)
        .sum();
    assert!(chosen >= 200);
}

#[test]
fn a_client_is_forwarded_once_and_then_calls_its_member() {
    let served = Served::new();
    let (group, _) = served.group("", "RoundRobin");
    served.add(&group, "a");
    served.add(&group, "b");
    let client = register(&group);
    let first = client.whoami().unwrap();
    let forwards = served.service.forwards();
    for _ in 0..20 {
        assert_eq!(client.whoami().unwrap(), first);
    }
    assert_eq!(served.service.forwards(), forwards);
}

#[test]
fn random_choice_reaches_all_members() {
    let served = Served::new();
    let (group, _) = served.group("", "Random");
    served.add(&group, "a");
    served.add(&group, "b");
    let mut seen = BTreeMap::new();
    until(|| {
        seen.extend(served_by(&group, 1));
        seen.len() == 2
    });
}

#[test]
fn least_loaded_avoids_a_slow_member() {
    let served = Served::new();
    for strategy in ["LeastLoaded", "LoadMinimum"] {
        let group = group_of(&served, strategy, &[("PerBalanceLoad", 1.0)]);
        for name in ["slow", "b", "c"] {
            served.add(&group, name);
        }
        served
            .balancing
            .push_loads(&at("slow"), &LOAD(1_000.0))
            .unwrap();
        served.balancing.push_loads(&at("b"), &LOAD(1.0)).unwrap();
        served.balancing.push_loads(&at("c"), &LOAD(1.0)).unwrap();
        let by = served_by(&group, 60);
        assert!(!by.contains_key("slow"), "{strategy}: {by:?}");
        // Each client counts as a load until the next report, so that they do not all go to one.
        assert_eq!(by["b"].abs_diff(by["c"]), 0, "{strategy}: {by:?}");
    }
}

#[test]
fn a_member_from_its_reject_threshold_on_takes_no_clients() {
    let served = Served::new();
    let group = group_of(&served, "LeastLoaded", &[("RejectThreshold", 10.0)]);
    served.add(&group, "a");
    served.balancing.push_loads(&at("a"), &LOAD(10.0)).unwrap();
    let refused = register(&group).whoami().unwrap_err();
    assert_eq!(refused.kind(), Kind::Transient);
    served.balancing.push_loads(&at("a"), &LOAD(9.0)).unwrap();
    assert_eq!(register(&group).whoami().unwrap(), "a");
}

/// Alert that counts.
#[derive(Default)]
struct Told {
    enabled: AtomicU32,
    disabled: AtomicU32,
}

impl LoadAlertServant for Told {
    fn enable_alert(&self) -> Result<(), SystemException> {
        self.enabled.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn disable_alert(&self) -> Result<(), SystemException> {
        self.disabled.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[test]
fn an_alert_is_enabled_when_a_member_has_too_much_and_disabled_again() {
    let served = Served::new();
    let manager = &served.balancing;
    let group = group_of(&served, "LoadAverage", &[]);
    for name in ["a", "b", "c"] {
        served.add(&group, name);
        manager.push_loads(&at(name), &LOAD(1.0)).unwrap();
    }
    let told = Arc::new(Told::default());
    let alert = LoadAlert::from_object(served.activate(servant_of::<LoadAlert, _>(told.clone())));
    manager.register_load_alert(&at("a"), Some(&alert)).unwrap();
    let again = manager.register_load_alert(&at("a"), Some(&alert));
    assert!(matches!(
        again,
        Err(LoadManagerRegisterLoadAlertError::LoadAlertAlreadyPresent(
            _
        ))
    ));
    let found = manager.get_load_alert(&at("a")).unwrap().unwrap();
    assert!(found.as_object().is_equivalent(alert.as_object()));
    manager.push_loads(&at("a"), &LOAD(100.0)).unwrap();
    until(|| told.enabled.load(Ordering::SeqCst) == 1);
    // It is called once, and clients are led to others.
    manager.push_loads(&at("a"), &LOAD(100.0)).unwrap();
    assert!(!served_by(&group, 20).contains_key("a"));
    manager.push_loads(&at("a"), &LOAD(1.0)).unwrap();
    until(|| told.disabled.load(Ordering::SeqCst) == 1);
    assert_eq!(told.enabled.load(Ordering::SeqCst), 1);
    // By hand, as a strategy of a user's does it.
    manager.enable_alert(&at("a")).unwrap();
    until(|| told.enabled.load(Ordering::SeqCst) == 2);
    manager.disable_alert(&at("a")).unwrap();
    until(|| told.disabled.load(Ordering::SeqCst) == 2);
    manager.remove_load_alert(&at("a")).unwrap();
    assert!(manager.get_load_alert(&at("a")).is_err());
    assert!(manager.remove_load_alert(&at("a")).is_err());
    assert!(manager.enable_alert(&at("a")).is_err());
    assert!(manager.disable_alert(&at("a")).is_err());
    assert!(manager.register_load_alert(&at("a"), None).is_err());
}

#[test]
fn where_all_members_have_too_much_none_sheds_load() {
    let served = Served::new();
    let group = group_of(&served, "LeastLoaded", &[("CriticalThreshold", 1.0)]);
    let told = Arc::new(Told::default());
    let alert = LoadAlert::from_object(served.activate(servant_of::<LoadAlert, _>(told.clone())));
    for name in ["a", "b"] {
        served.add(&group, name);
        served
            .balancing
            .register_load_alert(&at(name), Some(&alert))
            .unwrap();
    }
    served.balancing.push_loads(&at("a"), &LOAD(5.0)).unwrap();
    served.balancing.push_loads(&at("b"), &LOAD(0.5)).unwrap();
    until(|| told.enabled.load(Ordering::SeqCst) == 1);
    served.balancing.push_loads(&at("b"), &LOAD(5.0)).unwrap();
    until(|| told.disabled.load(Ordering::SeqCst) == 1);
    assert_eq!(served_by(&group, 10).len(), 2);
}

#[test]
fn a_member_that_sheds_load_forwards_its_clients_and_takes_them_again() {
    let served = Served::new();
    let group = group_of(&served, "LeastLoaded", &[("CriticalThreshold", 10.0)]);
    served.add(&group, "b");
    served.balancing.push_loads(&at("b"), &LOAD(5.0)).unwrap();
    let (guard, counter) = (Guard::new(), Counter::named("a"));
    let object = served.activate(guard.around(servant_of::<Register, _>(counter)));
    let alert = served.activate(servant_of::<LoadAlert, _>(Alert::of(&guard)));
    let load = Arc::new(AtomicU32::new(1));
    let reported = load.clone();
    let options = MemberOptions::with_lease(Duration::from_secs(30))
        .guard(&guard)
        .alert(LoadAlert::from_object(alert));
    let membership = Membership::begin(&served.balancing, &group, "a", &object, options).unwrap();
    until(|| served.balancing.get_load_alert(&at("a")).is_ok());
    served
        .balancing
        .push_loads(&at("a"), &LOAD(reported.load(Ordering::SeqCst) as f32))
        .unwrap();
    let client = register(&group);
    assert_eq!(client.whoami().unwrap(), "a");
    load.store(50, Ordering::SeqCst);
    served.balancing.push_loads(&at("a"), &LOAD(50.0)).unwrap();
    until(|| guard.is_shedding());
    // The client has called it directly so far.
    assert_eq!(client.whoami().unwrap(), "b");
    served.balancing.push_loads(&at("a"), &LOAD(1.0)).unwrap();
    until(|| !guard.is_shedding());
    assert_eq!(register(&object).whoami().unwrap(), "a");
    assert!(membership.has_joined());
    drop(membership);
    assert_eq!(served_by(&group, 3).keys().collect::<Vec<_>>(), ["b"]);
    assert!(served.balancing.get_load_alert(&at("a")).is_err());
}

#[test]
fn monitors_are_asked_at_intervals_and_one_that_lies_or_hangs_is_passed_over() {
    let served = Served::with(|limits| limits.call = Duration::from_millis(50));
    let manager = &served.balancing;
    let value = Arc::new(AtomicU32::new(3));
    let source = value.clone();
    let monitor = Monitor::new("a", CPU, move || source.load(Ordering::SeqCst) as f32);
    let monitor = LoadMonitor::from_object(served.activate(servant_of::<LoadMonitor, _>(monitor)));
    assert_eq!(monitor.the_location().unwrap(), at("a"));
    manager
        .register_load_monitor(&at("a"), Some(&monitor))
        .unwrap();
    let again = manager.register_load_monitor(&at("a"), Some(&monitor));
    assert!(matches!(
        again,
        Err(LoadManagerRegisterLoadMonitorError::MonitorAlreadyPresent(
            _
        ))
    ));
    let hung = Arc::new(Hung::default());
    for (name, lies) in [
        ("liar", f32::NAN),
        ("negative", -1.0),
        ("endless", f32::INFINITY),
    ] {
        let liar = Monitor::new(name, CPU, move || lies);
        let liar = LoadMonitor::from_object(served.activate(servant_of::<LoadMonitor, _>(liar)));
        manager
            .register_load_monitor(&at(name), Some(&liar))
            .unwrap();
    }
    let hangs =
        LoadMonitor::from_object(served.activate(servant_of::<LoadMonitor, _>(hung.clone())));
    manager
        .register_load_monitor(&at("hangs"), Some(&hangs))
        .unwrap();
    let load = |name: &str| manager.get_loads(&at(name)).map(|loads| loads[0].value);
    until(|| load("a").is_ok_and(|load| load == 3.0));
    value.store(8, Ordering::SeqCst);
    until(|| load("a").is_ok_and(|load| load == 8.0));
    for name in ["liar", "negative", "endless", "hangs"] {
        assert!(
            matches!(
                load(name),
                Err(LoadManagerGetLoadsError::LocationNotFound(_))
            ),
            "{name}"
        );
    }
    hung.release();
    let found = manager.get_load_monitor(&at("a")).unwrap().unwrap();
    assert!(found.as_object().is_equivalent(monitor.as_object()));
    manager.remove_load_monitor(&at("a")).unwrap();
    assert!(manager.remove_load_monitor(&at("a")).is_err());
    assert!(manager.get_load_monitor(&at("a")).is_err());
    assert!(manager.register_load_monitor(&at("a"), None).is_err());
}

/// Monitor and strategy that do not answer before they are released.
#[derive(Default)]
struct Hung {
    is_released: Mutex<bool>,
    changed: Condvar,
    asked: AtomicU32,
}

impl Hung {
    fn wait(&self) {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut is_released = self.is_released.lock();
        while !*is_released {
            self.changed.wait(&mut is_released);
        }
    }

    fn release(&self) {
        *self.is_released.lock() = true;
        self.changed.notify_all();
    }
}

impl LoadMonitorServant for Hung {
    fn the_location(&self) -> Result<Location, SystemException> {
        Ok(at("hangs"))
    }

    fn loads(&self) -> Result<LoadList, SystemException> {
        self.wait();
        Ok(Vec::new())
    }
}

/// Strategy of a user's, which a function answers for.
struct Custom<F>(F);

type Next = Result<Option<ObjectRef>, StrategyNextMemberError>;

impl<F: Fn(Option<&ObjectRef>, Option<&LoadManager>) -> Next + Send + Sync + 'static>
    StrategyServant for Custom<F>
{
    fn name(&self) -> Result<String, SystemException> {
        Ok("custom".to_owned())
    }

    fn get_properties(&self) -> Result<Vec<Property>, SystemException> {
        Ok(Vec::new())
    }

    fn push_loads(
        &self,
        _the_location: &[punctual_naming_client::cos_naming::NameComponent],
        _loads: &[Load],
    ) -> Result<(), StrategyPushLoadsError> {
        Ok(())
    }

    fn get_loads(
        &self,
        _load_manager: Option<&LoadManager>,
        _the_location: &[punctual_naming_client::cos_naming::NameComponent],
    ) -> Result<LoadList, StrategyGetLoadsError> {
        Ok(Vec::new())
    }

    fn next_member(
        &self,
        object_group: Option<&pg::ObjectGroup>,
        load_manager: Option<&LoadManager>,
    ) -> Next {
        (self.0)(object_group, load_manager)
    }

    fn analyze_loads(
        &self,
        _object_group: Option<&pg::ObjectGroup>,
        load_manager: Option<&LoadManager>,
    ) -> Result<(), SystemException> {
        // What it learns from the loads: here, that `b` has too much.
        let _ = load_manager.map(|manager| manager.enable_alert(&at("b")));
        Ok(())
    }
}

fn custom_group<F>(served: &Served, next: F) -> ObjectRef
where
    F: Fn(Option<&ObjectRef>, Option<&LoadManager>) -> Next + Send + Sync + 'static,
{
    let strategy = served.activate(servant_of::<Strategy, _>(Custom(next)));
    let strategy = Strategy::from_object(strategy);
    let custom = property(
        "org.omg.CosLoadBalancing.CustomStrategy",
        Any::new(&Some(strategy)).unwrap(),
    );
    let (group, _) = served
        .balancing
        .create_object(crate::support::TYPE, &[custom])
        .unwrap();
    let group = group.unwrap();
    served.add(&group, "a");
    served.add(&group, "b");
    group
}

#[test]
fn a_strategy_of_a_users_chooses_and_analyses_with_the_managers_operations() {
    let served = Served::new();
    let group = custom_group(&served, |group, manager| {
        let member = manager.unwrap().get_member_ref(group, &at("b"));
        Ok(member.unwrap_or_default())
    });
    assert_eq!(served_by(&group, 5), BTreeMap::from([("b".to_owned(), 5)]));
    let told = Arc::new(Told::default());
    let alert = LoadAlert::from_object(served.activate(servant_of::<LoadAlert, _>(told.clone())));
    served
        .balancing
        .register_load_alert(&at("b"), Some(&alert))
        .unwrap();
    served.balancing.push_loads(&at("a"), &LOAD(1.0)).unwrap();
    until(|| told.enabled.load(Ordering::SeqCst) == 1);
}

#[test]
fn strategies_that_hang_lie_or_fail_leave_members_their_turns() {
    let served = Served::with(|limits| limits.call = Duration::from_millis(50));
    let hung = Arc::new(Hung::default());
    let hangs = hung.clone();
    let stranger = served.activate(servant_of::<Register, _>(Counter::named("stranger")));
    let groups = [
        custom_group(&served, move |_, _| {
            hangs.wait();
            Ok(None)
        }),
        custom_group(&served, move |_, _| Ok(Some(stranger.clone()))),
        custom_group(&served, |_, _| Ok(None)),
        custom_group(&served, |_, _| Err(pg::MemberNotFound.into())),
    ];
    for group in &groups {
        assert_eq!(
            served_by(group, 4),
            BTreeMap::from([("a".to_owned(), 2), ("b".to_owned(), 2)])
        );
    }
    // It was not asked again for each client.
    assert!(hung.asked.load(Ordering::SeqCst) <= 4);
    hung.release();
}

#[test]
fn a_drained_member_takes_no_new_clients_and_keeps_those_it_has() {
    let served = Served::new();
    let (group, id) = served.group("", "RoundRobin");
    served.add(&group, "a");
    let client = register(&group);
    assert_eq!(client.whoami().unwrap(), "a");
    served.add(&group, "b");
    served.balancing.drain(id, &at("a"), true).unwrap();
    assert_eq!(served_by(&group, 4).keys().collect::<Vec<_>>(), ["b"]);
    assert_eq!(client.whoami().unwrap(), "a");
    served.balancing.drain(id, &at("a"), false).unwrap();
    assert_eq!(served_by(&group, 4).len(), 2);
    assert!(served.balancing.drain(id, &at("c"), true).is_err());
}

#[test]
fn a_member_that_joins_again_unchanged_is_renewed_and_stays_drained() {
    let served = Served::unchecked();
    let (group, id) = served.group("", "LeastLoaded");
    let object = served.activate(servant_of::<Register, _>(Counter::named("a")));
    let other = served.activate(servant_of::<Register, _>(Counter::named("b")));
    let join = |object: &ObjectRef, lease| {
        served
            .balancing
            .join(Some(&group), &at("a"), Some(object), lease)
            .unwrap()
    };
    let shown = || {
        let mut group = served.balancing.list(0, 1).unwrap().remove(0);
        group.the_members[0].load_age_ms = 0;
        group
    };
    for lease in [0, 60_000] {
        let joined = join(&object, lease);
        assert!(!joined.current.is_draining);
        served.balancing.drain(id, &at("a"), true).unwrap();
        served.balancing.report(id, &at("a"), 4.5).unwrap();
        let before = shown();
        let again = join(&object, lease);
        assert_eq!(again.token, joined.token);
        assert!(again.current.is_draining);
        assert_eq!(shown(), before);
    }
    // Another object there is another member, and the same with another lease.
    let replaced = join(&other, 60_000);
    assert!(!replaced.current.is_draining && !shown().the_members[0].is_loaded);
    assert_ne!(join(&other, 50_000).token, replaced.token);
    assert_eq!(shown().the_members[0].lease_ms, 50_000);
}

#[test]
fn a_member_that_does_not_answer_is_passed_over_until_it_does() {
    let served = Served::new();
    let (group, _) = served.group("", "RoundRobin");
    served.add(&group, "a");
    let gone = served
        .client
        .string_to_object("corbaloc::127.0.0.1:1/gone")
        .unwrap();
    served
        .balancing
        .add_member(Some(&group), &at("gone"), Some(&gone))
        .unwrap();
    until(|| {
        let groups = served.balancing.list(0, 100).unwrap();
        groups[0].the_members.iter().any(|member| !member.is_alive)
    });
    assert_eq!(served_by(&group, 6).keys().collect::<Vec<_>>(), ["a"]);
}

#[test]
fn loads_that_are_none_are_refused_and_those_of_a_location_are_the_raw_ones() {
    let served = Served::with(|limits| limits.locations = 1);
    let manager = &served.balancing;
    let many = vec![Load::default(); 17];
    for loads in [
        &[][..],
        &LOAD(f32::NAN),
        &LOAD(-1.0),
        &LOAD(f32::INFINITY),
        &many,
    ] {
        let refused = manager.push_loads(&at("a"), loads).unwrap_err();
        assert_eq!(refused.kind(), Kind::BadParam);
    }
    let (group, _) = served.group("", "LeastLoaded");
    served.add(&group, "a");
    manager.push_loads(&at("a"), &LOAD(7.5)).unwrap();
    assert_eq!(manager.get_loads(&at("a")).unwrap(), LOAD(7.5));
    assert_eq!(
        manager.push_loads(&at("b"), &LOAD(1.0)).unwrap_err().kind(),
        Kind::ImpLimit
    );
}
