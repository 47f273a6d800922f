//! Logs and records after a restart, and on disks that fail.

use std::net::TcpListener;

use punctual::{Interface, NotNil, Orb};
use punctual_host::store::Faults;
use punctual_log::ds_log_admin::{AdministrativeState, BasicLog, HALT, TimeInterval, WRAP};
use punctual_log::{Limits, LogService};

use crate::support::{
    Served, all, attribute, exists, found, limits, number, record, text, until, write,
};

/// Returns a port that stays free, as no other program and no other test uses this address of the loopback interface.
pub(crate) fn place(host: &str) -> (&str, u16) {
    let free = TcpListener::bind((host, 0)).unwrap();
    (host, free.local_addr().unwrap().port())
}

/// Returns an ORB of a client, which outlives the server.
fn client() -> Orb {
    Orb::builder().build().unwrap()
}

fn seen_by(client: &Orb, log: &BasicLog) -> BasicLog {
    let object = log.as_object();
    let text = object.orb().object_to_string(object).unwrap();
    BasicLog::from_object(client.string_to_object(&text).unwrap())
}

#[test]
fn logs_records_and_references_are_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.redb");
    let place = place("127.78.1.1");
    let served = Served::at(&path, place);
    let client = client();
    let log = seen_by(&client, &served.log_of(WRAP, 9_000));
    log.set_max_record_life(700).unwrap();
    log.set_capacity_alarm_thresholds(&[80]).unwrap();
    log.set_log_qos(&[2]).unwrap();
    let interval = TimeInterval { start: 3, stop: 0 };
    log.set_interval(&interval).unwrap();
    log.write_recordlist(&[record(number(1), vec![attribute("site", text("Ulm"))])])
        .unwrap();
    write(&log, [2, 3]);
    log.set_record_attribute(3, &[attribute("site", text("Bern"))])
        .unwrap();
    log.delete_records_by_id(&[2]).unwrap();
    log.set_administrative_state(AdministrativeState::Locked)
        .unwrap();
    let size = log.get_current_size().unwrap();
    let ended = seen_by(&client, &served.log());
    write(&ended, [9]);
    ended.destroy().unwrap();
    drop(served);

    let served = Served::at(&path, place);
    // The same reference, of the first run.
    assert_eq!(all(&log), [1, 3]);
    assert!(!exists(&ended));
    assert_eq!(found(&log, "$site == 'Bern'"), [3]);
    assert_eq!(log.get_current_size().unwrap(), size);
    assert_eq!(log.get_max_size().unwrap(), 9_000);
    assert_eq!(log.get_max_record_life().unwrap(), 700);
    assert_eq!(log.get_capacity_alarm_thresholds().unwrap(), [80]);
    assert_eq!(log.get_log_qos().unwrap(), [2]);
    assert_eq!(log.get_interval().unwrap(), interval);
    let locked = AdministrativeState::Locked;
    assert_eq!(log.get_administrative_state().unwrap(), locked);
    assert_eq!(served.factory.list_logs_by_id().unwrap(), [1]);
    assert_eq!(served.service.size(), (1, 2));
    until(|| served.metric("records") == 2);
}

#[test]
fn record_ids_are_not_given_again_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.redb");
    let served = Served::at(&path, ("127.0.0.1", 0));
    let log = served.log();
    write(&log, [1, 2, 3]);
    log.delete_records_by_id(&[2, 3]).unwrap();
    drop(served);
    let served = Served::at(&path, ("127.0.0.1", 0));
    let log = served.find(1);
    write(&log, [4]);
    let (records, _) = log.query("TCL", "").unwrap();
    let ids: Vec<_> = records.iter().map(|record| record.id).collect();
    assert_eq!(ids, [1, 4]);
}

#[test]
fn lives_of_records_end_after_a_restart_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.redb");
    let served = Served::at(&path, ("127.0.0.1", 0));
    let log = served.log();
    log.set_max_record_life(15).unwrap();
    write(&log, [1]);
    served.time.pass(10);
    write(&log, [2]);
    drop(served);
    let served = Served::at(&path, ("127.0.0.1", 0));
    let log = served.find(1);
    assert_eq!(all(&log), [1, 2]);
    served.time.pass(15);
    assert_eq!(all(&log), [2]);
}

#[test]
fn logs_of_both_factories_are_there_after_a_restart_with_a_lower_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.redb");
    let served = Served::at(&path, ("127.0.0.1", 0));
    for _ in 0..3 {
        served.log();
        served.event_log();
    }
    drop(served);
    let none = Limits {
        logs: 0,
        ..limits()
    };
    let served = Served::at_with(&path, |service| service.set_limits(none));
    assert_eq!(served.factory.list_logs_by_id().unwrap(), [1, 2, 3]);
    assert_eq!(served.events.list_logs_by_id().unwrap(), [1, 2, 3]);
    assert!(served.factory.create(HALT, 0).is_err());
}

#[test]
fn a_disk_that_is_full_at_any_write_leaves_a_log_as_it_was_or_with_all_of_the_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.redb");
    let faults = Faults::default();
    let served = Served::faulty(&path, &faults);
    let log = served.log_of(HALT, 0);
    write(&log, [0]);
    let expected = std::cell::RefCell::new(vec![0]);
    let refused = faults.at_each_write(
        |limit| {
            let next = i32::try_from(limit).unwrap() * 10 + 10;
            let written = log.write_records(&[number(next), number(next + 1)]);
            if written.is_ok() {
                expected.borrow_mut().extend([next, next + 1]);
            }
            written.is_err()
        },
        |_, _| assert_eq!(all(&log), *expected.borrow()),
    );
    assert!(refused > 0);
    faults.fail_late();
    assert!(log.write_records(&[number(1)]).is_err());
    assert!(log.delete_records_by_id(&[1]).is_err());
    assert!(log.set_max_record_life(1).is_err());
    assert!(log.set_record_attribute(1, &[]).is_err());
    assert!(served.factory.create(HALT, 0).is_err());
    faults.mend();
    assert_eq!(all(&log), *expected.borrow());
    assert_eq!(log.get_max_record_life().unwrap(), 0);
    write(&log, [7]);
    expected.borrow_mut().push(7);
    drop(served);

    let served = Served::at(&path, ("127.0.0.1", 0));
    assert_eq!(all(&served.find(1)), *expected.borrow());
    assert_eq!(served.factory.list_logs_by_id().unwrap(), [1]);
}

#[test]
fn a_store_belongs_to_one_server_and_to_this_service() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.redb");
    let served = Served::at(&path, ("127.0.0.1", 0));
    let refused = LogService::open(&path).unwrap_err().to_string();
    assert!(refused.contains("another log server"), "{refused}");
    served.factory.create(WRAP, 0).unwrap().0.not_nil().unwrap();
    drop(served);
    LogService::open(&path).unwrap().compact().unwrap();
    std::fs::write(&path, b"something else").unwrap();
    assert!(LogService::open(&path).is_err());
}
