//! Persistence: restarts, full disks, late failures, and files of other services.

use punctual_host::store::{Faults, StoreError, StoreFile, StoreKind};
use punctual_scheduler::rtec_base::DependencyEnabledTypeT;
use punctual_scheduler::rtec_scheduler::{
    ConfigInfo, DependencyTypeT, RtInfo, RtInfoEnabledTypeT, SchedulerServant,
};
use punctual_scheduler::{OpenError, SchedulingService};

use crate::support::{MS, info};

/// All that a client can read.
fn all(service: &SchedulingService) -> (Vec<RtInfo>, usize, Vec<ConfigInfo>) {
    (
        service.get_rt_info_set().unwrap(),
        service.get_dependency_set().unwrap().len(),
        service.get_config_info_set().unwrap(),
    )
}

fn created(service: &SchedulingService, name: &str, period: i32) -> i32 {
    let handle = service.create(name).unwrap();
    service.set_seq(&[info(handle, 1, period)]).unwrap();
    handle
}

#[test]
fn operations_rates_dependencies_and_the_schedule_are_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scheduler.redb");
    let service = SchedulingService::open(&path).unwrap();
    let one = created(&service, "radar.read \u{e4}\u{20ac}", 20);
    service.set_seq(&[info(one, 1, 10)]).unwrap();
    let other = created(&service, "other", 0);
    let off = created(&service, "off", 10);
    let kind = DependencyTypeT::OneWayCall;
    for _ in 0..2 {
        service.add_dependency(other, one, 1, kind).unwrap();
    }
    let disabled = DependencyEnabledTypeT::DependencyDisabled;
    let done = service.set_dependency_enable_state(other, one, 1, kind, disabled);
    done.unwrap();
    let state = RtInfoEnabledTypeT::RtInfoDisabled;
    service.set_rt_info_enable_state(off, state).unwrap();
    assert_eq!(service.recompute_scheduling(1, 99), Ok(Vec::new()));
    let before = all(&service);
    let dependencies = service.get_dependency_set().unwrap();
    drop(service);

    let service = SchedulingService::open(&path).unwrap();
    assert_eq!(all(&service), before);
    assert_eq!(service.get_dependency_set().unwrap(), dependencies);
    assert_eq!(service.get(one).unwrap().period, 10 * MS);
    assert_eq!(service.priority(other), Ok((99, 0, 0)));
    assert_eq!(service.last_scheduled_priority(), Ok(0));
    // Names and numbers go on where they were.
    assert!(service.create("other").is_err());
    assert_eq!(service.create("new"), Ok(4));
    service.add_dependency(other, one, 1, kind).unwrap();
    service.remove_dependency(other, one, 1, kind).unwrap();
    assert_eq!(service.get_dependency_set().unwrap().len(), 2);
    assert_eq!(service.recompute_scheduling(1, 99).unwrap().len(), 1);
}

#[test]
fn a_full_disk_at_each_write_refuses_a_change_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scheduler.redb");
    let faults = Faults::default();
    let service = SchedulingService::open_with_faults(&path, faults.clone()).unwrap();
    created(&service, "first", 10);
    let expected = std::cell::RefCell::new(all(&service));
    let limits = faults.at_each_write(
        |limit| service.create(&format!("full {limit}")).is_err(),
        |limit, is_refused| {
            if is_refused {
                assert_eq!(all(&service), *expected.borrow(), "{limit}");
            }
            // There is room again.
            created(&service, &format!("after {limit}"), 10);
            service.recompute_scheduling(1, 99).unwrap();
            *expected.borrow_mut() = all(&service);
        },
    );
    assert!(limits > 1, "a commit has several writes");
    drop(service);
    let service = SchedulingService::open(&path).unwrap();
    assert_eq!(all(&service), expected.into_inner());
}

#[test]
fn a_schedule_that_is_stored_though_storing_failed_goes_with_the_next_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scheduler.redb");
    let faults = Faults::default();
    let service = SchedulingService::open_with_faults(&path, faults.clone()).unwrap();
    let one = created(&service, "one", 10);
    faults.fail_late();
    assert!(service.recompute_scheduling(1, 99).is_err());
    assert!(service.priority(one).is_err());
    faults.mend();
    created(&service, "later", 10);
    let before = all(&service);
    assert_eq!(before.2, []);
    drop(service);
    assert_eq!(all(&SchedulingService::open(&path).unwrap()), before);
}

#[test]
fn stores_of_newer_versions_and_of_other_services_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scheduler.redb");
    drop(StoreFile::open(&path, StoreKind::new("scheduler", 9)).unwrap());
    let OpenError(error) = SchedulingService::open(&path).unwrap_err();
    assert_eq!(error, StoreError::Newer { found: 9, known: 1 });
    let path = folder.path().join("ifr.redb");
    drop(StoreFile::open(&path, StoreKind::new("ifr", 1)).unwrap());
    assert!(SchedulingService::open(&path).is_err());
    let path = folder.path().join("text.redb");
    std::fs::write(&path, "no database").unwrap();
    assert!(SchedulingService::open(&path).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"no database");
}
