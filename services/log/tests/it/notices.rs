//! Events that the logs of an event log factory send themselves (DsLogNotification).

use punctual::{Any, NotNil, Typed};
use punctual_events::cos_event_channel_admin::ProxyPullSupplier;
use punctual_host::store::Faults;
use punctual_log::ds_log_admin::{
    AdministrativeState, ForwardingState, HALT, OperationalState, TimeInterval, WRAP,
};
use punctual_log::ds_log_notification::{
    self as idl, AttributeValueChange, ObjectCreation, ObjectDeletion, ProcessingErrorAlarm,
    StateChange, ThresholdAlarm,
};

use crate::support::{MONDAY, SECOND, Served, attribute, text, until, write};

/// Connects a consumer of the factory's events, which pulls.
fn watches(served: &Served) -> ProxyPullSupplier {
    let proxy = served.events.obtain_pull_supplier().unwrap();
    let proxy = proxy.not_nil().unwrap();
    proxy.connect_pull_consumer(None).unwrap();
    proxy
}

/// Returns the next event, which is there already.
fn next(watch: &ProxyPullSupplier) -> Any {
    let (event, is_there) = watch.try_pull().unwrap();
    assert!(is_there);
    event
}

fn nothing(watch: &ProxyPullSupplier) {
    let (event, is_there) = watch.try_pull().unwrap();
    assert!(!is_there, "{event:?}");
}

#[test]
fn repository_ids_and_numbers_are_those_of_the_standard() {
    for (type_code, name) in [
        (ThresholdAlarm::type_code(), "ThresholdAlarm"),
        (ObjectCreation::type_code(), "ObjectCreation"),
        (ObjectDeletion::type_code(), "ObjectDeletion"),
        (AttributeValueChange::type_code(), "AttributeValueChange"),
        (StateChange::type_code(), "StateChange"),
        (ProcessingErrorAlarm::type_code(), "ProcessingErrorAlarm"),
    ] {
        let id = format!("IDL:omg.org/DsLogNotification/{name}:1.0");
        assert_eq!(type_code.id().unwrap(), id);
    }
    assert_eq!((idl::CRITICAL, idl::MINOR, idl::CLEARED), (0, 1, 2));
    let attributes = [
        idl::CAPACITY_ALARM_THRESHOLD,
        idl::LOG_FULL_ACTION,
        idl::MAX_LOG_SIZE,
        idl::START_TIME,
        idl::STOP_TIME,
        idl::WEEK_MASK,
        idl::FILTER,
        idl::MAX_RECORD_LIFE,
        idl::QUALITY_OF_SERVICE,
    ];
    assert_eq!(attributes, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    let states = [
        idl::ADMINISTRATIVE_STATE,
        idl::OPERATIONAL_STATE,
        idl::FORWARDING_STATE,
    ];
    assert_eq!(states, [0, 1, 2]);
}

#[test]
fn logs_tell_that_they_are_created_and_destroyed() {
    let served = Served::new();
    let watch = watches(&served);
    let log = served.event_log();
    served.time.pass(3);
    log.destroy().unwrap();
    let created: ObjectCreation = next(&watch).extract().unwrap();
    assert_eq!((created.id, created.time), (1, MONDAY));
    let deleted: ObjectDeletion = next(&watch).extract().unwrap();
    assert_eq!((deleted.id, deleted.time), (1, MONDAY + 3 * SECOND));
    // Those of the other factory tell nothing.
    served.log();
    nothing(&watch);
}

#[test]
fn consumers_of_the_factory_are_pushed_to_as_well_and_nobody_supplies() {
    let served = Served::new();
    let proxy = served.events.obtain_push_supplier().unwrap();
    assert!(proxy.is_some());
    let is_a = |id| {
        punctual::Interface::as_object(&served.events)
            .is_a(id)
            .unwrap()
    };
    assert!(!is_a("IDL:omg.org/CosEventChannelAdmin/EventChannel:1.0"));
}

#[test]
fn each_attribute_tells_its_old_and_its_new_value() {
    let served = Served::new();
    let log = served.event_log();
    let watch = watches(&served);
    log.set_max_size(7_000).unwrap();
    log.set_max_record_life(60).unwrap();
    log.set_log_full_action(WRAP).unwrap();
    log.set_capacity_alarm_thresholds(&[50]).unwrap();
    log.set_log_qos(&[1]).unwrap();
    log.set_interval(&TimeInterval { start: 3, stop: 9 })
        .unwrap();
    // What stays as it was tells nothing.
    log.set_max_size(7_000).unwrap();
    let changes: Vec<AttributeValueChange> =
        (0..7).map(|_| next(&watch).extract().unwrap()).collect();
    nothing(&watch);
    let kinds: Vec<_> = changes.iter().map(|change| change.r#type).collect();
    assert_eq!(kinds, [2, 7, 1, 0, 8, 3, 4]);
    let size = &changes[0];
    assert_eq!((size.id, size.time), (1, MONDAY));
    assert_eq!(size.logref.as_ref().unwrap().id().unwrap(), 1);
    assert_eq!(size.old_value.extract::<u64>().unwrap(), 0);
    assert_eq!(size.new_value.extract::<u64>().unwrap(), 7_000);
    assert_eq!(changes[3].new_value.extract::<Vec<u16>>().unwrap(), [50]);
    assert_eq!(changes[6].new_value.extract::<u64>().unwrap(), 9);
}

#[test]
fn states_tell_their_new_values() {
    let folder = tempfile::tempdir().unwrap();
    let faults = Faults::default();
    let served = Served::faulty(&folder.path().join("logs.redb"), &faults);
    let log = served.event_log();
    let watch = watches(&served);
    let state = || -> (u16, Any) {
        let change: StateChange = next(&watch).extract().unwrap();
        (change.r#type, change.new_value)
    };
    log.set_administrative_state(AdministrativeState::Locked)
        .unwrap();
    let (kind, value) = state();
    let locked = AdministrativeState::Locked;
    assert_eq!((kind, value.extract().unwrap()), (0, locked));
    log.set_administrative_state(AdministrativeState::Unlocked)
        .unwrap();
    assert_eq!(state().0, 0);
    log.set_forwarding_state(ForwardingState::Off).unwrap();
    let (kind, value) = state();
    assert_eq!((kind, value.extract().unwrap()), (2, ForwardingState::Off));
    faults.fill_after(0);
    for _ in 0..2 {
        assert!(log.write_records(&[Any::new(&1_i32).unwrap()]).is_err());
    }
    let (kind, value) = state();
    assert_eq!(
        (kind, value.extract().unwrap()),
        (1, OperationalState::Disabled)
    );
    let error: ProcessingErrorAlarm = next(&watch).extract().unwrap();
    assert!(!error.error_string.is_empty());
    nothing(&watch);
    faults.mend();
    write(&log, [1]);
    let (kind, value) = state();
    assert_eq!(
        (kind, value.extract().unwrap()),
        (1, OperationalState::Enabled)
    );
}

#[test]
fn thresholds_that_are_crossed_are_alarms_and_cleared_when_records_are_deleted() {
    let served = Served::new();
    let log = served.event_log();
    write(&log, [0]);
    let size = log.get_current_size().unwrap();
    let (log, _) = served.events.create(HALT, 4 * size, &[50, 100]).unwrap();
    let log = log.not_nil().unwrap();
    let watch = watches(&served);
    let alarm = || -> (u16, u16, u16) {
        let alarm: ThresholdAlarm = next(&watch).extract().unwrap();
        assert_eq!(alarm.id, 2);
        assert_eq!(alarm.logref.as_ref().unwrap().id().unwrap(), 2);
        (
            alarm.crossed_value,
            alarm.observed_value,
            alarm.perceived_severity,
        )
    };
    write(&log, [1]);
    nothing(&watch);
    write(&log, [2, 3]);
    assert_eq!(alarm(), (50, 75, idl::MINOR));
    write(&log, [4]);
    assert_eq!(alarm(), (100, 100, idl::CRITICAL));
    log.delete_records_by_id(&[1]).unwrap();
    assert_eq!(alarm(), (100, 75, idl::CLEARED));
    log.delete_records_by_id(&[2, 3]).unwrap();
    assert_eq!(alarm(), (50, 25, idl::CLEARED));
    nothing(&watch);
}

#[test]
fn thresholds_are_crossed_by_attributes_and_by_records_whose_lives_end() {
    let served = Served::new();
    let log = served.event_log();
    write(&log, [0]);
    let size = log.get_current_size().unwrap();
    let (log, _) = served.events.create(HALT, 10 * size, &[50]).unwrap();
    let log = log.not_nil().unwrap();
    log.set_max_record_life(5).unwrap();
    let watch = watches(&served);
    write(&log, [1, 2, 3, 4]);
    nothing(&watch);
    let long = text(&"x".repeat(usize::try_from(size).unwrap()));
    log.set_record_attribute(1, &[attribute("long", long)])
        .unwrap();
    let alarm: ThresholdAlarm = next(&watch).extract().unwrap();
    assert_eq!((alarm.crossed_value, alarm.perceived_severity), (50, 1));
    // Without a write.
    served.time.pass(5);
    let told = std::cell::RefCell::new(None);
    until(|| {
        let (event, is_there) = watch.try_pull().unwrap();
        *told.borrow_mut() = is_there.then_some(event);
        is_there
    });
    let alarm: ThresholdAlarm = told.into_inner().unwrap().extract().unwrap();
    assert_eq!((alarm.crossed_value, alarm.perceived_severity), (50, 2));
}

#[test]
fn a_log_that_wraps_crosses_its_thresholds_each_time_round() {
    let served = Served::new();
    let log = served.event_log();
    write(&log, [0]);
    let size = log.get_current_size().unwrap();
    let (log, _) = served.events.create(WRAP, 4 * size, &[50]).unwrap();
    let log = log.not_nil().unwrap();
    let watch = watches(&served);
    for _ in 0..3 {
        write(&log, [1]);
        nothing(&watch);
        write(&log, [2]);
        let alarm: ThresholdAlarm = next(&watch).extract().unwrap();
        assert_eq!((alarm.crossed_value, alarm.perceived_severity), (50, 1));
        write(&log, [3, 4]);
        nothing(&watch);
    }
}
