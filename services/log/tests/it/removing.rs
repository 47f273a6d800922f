//! Records that are deleted, and those whose life has ended.

use crate::support::{MONDAY, SECOND, Served, all, found, until, write};

#[test]
fn records_are_deleted_by_constraint_and_by_id_and_counted() {
    let served = Served::new();
    let log = served.log();
    write(&log, 0..10);
    assert_eq!(log.delete_records("EXTENDED_TCL", "$.info > 6").unwrap(), 3);
    assert_eq!(log.delete_records("TCL", "id == 1").unwrap(), 1);
    // Those that are not there, or twice in the list, count once at most.
    assert_eq!(log.delete_records_by_id(&[2, 2, 1, 99, 3]).unwrap(), 2);
    assert_eq!(all(&log), [3, 4, 5, 6]);
    assert_eq!(log.get_n_records().unwrap(), 4);
    assert_eq!(served.metric("deleted_total"), 6);
    assert_eq!(log.delete_records_by_id(&[]).unwrap(), 0);
}

#[test]
fn many_records_are_deleted_and_counted() {
    let served = Served::new();
    let log = served.log();
    write(&log, 0..2_500);
    assert_eq!(log.r#match("TCL", "").unwrap(), 2_500);
    assert_eq!(
        log.delete_records("EXTENDED_TCL", "$.info >= 5").unwrap(),
        2_495
    );
    assert_eq!(all(&log), [0, 1, 2, 3, 4]);
}

#[test]
fn records_are_gone_when_their_life_has_ended() {
    let served = Served::new();
    let log = served.log();
    write(&log, [1]);
    served.time.pass(10);
    write(&log, [2]);
    log.set_max_record_life(15).unwrap();
    assert_eq!(all(&log), [1, 2]);
    served.time.pass(5);
    assert_eq!(all(&log), [2]);
    assert_eq!(log.get_n_records().unwrap(), 1);
    assert_eq!(found(&log, "$.id == 1"), [0_i32; 0]);
    served.time.pass(10);
    // Without a call, too.
    until(|| served.metric("records") == 0);
    assert_eq!(served.metric("expired_total"), 2);
    assert_eq!(log.get_current_size().unwrap(), 0);
}

#[test]
fn a_record_of_the_time_before_the_clock_was_set_back_keeps_no_other_alive() {
    let served = Served::new();
    let log = served.log();
    log.set_max_record_life(15).unwrap();
    served.time.set(MONDAY + 1_000 * SECOND);
    write(&log, [1]);
    served.time.set(MONDAY);
    write(&log, [2, 3]);
    assert_eq!(all(&log), [1, 2, 3]);
    served.time.pass(15);
    assert_eq!(all(&log), [1]);
    served.time.pass(1_000);
    assert_eq!(all(&log), [0_i32; 0]);
    until(|| served.metric("record_bytes") == 0);
}
