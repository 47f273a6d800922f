//! Attributes of records.

use punctual::{Any, OperationError, SystemExceptionKind as Kind};
use punctual_log::Limits;
use punctual_log::ds_log_admin::{
    HALT, InvalidAttribute, InvalidRecordId, LogGetRecordAttributeError,
    LogSetRecordAttributeError, LogSetRecordsAttributeError, NvPair,
};

use crate::support::{Served, attribute, found, limits, number, record, text, write};

fn acknowledged(by: &str) -> Vec<NvPair> {
    vec![attribute("acknowledged", text(by))]
}

#[test]
fn attributes_of_a_record_are_replaced_and_read() {
    let served = Served::new();
    let log = served.log();
    log.write_recordlist(&[record(number(1), vec![attribute("site", text("Ulm"))])])
        .unwrap();
    write(&log, [2]);
    log.set_record_attribute(1, &acknowledged("ann")).unwrap();
    assert_eq!(log.get_record_attribute(1).unwrap(), acknowledged("ann"));
    assert_eq!(log.get_record_attribute(2).unwrap(), []);
    assert_eq!(found(&log, "exist $.site"), [0_i32; 0]);
    assert_eq!(found(&log, "$acknowledged == 'ann'"), [1]);
    let absent = log.get_record_attribute(9).unwrap_err();
    let expected = LogGetRecordAttributeError::InvalidRecordId(InvalidRecordId);
    assert_eq!(absent, expected);
    let absent = log.set_record_attribute(9, &[]).unwrap_err();
    let expected = LogSetRecordAttributeError::InvalidRecordId(InvalidRecordId);
    assert_eq!(absent, expected);
}

#[test]
fn attributes_of_all_that_match_are_set_and_counted() {
    let served = Served::new();
    let log = served.log();
    write(&log, 0..250);
    let set = log.set_records_attribute("EXTENDED_TCL", "$.info < 210", &acknowledged("bob"));
    assert_eq!(set.unwrap(), 210);
    assert_eq!(log.r#match("TCL", "acknowledged == 'bob'").unwrap(), 210);
    assert_eq!(
        found(&log, "not exist $.acknowledged and $.info < 212"),
        [210, 211]
    );
    let none = log.set_records_attribute("EXTENDED_TCL", "FALSE", &[]);
    assert_eq!(none.unwrap(), 0);
}

#[test]
fn attributes_without_a_name_with_one_twice_and_too_many_are_refused_by_their_name() {
    let served = Served::with(Limits {
        attributes: 2,
        ..limits()
    });
    let log = served.log();
    write(&log, [1]);
    let of = |names: &[&str]| -> Vec<_> {
        let made = names.iter().map(|name| attribute(name, number(7)));
        made.collect()
    };
    for (names, bad) in [
        (&["a", "a"] as &[&str], "a"),
        (&["a", ""], ""),
        (&["a", "b", "c"], "c"),
    ] {
        let invalid = InvalidAttribute {
            attr_name: bad.to_owned(),
            value: number(7),
        };
        let refused = log.set_record_attribute(1, &of(names)).unwrap_err();
        let expected = LogSetRecordAttributeError::InvalidAttribute(invalid.clone());
        assert_eq!(refused, expected);
        let refused = log
            .set_records_attribute("TCL", "", &of(names))
            .unwrap_err();
        let expected = LogSetRecordsAttributeError::InvalidAttribute(invalid);
        assert_eq!(refused, expected);
    }
    let refused = log.write_recordlist(&[record(Any::default(), of(&["a", "b", "c"]))]);
    let refused = refused.unwrap_err().system().unwrap().kind();
    assert_eq!(refused, Kind::ImpLimit);
    assert_eq!(log.get_record_attribute(1).unwrap(), []);
}

#[test]
fn attributes_count_for_the_size_of_the_log_and_have_to_fit() {
    let served = Served::new();
    let log = served.log();
    write(&log, [1, 2]);
    let before = log.get_current_size().unwrap();
    log.set_record_attribute(1, &acknowledged("somebody"))
        .unwrap();
    let with = log.get_current_size().unwrap();
    assert!(with > before);
    assert_eq!(served.metric("record_bytes"), with);
    log.set_record_attribute(1, &[]).unwrap();
    assert_eq!(log.get_current_size().unwrap(), before);
    log.set_max_size(before).unwrap();
    assert_eq!(log.get_log_full_action().unwrap(), HALT);
    let refused = log.set_record_attribute(2, &acknowledged("somebody"));
    let refused = refused.unwrap_err().system().unwrap().kind();
    assert_eq!(refused, Kind::NoResources);
    assert_eq!(log.get_current_size().unwrap(), before);
    assert_eq!(log.delete_records("TCL", "").unwrap(), 2);
    assert_eq!(log.get_current_size().unwrap(), 0);
    assert_eq!(served.metric("record_bytes"), 0);
}
