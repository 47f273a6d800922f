//! Input that is meant to cost much.

use punctual::{Any, Char, OperationError, SystemExceptionKind as Kind};
use punctual_log::Limits;
use punctual_log::ds_log_admin::{InvalidConstraint, LogQueryError, OperationalState};

use crate::notify::{event, pushes_to};
use crate::support::{Served, all, attribute, limits, number, record, text, write};

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
fn a_record_without_a_form_that_can_be_stored_is_refused_and_changes_nothing() {
    let served = Served::collocated();
    let log = served.log();
    // No code set has both: UTF-8 has the character in two bytes, and ISO 8859-1 has no such text.
    let character = Any::new(&Char(0xe9)).unwrap();
    let mixed = record(
        number(1),
        vec![attribute("c", character), attribute("t", text("\u{20ac}"))],
    );
    let refused = log
        .write_recordlist(std::slice::from_ref(&mixed))
        .unwrap_err();
    assert_eq!(refused.system().unwrap().kind(), Kind::DataConversion);
    assert!(
        refused.to_string().contains("no form that can be stored"),
        "{refused}"
    );
    assert_eq!(log.get_n_records().unwrap(), 0);
    let single = record(number(2), mixed.attr_list[..1].to_vec());
    log.write_recordlist(&[single]).unwrap();
    let refused = log.set_record_attribute(1, &mixed.attr_list).unwrap_err();
    assert_eq!(refused.system().unwrap().kind(), Kind::DataConversion);
    let (records, _) = log.query("EXTENDED_TCL", "").unwrap();
    assert_eq!(records[0].attr_list.len(), 1);
    assert_eq!(
        log.get_operational_state().unwrap(),
        OperationalState::Enabled
    );
}

#[test]
fn values_that_nest_deep_are_recorded_and_read_again_or_refused() {
    let served = Served::new();
    let log = served.notify_log(&[]);
    let pushes = pushes_to(&log);
    let mut nested = number(0);
    let mut taken = 0;
    // As deep as an Any may nest.
    while let Ok(deeper) = Any::new(&nested) {
        nested = deeper;
        let mut deep = event(1);
        deep.remainder_of_body = nested.clone();
        if let Err(refused) = pushes.push_structured_event(&deep) {
            let kind = refused.system().unwrap().kind();
            assert!(
                matches!(kind, Kind::DataConversion | Kind::Marshal | Kind::ImpLimit),
                "{refused}"
            );
        } else {
            taken += 1;
        }
    }
    assert!(taken > 0);
    assert_eq!(log.get_n_records().unwrap(), taken);
    assert!(log.query("EXTENDED_TCL", "").is_ok());
    assert_eq!(
        log.r#match("EXTENDED_TCL", "exist $id").unwrap(),
        taken as u32
    );
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
