//! Input that is meant to cost much.

use punctual::{OperationError, SystemExceptionKind as Kind};
use punctual_log::Limits;
use punctual_log::ds_log_admin::{InvalidConstraint, LogQueryError};

use crate::support::{Served, all, limits, number, text, write};

#[test]
fn a_record_that_is_too_large_is_refused_with_all_of_its_write() {
    let served = Served::with(Limits {
        record_bytes: 1_000,
        ..limits()
    });
    let log = served.log();
    let large = text(&"x".repeat(1_000));
    let refused = log.write_records(&[number(1), large]).unwrap_err();
    let refused = refused.system().unwrap();
    assert_eq!(refused.kind(), Kind::ImpLimit);
    assert_eq!(log.get_n_records().unwrap(), 0);
    assert_eq!(served.metric("record_bytes"), 0);
}

#[test]
fn constraints_that_are_long_or_deep_are_refused() {
    let served = Served::new();
    let log = served.log();
    let long = format!("'{}' == 'x'", "x".repeat(1 << 20));
    let deep = format!("{}TRUE{}", "(".repeat(10_000), ")".repeat(10_000));
    for constraint in [long, deep] {
        let refused = log.query("EXTENDED_TCL", &constraint).unwrap_err();
        assert_eq!(refused, LogQueryError::InvalidConstraint(InvalidConstraint));
    }
}

#[test]
fn the_work_of_a_constraint_is_bounded_over_all_records() {
    let served = Served::with(Limits {
        steps: 500,
        ..limits()
    });
    let log = served.log();
    write(&log, 0..10);
    assert_eq!(log.r#match("TCL", "info >= 0").unwrap(), 10);
    write(&log, 10..1_000);
    let refused = log.r#match("TCL", "info >= 0").unwrap_err();
    assert_eq!(refused.system().unwrap().kind(), Kind::ImpLimit);
    let refused = log.delete_records("TCL", "info < 0").unwrap_err();
    assert_eq!(refused.system().unwrap().kind(), Kind::ImpLimit);
    assert_eq!(log.get_n_records().unwrap(), 1_000);
    // Records by time take no steps.
    assert_eq!(log.retrieve(0, 1_000).unwrap().0.len(), 1_000);
}

#[test]
fn replacing_never_reaches_the_records_of_other_logs() {
    let served = Served::with(Limits {
        bytes: 400,
        ..limits()
    });
    let (other, log) = (served.log(), served.log_of(0, 0));
    write(&other, 0..4);
    write(&log, 0..40);
    assert_eq!(all(&other), [0, 1, 2, 3]);
    assert!(served.metric("record_bytes") <= 400);
    assert_eq!(all(&log).last(), Some(&39));
}
