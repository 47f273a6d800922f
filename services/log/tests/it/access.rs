//! Access rules: peers that may change logs and write to them.

use punctual::{OperationError, SystemExceptionKind as Kind};
use punctual_host::access::Rules;
use punctual_log::ds_log_admin::{AdministrativeState, HALT};

use crate::support::{Served, all, number, write};

fn served(writers: &str) -> Served {
    let writers = Rules::of(&[writers.to_owned()]).unwrap();
    Served::prepared(|service| service.set_writers(writers))
}

#[test]
fn peers_without_a_grant_read_and_change_nothing() {
    let served = served("10.0.0.0/8");
    let refused = served.factory.create(HALT, 0).unwrap_err();
    assert_eq!(refused.system().unwrap().kind(), Kind::NoPermission);
    assert!(served.factory.list_logs().unwrap().is_empty());
}

#[test]
fn each_change_of_a_log_needs_a_grant() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.redb");
    let permitted = Served::at(&path, ("127.0.0.1", 0));
    write(&permitted.log(), [1]);
    drop(permitted);
    let served = Served::at_with(&path, |service| {
        service.set_writers(Rules::of(&["10.0.0.0/8".to_owned()]).unwrap());
    });
    let log = served.find(1);
    for refused in [
        log.set_max_record_life(1).unwrap_err(),
        log.set_administrative_state(AdministrativeState::Locked)
            .unwrap_err(),
        log.delete_records_by_id(&[1]).unwrap_err(),
        log.copy().unwrap_err(),
        log.write_records(&[number(2)])
            .unwrap_err()
            .system()
            .unwrap()
            .clone(),
        log.delete_records("TCL", "")
            .unwrap_err()
            .system()
            .unwrap()
            .clone(),
        log.set_record_attribute(1, &[])
            .unwrap_err()
            .system()
            .unwrap()
            .clone(),
    ] {
        assert_eq!(refused.kind(), Kind::NoPermission);
    }
    assert_eq!(all(&log), [1]);
}

#[test]
fn peers_with_a_grant_write() {
    let served = served("127.0.0.0/8");
    let log = served.log();
    write(&log, [1]);
    assert_eq!(all(&log), [1]);
}
