//! Queries by constraints and by times, and iterators over their results.

use std::time::Duration;

use punctual::{NotNil, OperationError, SystemExceptionKind as Kind};
use punctual_log::Limits;
use punctual_log::ds_log_admin::{
    InvalidConstraint, InvalidGrammar, Iterator, IteratorGetError, LogDeleteRecordsError,
    LogMatchError, LogQueryError,
};

use crate::support::{
    MONDAY, SECOND, Served, attribute, exists, found, limits, number, numbers, record, text, until,
    write,
};

#[test]
fn constraints_see_id_time_info_and_attributes() {
    let served = Served::new();
    let log = served.log();
    for (one, site) in [(1, "Ulm"), (2, "Bern"), (3, "Ulm")] {
        let attributes = vec![attribute("site", text(site)), attribute("n", number(one))];
        log.write_recordlist(&[record(number(one * 10), attributes)])
            .unwrap();
        served.time.pass(60);
    }
    let second = MONDAY + 60 * SECOND;
    for (constraint, expected) in [
        ("$.id == 2".to_owned(), vec![20]),
        ("$id >= 2 and $info != 20".to_owned(), vec![30]),
        ("id < 3".to_owned(), vec![10, 20]),
        (format!("$.time >= {second}"), vec![20, 30]),
        ("$.info > 15".to_owned(), vec![20, 30]),
        ("$.attr_list(site) == 'Ulm'".to_owned(), vec![10, 30]),
        ("$site == 'Ulm' and $n == 3".to_owned(), vec![30]),
        ("'er' ~ $site".to_owned(), vec![20]),
        ("exist $.nothing".to_owned(), vec![]),
        ("$curtime - $.time > 1200000000".to_owned(), vec![10]),
    ] {
        if constraint.contains("curtime") {
            served.time.set(MONDAY + 121 * SECOND);
        }
        assert_eq!(found(&log, &constraint), expected, "{constraint}");
    }
    let plain = log.query("TCL", "site == 'Bern' or id == 1").unwrap().0;
    assert_eq!(numbers(&plain), [10, 20]);
    assert_eq!(log.r#match("ETCL", "$site == 'Ulm'").unwrap(), 2);
    assert_eq!(log.r#match("EXTENDED_TCL", "").unwrap(), 3);
}

#[test]
fn unknown_grammars_and_wrong_constraints_are_told_apart() {
    let served = Served::new();
    let log = served.log();
    let refused = log.query("SQL", "").unwrap_err();
    assert_eq!(refused, LogQueryError::InvalidGrammar(InvalidGrammar));
    let refused = log.r#match("EXTENDED_TCL", "$.id ==").unwrap_err();
    assert_eq!(refused, LogMatchError::InvalidConstraint(InvalidConstraint));
    let refused = log.delete_records("TCL", "((id").unwrap_err();
    let expected = LogDeleteRecordsError::InvalidConstraint(InvalidConstraint);
    assert_eq!(refused, expected);
}

#[test]
fn records_are_retrieved_from_a_time_on_or_backwards() {
    let served = Served::new();
    let log = served.log();
    for one in 0..6 {
        served.time.set(MONDAY + one * SECOND);
        write(&log, [i32::try_from(one).unwrap()]);
    }
    let third = MONDAY + 2 * SECOND;
    for (how_many, expected) in [
        (2, vec![2, 3]),
        (100, vec![2, 3, 4, 5]),
        (-1, vec![1]),
        (-100, vec![1, 0]),
        (0, vec![]),
        (i32::MIN, vec![1, 0]),
    ] {
        let (records, rest) = log.retrieve(third, how_many).unwrap();
        assert_eq!(numbers(&records), expected, "{how_many}");
        assert!(rest.is_none());
    }
}

fn small() -> Limits {
    Limits {
        reply_records: 4,
        ..limits()
    }
}

fn iterator(
    (records, rest): (Vec<punctual_log::ds_log_admin::LogRecord>, Option<Iterator>),
) -> (Vec<i32>, Iterator) {
    (numbers(&records), rest.not_nil().unwrap())
}

#[test]
fn an_iterator_has_what_did_not_fit_into_the_reply() {
    let served = Served::with(small());
    let log = served.log();
    write(&log, 0..20);
    let (first, rest) = iterator(
        log.query("EXTENDED_TCL", "$.info / 2 * 2 == $.info")
            .unwrap(),
    );
    assert_eq!(first, [0, 2, 4, 6]);
    // Positions count from the first record of the result.
    assert_eq!(numbers(&rest.get(4, 2).unwrap()), [8, 10]);
    assert_eq!(numbers(&rest.get(6, 100).unwrap()), [12, 14, 16, 18]);
    assert!(rest.get(10, 1).unwrap().is_empty());
    // Any position may be read, again and ahead.
    assert_eq!(numbers(&rest.get(1, 2).unwrap()), [2, 4]);
    assert_eq!(numbers(&rest.get(8, 9).unwrap()), [16, 18]);
    assert!(rest.get(99, 1).unwrap().is_empty());
    assert_eq!(numbers(&rest.get(0, 1).unwrap()), [0]);
    let refused = rest.get(0, 0).unwrap_err();
    assert!(
        matches!(refused, IteratorGetError::InvalidParam(_)),
        "{refused:?}"
    );
    rest.destroy().unwrap();
    assert!(!exists(&rest));
    assert_eq!(served.metric("iterators"), 0);
}

#[test]
fn an_iterator_of_a_number_of_records_ends_with_it_in_either_direction() {
    let served = Served::with(small());
    let log = served.log();
    write(&log, 0..20);
    let (first, rest) = iterator(log.retrieve(0, 6).unwrap());
    assert_eq!(first, [0, 1, 2, 3]);
    assert_eq!(numbers(&rest.get(4, 9).unwrap()), [4, 5]);
    assert!(rest.get(6, 9).unwrap().is_empty());
    let (first, rest) = iterator(log.retrieve(u64::MAX, -6).unwrap());
    assert_eq!(first, [19, 18, 17, 16]);
    assert_eq!(numbers(&rest.get(4, 9).unwrap()), [15, 14]);
    assert!(rest.get(6, 9).unwrap().is_empty());
}

#[test]
fn an_iterator_goes_on_while_records_are_written_and_deleted() {
    let served = Served::with(small());
    let log = served.log();
    write(&log, 0..10);
    let (_, rest) = iterator(log.query("EXTENDED_TCL", "").unwrap());
    write(&log, 10..20);
    assert_eq!(log.delete_records_by_id(&[5, 6]).unwrap(), 2);
    assert_eq!(numbers(&rest.get(4, 9).unwrap()), [6, 7, 8, 9]);
    assert!(rest.get(8, 9).unwrap().is_empty());
    log.destroy().unwrap();
    let refused = rest.get(0, 1).unwrap_err();
    assert_eq!(refused.system().unwrap().kind(), Kind::ObjectNotExist);
}

#[test]
fn replies_are_bounded_in_bytes_and_have_one_record_in_any_case() {
    let served = Served::with(Limits {
        reply_bytes: 1_000,
        ..limits()
    });
    let log = served.log();
    let large = text(&"x".repeat(600));
    log.write_records(&vec![large; 3]).unwrap();
    log.write_records(&[text(&"y".repeat(5_000))]).unwrap();
    let (first, rest) = log.retrieve(0, 4).unwrap();
    let rest = rest.not_nil().unwrap();
    assert_eq!(first.len(), 1);
    let lengths: Vec<_> = (1..4)
        .map(|at| {
            let read = rest.get(at, 1_000).unwrap();
            assert_eq!(read.len(), 1);
            read[0].info.extract::<String>().unwrap().len()
        })
        .collect();
    assert_eq!(lengths, [600, 600, 5_000]);
}

#[test]
fn iterators_are_bounded_and_unused_ones_end() {
    let served = Served::with(Limits {
        iterators: 2,
        ..small()
    });
    let log = served.log();
    write(&log, 0..9);
    let made = || iterator(log.retrieve(0, 9).unwrap()).1;
    let (first, second) = (made(), made());
    first.get(4, 1).unwrap();
    let third = made();
    // The one that was unused longest has ended.
    assert_eq!([&first, &second, &third].map(exists), [true, false, true]);
    assert_eq!(served.metric("iterators"), 2);
    drop(served);
    let served = Served::with(Limits {
        iterator_idle: Duration::from_millis(1),
        ..small()
    });
    let log = served.log();
    write(&log, 0..9);
    let (_, rest) = iterator(log.retrieve(0, 9).unwrap());
    until(|| !exists(&rest));
    assert_eq!(served.metric("iterators"), 0);
}
