//! Writing: what a log takes, and what it does when it is full, off duty, locked or disabled.

use punctual_host::store::Faults;
use punctual_log::Limits;
use punctual_log::ds_log_admin::{
    AdministrativeState, HALT, LogDisabled, LogFull, LogLocked, LogOffDuty,
    LogWriteRecordlistError, LogWriteRecordsError, OperationalState, Time24, Time24Interval,
    TimeInterval, WRAP, WeekMaskItem,
};

use crate::support::{MONDAY, SECOND, Served, all, attribute, limits, number, record, text, write};

/// Returns the octets of a record with a number.
fn size_of_record(served: &Served) -> u64 {
    let log = served.log();
    write(&log, [1]);
    log.get_current_size().unwrap()
}

fn full(n_records_written: i16) -> LogWriteRecordsError {
    LogWriteRecordsError::LogFull(LogFull { n_records_written })
}

#[test]
fn records_get_ids_and_times_from_the_log() {
    let served = Served::new();
    let log = served.log();
    write(&log, [10]);
    served.time.pass(5);
    let attributes = vec![attribute("site", text("Ulm"))];
    let list = [
        record(number(11), attributes.clone()),
        record(number(12), vec![]),
    ];
    log.write_recordlist(&list).unwrap();
    let (records, _) = log.query("EXTENDED_TCL", "").unwrap();
    let seen = records.iter().map(|record| (record.id, record.time));
    let later = MONDAY + 5 * SECOND;
    assert_eq!(
        seen.collect::<Vec<_>>(),
        [(1, MONDAY), (2, later), (3, later)]
    );
    assert_eq!(records[1].attr_list, attributes);
    assert_eq!(records[1].info.extract::<i32>().unwrap(), 11);
    assert_eq!(log.get_n_records().unwrap(), 3);
    assert_eq!(served.metric("written_total"), 3);
    log.write_records(&[]).unwrap();
    assert_eq!(log.get_n_records().unwrap(), 3);
}

#[test]
fn a_log_that_halts_takes_what_fits_and_nothing_more_until_something_is_deleted() {
    let served = Served::new();
    let size = size_of_record(&served);
    let log = served.log_of(HALT, 3 * size + size / 2);
    let records: Vec<_> = (0..5).map(number).collect();
    assert_eq!(log.write_records(&records).unwrap_err(), full(3));
    assert_eq!(all(&log), [0, 1, 2]);
    assert!(log.get_availability_status().unwrap().log_full);
    let refused = log.write_recordlist(&[record(number(9), vec![])]);
    let none = LogFull {
        n_records_written: 0,
    };
    assert_eq!(refused.unwrap_err(), LogWriteRecordlistError::LogFull(none));
    assert_eq!(log.delete_records_by_id(&[1]).unwrap(), 1);
    assert!(!log.get_availability_status().unwrap().log_full);
    write(&log, [9]);
    assert_eq!(all(&log), [1, 2, 9]);
}

#[test]
fn a_record_larger_than_a_log_that_halts_is_refused_and_does_not_fill_it() {
    let served = Served::new();
    let size = size_of_record(&served);
    let log = served.log_of(HALT, size);
    let large = text(&"x".repeat(2 * usize::try_from(size).unwrap()));
    assert_eq!(log.write_records(&[large]).unwrap_err(), full(0));
    assert!(!log.get_availability_status().unwrap().log_full);
    write(&log, [1]);
    assert_eq!(all(&log), [1]);
}

#[test]
fn a_log_that_wraps_replaces_its_oldest_records() {
    let served = Served::new();
    let size = size_of_record(&served);
    let log = served.log_of(WRAP, 3 * size);
    for one in 0..7 {
        write(&log, [one]);
    }
    assert_eq!(all(&log), [4, 5, 6]);
    assert_eq!(log.get_current_size().unwrap(), 3 * size);
    assert!(!log.get_availability_status().unwrap().log_full);
    // Even those of the same write.
    write(&log, 10..20);
    assert_eq!(all(&log), [17, 18, 19]);
    // One that never fits replaces none.
    let large = text(&"x".repeat(4 * usize::try_from(size).unwrap()));
    assert_eq!(
        log.write_records(&[number(20), large]).unwrap_err(),
        full(1)
    );
    assert_eq!(all(&log), [18, 19, 20]);
}

#[test]
fn a_larger_maximum_or_another_action_makes_a_full_log_go_on() {
    let served = Served::new();
    let size = size_of_record(&served);
    let log = served.log_of(HALT, size);
    write(&log, [0]);
    assert_eq!(log.write_records(&[number(1)]).unwrap_err(), full(0));
    log.set_max_size(2 * size).unwrap();
    write(&log, [2]);
    assert_eq!(log.write_records(&[number(3)]).unwrap_err(), full(0));
    log.set_log_full_action(WRAP).unwrap();
    write(&log, [4]);
    assert_eq!(all(&log), [2, 4]);
}

#[test]
fn the_records_of_all_logs_are_limited_together() {
    let served = Served::with(Limits {
        records: 4,
        ..limits()
    });
    let (halting, wrapping) = (served.log_of(HALT, 0), served.log_of(WRAP, 0));
    write(&wrapping, [1, 2]);
    write(&halting, [3, 4]);
    assert_eq!(halting.write_records(&[number(5)]).unwrap_err(), full(0));
    write(&wrapping, [6]);
    assert_eq!((all(&halting), all(&wrapping)), (vec![3, 4], vec![2, 6]));
    assert_eq!(served.metric("records"), 4);
}

#[test]
fn a_log_without_room_in_the_service_goes_on_when_records_of_another_log_are_deleted() {
    let served = Served::with(Limits {
        records: 2,
        ..limits()
    });
    let (other, log) = (served.log(), served.log());
    write(&other, [1, 2]);
    assert_eq!(log.write_records(&[number(3)]).unwrap_err(), full(0));
    assert!(log.get_availability_status().unwrap().log_full);
    assert_eq!(other.delete_records_by_id(&[1]).unwrap(), 1);
    write(&log, [4]);
    assert!(!log.get_availability_status().unwrap().log_full);
    assert_eq!((all(&other), all(&log)), (vec![2], vec![4]));
}

#[test]
fn a_locked_log_takes_nothing_and_is_read() {
    let served = Served::new();
    let log = served.log();
    write(&log, [1]);
    log.set_administrative_state(AdministrativeState::Locked)
        .unwrap();
    let refused = log.write_records(&[number(2)]).unwrap_err();
    assert_eq!(refused, LogWriteRecordsError::LogLocked(LogLocked));
    assert_eq!(all(&log), [1]);
    log.set_administrative_state(AdministrativeState::Unlocked)
        .unwrap();
    write(&log, [3]);
    assert_eq!(all(&log), [1, 3]);
}

#[test]
fn a_log_is_off_duty_before_its_start_behind_its_stop_and_outside_of_its_week_mask() {
    let served = Served::new();
    let log = served.log();
    let refused = || {
        let off_duty = log.get_availability_status().unwrap().off_duty;
        match log.write_records(&[number(1)]) {
            Ok(()) => {
                assert!(!off_duty);
                false
            }
            Err(error) => {
                assert_eq!(error, LogWriteRecordsError::LogOffDuty(LogOffDuty));
                assert!(off_duty);
                true
            }
        }
    };
    log.set_interval(&TimeInterval {
        start: MONDAY + SECOND,
        stop: MONDAY + 3 * SECOND,
    })
    .unwrap();
    assert!(refused());
    served.time.pass(1);
    assert!(!refused());
    served.time.pass(2);
    assert!(refused());
    log.set_interval(&TimeInterval::default()).unwrap();
    assert!(!refused());
    let morning = Time24Interval {
        start: Time24 { hour: 8, minute: 0 },
        stop: Time24 {
            hour: 12,
            minute: 0,
        },
    };
    log.set_week_mask(&[WeekMaskItem {
        days: 2,
        intervals: vec![morning],
    }])
    .unwrap();
    assert!(refused());
    served.time.set(MONDAY + 9 * 3_600 * SECOND);
    assert!(!refused());
    served.time.pass(24 * 3_600);
    assert!(refused());
}

#[test]
fn a_log_whose_disk_is_full_is_disabled_until_a_write_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let faults = Faults::default();
    let served = Served::faulty(&folder.path().join("logs.redb"), &faults);
    let log = served.log_of(WRAP, 200);
    write(&log, 0..3);
    let before = (all(&log), log.get_current_size().unwrap());
    faults.fill_after(0);
    let refused = log.write_records(&[number(1)]).unwrap_err();
    assert_eq!(refused, LogWriteRecordsError::LogDisabled(LogDisabled));
    assert_eq!(
        log.get_operational_state().unwrap(),
        OperationalState::Disabled
    );
    faults.mend();
    // Nothing has made room for what was not written.
    assert_eq!((all(&log), log.get_current_size().unwrap()), before);
    write(&log, [4]);
    assert_eq!(
        log.get_operational_state().unwrap(),
        OperationalState::Enabled
    );
}

#[test]
fn writers_of_one_log_share_commits_and_each_record_is_there_once() {
    let served = Served::new();
    let log = served.log();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let log = &log;
            scope.spawn(move || {
                for one in 0..20 {
                    write(log, [writer * 100 + one]);
                }
            });
        }
    });
    let mut written = all(&log);
    // Each writer's in order.
    for writer in 0..8 {
        let own: Vec<_> = written.iter().filter(|one| **one / 100 == writer).collect();
        assert!(own.is_sorted(), "{own:?}");
    }
    written.sort_unstable();
    written.dedup();
    assert_eq!(written.len(), 160);
    let (records, _) = log.query("EXTENDED_TCL", "").unwrap();
    assert!(records.is_sorted_by_key(|record| record.id));
}

#[test]
fn writers_of_a_small_log_that_wraps_wait_for_each_others_records_to_make_room() {
    let served = Served::new();
    let size = size_of_record(&served);
    let log = served.log_of(WRAP, 3 * size);
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let log = &log;
            scope.spawn(move || {
                for one in 0..20 {
                    write(log, [writer * 100 + one, writer * 100 + one]);
                }
            });
        }
    });
    assert_eq!(log.get_n_records().unwrap(), 3);
    assert_eq!(log.get_current_size().unwrap(), 3 * size);
    assert_eq!(served.metric("refused_total"), 0);
}
