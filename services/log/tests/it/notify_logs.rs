//! Logs that are channels of the Notification Service: what suppliers of each form push is recorded, filtered and passed on.

use punctual::{Any, Interface, NotNil, OperationError, SystemExceptionKind as Kind};
use punctual_host::store::Faults;
use punctual_log::ds_log_admin::{
    AdministrativeState, ForwardingState, HALT, OperationalState, TimeInterval, WRAP,
};
use punctual_log::ds_notify_log_admin::NotifyLog;
use punctual_notification::cos_event_channel_admin as event_admin;
use punctual_notification::cos_notification::{
    BEST_EFFORT, CONNECTION_RELIABILITY, EVENT_RELIABILITY, ORDER_POLICY, PERSISTENT,
};
use punctual_notification::cos_notify_channel_admin::InterFilterGroupOperator;

use crate::notify::{
    consumers, event, filter, narrowed, property, pull_supplier, pulled, pulls_from,
    pushes_anys_to, pushes_sequences_to, pushes_to, recorded, recorded_if, suppliers,
};
use crate::support::{Served, exists, limits, number, text, until, write};

#[test]
fn a_notify_log_is_a_log_and_a_channel_with_the_standards_ids() {
    let served = Served::new();
    let log = served.notify_log(&[]);
    for id in [
        "IDL:omg.org/DsNotifyLogAdmin/NotifyLog:1.0",
        "IDL:omg.org/DsEventLogAdmin/EventLog:1.0",
        "IDL:omg.org/DsLogAdmin/Log:1.0",
        "IDL:omg.org/CosNotifyChannelAdmin/EventChannel:1.0",
        "IDL:omg.org/CosEventChannelAdmin/EventChannel:1.0",
        "IDL:omg.org/CosNotification/QoSAdmin:1.0",
        "IDL:omg.org/CosNotification/AdminPropertiesAdmin:1.0",
    ] {
        assert!(log.as_object().is_a(id).unwrap(), "{id}");
    }
    for id in [
        "IDL:omg.org/DsNotifyLogAdmin/NotifyLogFactory:1.0",
        "IDL:omg.org/DsLogAdmin/LogMgr:1.0",
        "IDL:omg.org/CosNotifyChannelAdmin/ConsumerAdmin:1.0",
        "IDL:omg.org/CosNotifyComm/NotifySubscribe:1.0",
        "IDL:omg.org/CosNotifyFilter/FilterAdmin:1.0",
    ] {
        assert!(served.notify.as_object().is_a(id).unwrap(), "{id}");
    }
    let is_same = |one: &punctual::ObjectRef, other: &punctual::ObjectRef| one.is_equivalent(other);
    let as_log: punctual_log::ds_log_admin::Log = narrowed(&log);
    let manager = as_log.log_factory().unwrap().not_nil().unwrap();
    assert!(is_same(manager.as_object(), served.notify.as_object()));
    // The log is the channel of its administrators, and no factory of channels has made it.
    let as_channel: punctual_notification::cos_notify_channel_admin::EventChannel = narrowed(&log);
    assert!(as_channel.my_factory().unwrap().is_none());
    let channel = consumers(&log).my_channel().unwrap().not_nil().unwrap();
    assert!(is_same(channel.as_object(), log.as_object()));
    let channel = suppliers(&log).my_channel().unwrap().not_nil().unwrap();
    assert!(is_same(channel.as_object(), log.as_object()));
}

#[test]
fn events_of_each_form_are_records_when_their_push_has_returned_and_reach_consumers() {
    let served = Served::new();
    let log = served.notify_log(&[]);
    let pulls = pulls_from(&log);
    pushes_to(&log).push_structured_event(&event(1)).unwrap();
    assert_eq!(recorded(&log), [1]);
    let sequence = [event(2), event(3), event(4)];
    pushes_sequences_to(&log)
        .push_structured_events(&sequence)
        .unwrap();
    assert_eq!(recorded(&log), [1, 2, 3, 4]);
    pushes_anys_to(&log).push(&number(5)).unwrap();
    let suppliers = log.for_suppliers().unwrap().not_nil().unwrap();
    let plain = suppliers.obtain_push_consumer().unwrap().not_nil().unwrap();
    plain.connect_push_supplier(None).unwrap();
    plain.push(&number(6)).unwrap();
    assert_eq!(recorded(&log), [1, 2, 3, 4, 5, 6]);
    assert_eq!(pulled(&pulls), [1, 2, 3, 4, 5, 6]);
    // Clients may write records of their own, which are no events.
    write(&narrowed(&log), [9]);
    assert_eq!(recorded(&log), [1, 2, 3, 4, 5, 6, 9]);
    assert!(pulled(&pulls).is_empty());
}

#[test]
fn records_are_found_by_fields_of_their_events() {
    let served = Served::new();
    let log = served.notify_log(&[]);
    let pushes = pushes_to(&log);
    for one in 1..=4 {
        pushes.push_structured_event(&event(one)).unwrap();
    }
    for (constraint, expected) in [
        ("$.info.filterable_data(number) > 2", vec![3, 4]),
        (
            "$.info.header.fixed_header.event_name == 'event 2'",
            vec![2],
        ),
        (
            "$.info.header.fixed_header.event_type.type_name == 'Alarm' and $.id <= 2",
            vec![1, 2],
        ),
    ] {
        assert_eq!(recorded_if(&log, constraint), expected, "{constraint}");
    }
    let (records, _) = log.query("EXTENDED_TCL", "$.id == 1").unwrap();
    let id = records[0].info.type_code().id().unwrap().to_owned();
    assert_eq!(id, "IDL:omg.org/CosNotification/StructuredEvent:1.0");
}

#[test]
fn the_filter_of_the_log_decides_what_is_recorded_and_consumers_get_all() {
    let served = Served::new();
    let log = served.notify_log(&[]);
    let (pushes, pulls) = (pushes_sequences_to(&log), pulls_from(&log));
    assert!(log.get_filter().unwrap().is_none());
    let large = filter(&log, "$number > 2");
    log.set_filter(Some(&large)).unwrap();
    let found = log.get_filter().unwrap().not_nil().unwrap();
    assert!(found.as_object().is_equivalent(large.as_object()));
    pushes
        .push_structured_events(&[event(1), event(3), event(2), event(4)])
        .unwrap();
    assert_eq!(recorded(&log), [3, 4]);
    // It stays the log's filter when its client destroys it, as those of proxies do.
    large.destroy().unwrap();
    pushes
        .push_structured_events(&[event(2), event(5)])
        .unwrap();
    assert_eq!(recorded(&log), [3, 4, 5]);
    log.set_filter(None).unwrap();
    assert!(log.get_filter().unwrap().is_none());
    pushes.push_structured_events(&[event(1)]).unwrap();
    assert_eq!(recorded(&log), [3, 4, 5, 1]);
    assert_eq!(pulled(&pulls), [1, 3, 2, 4, 2, 5, 1]);
}

#[test]
fn filters_of_other_services_and_destroyed_ones_are_refused() {
    let (served, other) = (Served::new(), Served::new());
    let log = served.notify_log(&[]);
    let elsewhere = filter(&other.notify_log(&[]), "$number > 2");
    let refused = log.set_filter(Some(&elsewhere)).unwrap_err();
    assert_eq!(refused.kind(), Kind::NoImplement);
    let own = filter(&log, "$number > 2");
    own.destroy().unwrap();
    let refused = log.set_filter(Some(&own)).unwrap_err();
    assert_eq!(refused.kind(), Kind::ObjectNotExist);
    assert!(log.get_filter().unwrap().is_none());
}

#[test]
fn events_that_filters_of_suppliers_keep_out_are_no_records() {
    let served = Served::new();
    let log = served.notify_log(&[]);
    let pushes = pushes_to(&log);
    pushes
        .add_filter(Some(&filter(&log, "$number == 2")))
        .unwrap();
    for one in 1..=3 {
        pushes.push_structured_event(&event(one)).unwrap();
    }
    assert_eq!(recorded(&log), [2]);
}

#[test]
fn consumers_get_no_events_while_forwarding_is_off() {
    let served = Served::new();
    let log = served.notify_log(&[]);
    let (pushes, pulls) = (pushes_to(&log), pulls_from(&log));
    log.set_forwarding_state(ForwardingState::Off).unwrap();
    pushes.push_structured_event(&event(1)).unwrap();
    log.set_filter(Some(&filter(&log, "$number > 2"))).unwrap();
    pushes.push_structured_event(&event(2)).unwrap();
    log.set_forwarding_state(ForwardingState::On).unwrap();
    pushes.push_structured_event(&event(3)).unwrap();
    assert_eq!(pulled(&pulls), [3]);
    assert_eq!(recorded(&log), [1, 3]);
}

#[test]
fn events_that_the_log_does_not_take_pass_on() {
    let served = Served::new();
    let log = served.notify_log(&[]);
    let (pushes, pulls) = (pushes_sequences_to(&log), pulls_from(&log));
    let push = |numbers: &[i32]| {
        let events: Vec<_> = numbers.iter().copied().map(event).collect();
        pushes.push_structured_events(&events).unwrap();
    };
    log.set_administrative_state(AdministrativeState::Locked)
        .unwrap();
    push(&[1]);
    log.set_administrative_state(AdministrativeState::Unlocked)
        .unwrap();
    log.set_interval(&TimeInterval { start: 0, stop: 1 })
        .unwrap();
    push(&[2]);
    log.set_interval(&TimeInterval::default()).unwrap();
    push(&[3]);
    let one = log.get_current_size().unwrap();
    log.set_max_size(3 * one).unwrap();
    // The first two of the sequence fit.
    push(&[4, 5, 6]);
    push(&[7]);
    assert!(log.get_availability_status().unwrap().log_full);
    assert_eq!(recorded(&log), [3, 4, 5]);
    assert_eq!(pulled(&pulls), [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_log_that_wraps_has_the_newest_events() {
    let served = Served::new();
    let log = served.notify_log(&[]);
    let (pushes, pulls) = (pushes_sequences_to(&log), pulls_from(&log));
    pushes.push_structured_events(&[event(1)]).unwrap();
    let one = log.get_current_size().unwrap();
    log.set_log_full_action(WRAP).unwrap();
    log.set_max_size(2 * one).unwrap();
    pushes
        .push_structured_events(&[event(2), event(3), event(4)])
        .unwrap();
    assert_eq!(recorded(&log), [3, 4]);
    assert_eq!(pulled(&pulls), [1, 2, 3, 4]);
}

#[test]
fn an_event_that_cannot_be_stored_is_refused_and_reaches_no_consumer() {
    let folder = tempfile::tempdir().unwrap();
    let faults = Faults::default();
    let served = Served::faulty(&folder.path().join("logs.redb"), &faults);
    let log = served.notify_log(&[]);
    let (pushes, pulls) = (pushes_to(&log), pulls_from(&log));
    faults.fill_after(0);
    let refused = pushes.push_structured_event(&event(1)).unwrap_err();
    assert_eq!(refused.system().unwrap().kind(), Kind::PersistStore);
    assert_eq!(
        log.get_operational_state().unwrap(),
        OperationalState::Disabled
    );
    faults.mend();
    pushes.push_structured_event(&event(2)).unwrap();
    assert_eq!(pulled(&pulls), [2]);
    assert_eq!(recorded(&log), [2]);
}

#[test]
fn events_that_are_too_large_are_refused_and_those_before_them_taken() {
    let served = Served::with(punctual_log::Limits {
        record_bytes: 2_000,
        ..limits()
    });
    let log = served.notify_log(&[]);
    let (pushes, pulls) = (pushes_sequences_to(&log), pulls_from(&log));
    let mut large = event(2);
    large.remainder_of_body = text(&"x".repeat(2_000));
    let refused = pushes.push_structured_events(&[event(1), large, event(3)]);
    let refused = refused.unwrap_err();
    assert_eq!(refused.system().unwrap().kind(), Kind::ImpLimit);
    assert_eq!(recorded(&log), [1]);
    assert_eq!(pulled(&pulls), [1]);
}

#[test]
fn destroying_the_log_ends_its_connections() {
    let served = Served::new();
    let log = served.notify_log(&[]);
    let pushes = pushes_to(&log);
    pushes.push_structured_event(&event(1)).unwrap();
    let channel: event_admin::EventChannel = narrowed(&log);
    channel.destroy().unwrap();
    assert!(!exists(&log));
    assert!(!exists(&pushes));
    assert!(served.notify.find_log(1).unwrap().is_none());
    until(|| served.metric("records") == 0 && served.metric("proxies") == 0);
}

#[test]
fn administrators_are_added_to_a_log_and_found() {
    let served = Served::new();
    let log = served.notify_log(&[]);
    let (added, id) = log
        .new_for_consumers(InterFilterGroupOperator::OrOp)
        .unwrap();
    let added = added.not_nil().unwrap();
    assert_eq!(log.get_all_consumeradmins().unwrap(), [0, id]);
    let found = log.get_consumeradmin(id).unwrap().not_nil().unwrap();
    assert!(found.as_object().is_equivalent(added.as_object()));
    assert!(log.get_consumeradmin(id + 1).is_err());
    let (supplies, other) = log
        .new_for_suppliers(InterFilterGroupOperator::AndOp)
        .unwrap();
    assert_eq!(log.get_all_supplieradmins().unwrap(), [0, other]);
    assert!(log.get_supplieradmin(other).unwrap().is_some());
    let pulls = pull_supplier(&added);
    pulls.connect_structured_pull_consumer(None).unwrap();
    let supplies = supplies.not_nil().unwrap();
    let plain = supplies.obtain_push_consumer().unwrap().not_nil().unwrap();
    plain.connect_push_supplier(None).unwrap();
    plain.push(&number(1)).unwrap();
    assert_eq!(recorded(&log), [1]);
    assert_eq!(pulled(&pulls), [1]);
}

#[test]
fn qualities_that_a_log_could_have_are_told() {
    let served = Served::new();
    let log = served.notify_log(&[]);
    let available = log.validate_qos(&[property(ORDER_POLICY, Any::new(&1_i16).unwrap())]);
    let available = available.unwrap();
    let range = available.iter().find(|one| one.name == EVENT_RELIABILITY);
    let range = &range.unwrap().range;
    assert_eq!(range.high_val.extract::<i16>().unwrap(), BEST_EFFORT);
    let range = available
        .iter()
        .find(|one| one.name == CONNECTION_RELIABILITY);
    let range = &range.unwrap().range;
    assert_eq!(range.high_val.extract::<i16>().unwrap(), PERSISTENT);
}

#[test]
fn clients_of_the_event_service_use_a_notify_log() {
    let served = Served::new();
    let log: event_admin::EventChannel = narrowed(&served.notify_log(&[]));
    let consumers = log.for_consumers().unwrap().not_nil().unwrap();
    let pulls = consumers.obtain_pull_supplier().unwrap().not_nil().unwrap();
    pulls.connect_pull_consumer(None).unwrap();
    let suppliers = log.for_suppliers().unwrap().not_nil().unwrap();
    let pushes = suppliers.obtain_push_consumer().unwrap().not_nil().unwrap();
    pushes.connect_push_supplier(None).unwrap();
    pushes.push(&number(7)).unwrap();
    assert_eq!(pulls.pull().unwrap().extract::<i32>().unwrap(), 7);
    assert_eq!(recorded(&narrowed(&log)), [7]);
}

#[test]
fn a_copy_has_a_channel_of_its_own_with_the_same_filter() {
    let served = Served::new();
    let log = served.notify_log(&[]);
    log.set_filter(Some(&filter(&log, "$number > 2"))).unwrap();
    pushes_to(&log).push_structured_event(&event(3)).unwrap();
    let (copy, id) = log.copy().unwrap();
    assert_eq!(id, 2);
    let copy: NotifyLog = narrowed(&copy.not_nil().unwrap());
    let (pulls, other) = (pulls_from(&copy), pulls_from(&log));
    let pushes = pushes_to(&copy);
    pushes.push_structured_event(&event(1)).unwrap();
    pushes.push_structured_event(&event(4)).unwrap();
    assert_eq!(recorded(&copy), [4]);
    assert_eq!(recorded(&log), [3]);
    assert_eq!(pulled(&pulls), [1, 4]);
    assert!(pulled(&other).is_empty());
    assert!(log.copy_with_id(1).is_err());
    assert_eq!(served.notify.list_logs_by_id().unwrap(), [1, 2]);
}

#[test]
fn notify_logs_are_none_of_the_other_factories_and_count_for_their_limit() {
    let served = Served::with(punctual_log::Limits {
        logs: 2,
        ..limits()
    });
    let _log = served.notify_log(&[]);
    assert!(served.factory.list_logs().unwrap().is_empty());
    assert!(served.events.list_logs().unwrap().is_empty());
    served.log();
    let refused = served.notify.create(HALT, 0, &[], &[], &[]).unwrap_err();
    assert_eq!(refused.system().unwrap().kind(), Kind::NoResources);
    assert_eq!(served.notify.list_logs_by_id().unwrap(), [1]);
}
