//! Factories: creating, finding, copying and destroying logs.

use punctual::{Interface, NotNil, OperationError, SystemExceptionKind as Kind};
use punctual_log::Limits;
use punctual_log::ds_log_admin::{
    BasicLogFactoryCreateError, BasicLogFactoryCreateWithIdError, HALT, InvalidLogFullAction,
    LogCopyWithIdError, LogIdAlreadyExists, WRAP,
};

use crate::support::{Served, all, exists, limits, until, write};

#[test]
fn logs_are_created_with_ids_and_found_by_them() {
    let served = Served::new();
    let (first, id) = served.factory.create(HALT, 1_000).unwrap();
    let first = first.not_nil().unwrap();
    assert_eq!((first.id().unwrap(), id), (1, 1));
    assert_eq!(first.get_max_size().unwrap(), 1_000);
    assert_eq!(first.get_log_full_action().unwrap(), HALT);
    let named = served.factory.create_with_id(7, WRAP, 0).unwrap();
    let named = named.not_nil().unwrap();
    assert_eq!(named.get_log_full_action().unwrap(), WRAP);
    assert_eq!(served.factory.list_logs_by_id().unwrap(), [1, 7]);
    let listed = served.factory.list_logs().unwrap();
    let ids = listed.iter().map(|log| log.as_ref().unwrap().id().unwrap());
    assert_eq!(ids.collect::<Vec<_>>(), [1, 7]);
    assert!(served.find(7).as_object().is_equivalent(named.as_object()));
    assert!(served.factory.find_log(8).unwrap().is_none());
    let manager = named.log_factory().unwrap().not_nil().unwrap();
    assert!(
        manager
            .as_object()
            .is_equivalent(served.factory.as_object())
    );
    // An id that was chosen is not given again.
    assert_eq!(served.factory.create(HALT, 0).unwrap().1, 8);
}

#[test]
fn an_id_that_is_taken_and_an_action_that_is_none_are_refused() {
    let served = Served::new();
    served.factory.create_with_id(3, HALT, 0).unwrap();
    let taken = served.factory.create_with_id(3, WRAP, 0).unwrap_err();
    let expected = BasicLogFactoryCreateWithIdError::LogIdAlreadyExists(LogIdAlreadyExists);
    assert_eq!(taken, expected);
    let unknown = served.factory.create(2, 0).unwrap_err();
    let expected = BasicLogFactoryCreateError::InvalidLogFullAction(InvalidLogFullAction);
    assert_eq!(unknown, expected);
    assert_eq!(served.factory.list_logs_by_id().unwrap(), [3]);
}

#[test]
fn a_copy_has_the_attributes_and_none_of_the_records() {
    let served = Served::new();
    let log = served.log_of(WRAP, 5_000);
    log.set_max_record_life(60).unwrap();
    log.set_capacity_alarm_thresholds(&[90, 50]).unwrap();
    write(&log, [1, 2]);
    let (copy, id) = log.copy().unwrap();
    let copy = copy.not_nil().unwrap();
    assert_eq!((copy.id().unwrap(), id), (2, 2));
    assert_eq!(copy.get_log_full_action().unwrap(), WRAP);
    assert_eq!(copy.get_max_size().unwrap(), 5_000);
    assert_eq!(copy.get_max_record_life().unwrap(), 60);
    assert_eq!(copy.get_capacity_alarm_thresholds().unwrap(), [50, 90]);
    assert_eq!(copy.get_n_records().unwrap(), 0);
    let named = log.copy_with_id(9).unwrap().not_nil().unwrap();
    assert_eq!(named.id().unwrap(), 9);
    write(&named, [3]);
    assert_eq!((all(&log), all(&named)), (vec![1, 2], vec![3]));
    let taken = log.copy_with_id(9).unwrap_err();
    assert_eq!(
        taken,
        LogCopyWithIdError::LogIdAlreadyExists(LogIdAlreadyExists)
    );
}

#[test]
fn a_destroyed_log_is_gone_with_its_records() {
    let served = Served::new();
    let log = served.log();
    write(&log, 0..10);
    let (_, iterator) = log.retrieve(0, 10).unwrap();
    assert!(iterator.is_none());
    log.destroy().unwrap();
    assert!(!exists(&log));
    assert!(served.factory.find_log(1).unwrap().is_none());
    assert_eq!(
        log.get_n_records().unwrap_err().kind(),
        Kind::ObjectNotExist
    );
    until(|| served.metric("records") == 0 && served.metric("record_bytes") == 0);
    // Another one of this id is another log.
    let again = served.factory.create_with_id(1, HALT, 0).unwrap();
    let again = again.not_nil().unwrap();
    assert_eq!(all(&again), [0_i32; 0]);
    assert!(!exists(&log));
}

#[test]
fn there_are_only_so_many_logs() {
    let served = Served::with(Limits {
        logs: 2,
        ..limits()
    });
    let first = served.log();
    served.log();
    let refused = served.factory.create(HALT, 0).unwrap_err();
    assert_eq!(refused.system().unwrap().kind(), Kind::NoResources);
    assert_eq!(first.copy().unwrap_err().kind(), Kind::NoResources);
    first.destroy().unwrap();
    served.log();
}
