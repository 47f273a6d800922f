//! Attributes of logs: those that are set, and those that are refused.

use punctual_log::ds_log_admin::{
    AdministrativeState, ForwardingState, HALT, InvalidLogFullAction, InvalidMask,
    InvalidThreshold, InvalidTime, InvalidTimeInterval, LogSetCapacityAlarmThresholdsError,
    LogSetIntervalError, LogSetLogFullActionError, LogSetLogQosError, LogSetMaxSizeError,
    LogSetWeekMaskError, OperationalState, QO_S_FLUSH, QO_S_NONE, QO_S_RELIABILITY, Time24,
    Time24Interval, TimeInterval, UnsupportedQoS, WRAP, WeekMaskItem,
};

use crate::support::{Served, write};

#[test]
fn a_new_log_is_unlocked_enabled_always_on_duty_and_keeps_records_for_ever() {
    let served = Served::new();
    let log = served.log_of(HALT, 0);
    let unlocked = AdministrativeState::Unlocked;
    assert_eq!(log.get_administrative_state().unwrap(), unlocked);
    assert_eq!(
        log.get_operational_state().unwrap(),
        OperationalState::Enabled
    );
    assert_eq!(log.get_forwarding_state().unwrap(), ForwardingState::On);
    assert_eq!(log.get_max_record_life().unwrap(), 0);
    assert_eq!(log.get_max_size().unwrap(), 0);
    assert_eq!(log.get_interval().unwrap(), TimeInterval::default());
    assert!(log.get_week_mask().unwrap().is_empty());
    assert!(log.get_capacity_alarm_thresholds().unwrap().is_empty());
    assert!(log.get_log_qos().unwrap().is_empty());
    let status = log.get_availability_status().unwrap();
    assert!(!status.off_duty && !status.log_full);
}

#[test]
fn qualities_of_service_are_all_met_and_others_denied() {
    let served = Served::new();
    let log = served.log();
    log.set_log_qos(&[QO_S_RELIABILITY, QO_S_NONE, QO_S_FLUSH, QO_S_FLUSH])
        .unwrap();
    assert_eq!(log.get_log_qos().unwrap(), [0, 1, 2]);
    let denied = log.set_log_qos(&[1, 3, 2, 900]).unwrap_err();
    let expected = UnsupportedQoS {
        denied: vec![3, 900],
    };
    assert_eq!(denied, LogSetLogQosError::UnsupportedQoS(expected));
    assert_eq!(log.get_log_qos().unwrap(), [0, 1, 2]);
    log.flush().unwrap();
}

#[test]
fn a_maximum_size_below_the_present_one_is_refused() {
    let served = Served::new();
    let log = served.log();
    write(&log, 0..10);
    let size = log.get_current_size().unwrap();
    let refused = log.set_max_size(size - 1).unwrap_err();
    let LogSetMaxSizeError::InvalidParam(refused) = refused else {
        panic!("{refused:?}");
    };
    assert!(
        refused.details.contains(&size.to_string()),
        "{}",
        refused.details
    );
    log.set_max_size(size).unwrap();
    assert_eq!(log.get_max_size().unwrap(), size);
    log.set_max_size(0).unwrap();
}

#[test]
fn the_full_action_is_one_of_two() {
    let served = Served::new();
    let log = served.log();
    log.set_log_full_action(WRAP).unwrap();
    assert_eq!(log.get_log_full_action().unwrap(), WRAP);
    let refused = log.set_log_full_action(2).unwrap_err();
    let expected = LogSetLogFullActionError::InvalidLogFullAction(InvalidLogFullAction);
    assert_eq!(refused, expected);
}

#[test]
fn states_are_set_by_clients_but_the_operational_one() {
    let served = Served::new();
    let log = served.log();
    log.set_administrative_state(AdministrativeState::Locked)
        .unwrap();
    let locked = AdministrativeState::Locked;
    assert_eq!(log.get_administrative_state().unwrap(), locked);
    log.set_forwarding_state(ForwardingState::Off).unwrap();
    assert_eq!(log.get_forwarding_state().unwrap(), ForwardingState::Off);
    log.set_max_record_life(3_600).unwrap();
    assert_eq!(log.get_max_record_life().unwrap(), 3_600);
}

#[test]
fn an_interval_ends_behind_its_start() {
    let served = Served::new();
    let log = served.log();
    let interval = TimeInterval { start: 5, stop: 6 };
    log.set_interval(&interval).unwrap();
    assert_eq!(log.get_interval().unwrap(), interval);
    let refused = log.set_interval(&TimeInterval { start: 6, stop: 6 });
    let expected = LogSetIntervalError::InvalidTimeInterval(InvalidTimeInterval);
    assert_eq!(refused.unwrap_err(), expected);
}

#[test]
fn thresholds_are_percentages_and_sorted() {
    let served = Served::new();
    let log = served.log();
    log.set_capacity_alarm_thresholds(&[100, 80, 0, 80])
        .unwrap();
    assert_eq!(log.get_capacity_alarm_thresholds().unwrap(), [0, 80, 100]);
    let refused = log.set_capacity_alarm_thresholds(&[50, 101]).unwrap_err();
    let expected = LogSetCapacityAlarmThresholdsError::InvalidThreshold(InvalidThreshold);
    assert_eq!(refused, expected);
}

#[test]
fn a_week_mask_names_days_and_times_that_exist() {
    let served = Served::new();
    let log = served.log();
    let of = |days, hour, stop_hour| WeekMaskItem {
        days,
        intervals: vec![Time24Interval {
            start: Time24 { hour, minute: 0 },
            stop: Time24 {
                hour: stop_hour,
                minute: 30,
            },
        }],
    };
    log.set_week_mask(&[of(0b10, 8, 17)]).unwrap();
    assert_eq!(log.get_week_mask().unwrap(), [of(0b10, 8, 17)]);
    for (item, expected) in [
        (of(0, 8, 17), LogSetWeekMaskError::InvalidMask(InvalidMask)),
        (
            of(256, 8, 17),
            LogSetWeekMaskError::InvalidMask(InvalidMask),
        ),
        (of(1, 8, 24), LogSetWeekMaskError::InvalidTime(InvalidTime)),
        (
            of(1, 8, 7),
            LogSetWeekMaskError::InvalidTimeInterval(InvalidTimeInterval),
        ),
    ] {
        assert_eq!(log.set_week_mask(&[item]).unwrap_err(), expected);
    }
    assert_eq!(log.get_week_mask().unwrap(), [of(0b10, 8, 17)]);
}
