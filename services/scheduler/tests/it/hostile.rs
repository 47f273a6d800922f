//! Values out of bounds, names that are no names, and limits.

use punctual::{SystemException, SystemExceptionKind};
use punctual_scheduler::rtec_scheduler::{
    DependencyTypeT, RtInfo, SchedulerAddDependencyError, SchedulerCreateError,
    SchedulerSetSeqError,
};
use punctual_scheduler::{Limits, SchedulingService};

use crate::support::{Served, created, info};

fn name_refused(error: SchedulerCreateError) -> SystemException {
    match error {
        SchedulerCreateError::System(exception) => exception,
        other => panic!("{other:?}"),
    }
}

#[test]
fn names_that_are_too_long_empty_or_have_control_characters_are_refused() {
    let served = Served::new(&SchedulingService::in_memory());
    let scheduler = &served.scheduler;
    for name in ["", "a\nb", "\u{1b}[2J", "\u{7f}", &"x".repeat(257)] {
        let refused = name_refused(scheduler.create(name).unwrap_err());
        assert_eq!(refused.kind(), SystemExceptionKind::BadParam, "{name:?}");
    }
    assert_eq!(scheduler.create(&"x".repeat(256)), Ok(1));
    assert_eq!(scheduler.create("\"; drop = `table` [x]"), Ok(2));
    assert_eq!(scheduler.get_rt_info_set().unwrap().len(), 2);
}

#[test]
fn negative_and_overflowing_times_are_refused_and_change_nothing() {
    let service = SchedulingService::in_memory();
    let served = Served::new(&service);
    let scheduler = &served.scheduler;
    let handle = created(scheduler, "one", 1, 10);
    let before = scheduler.get(handle).unwrap();
    let good = info(handle, 1, 10);
    let day = 24 * 3600 * 10_000_000;
    for wrong in [
        RtInfo {
            period: -1,
            ..good.clone()
        },
        RtInfo {
            period: i32::MIN,
            ..good.clone()
        },
        RtInfo {
            threads: -1,
            ..good.clone()
        },
        RtInfo {
            worst_case_execution_time: u64::MAX,
            ..good.clone()
        },
        RtInfo {
            worst_case_execution_time: day + 1,
            ..good.clone()
        },
        RtInfo {
            typical_execution_time: u64::MAX / 100 + 1,
            ..good.clone()
        },
        RtInfo {
            cached_execution_time: day + 1,
            ..good.clone()
        },
        RtInfo {
            quantum: u64::MAX,
            ..good.clone()
        },
    ] {
        let refused = scheduler.set_seq(&[wrong]).unwrap_err();
        let SchedulerSetSeqError::System(refused) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(refused.kind(), SystemExceptionKind::BadParam);
    }
    assert_eq!(scheduler.get(handle).unwrap(), before);
    // The longest times are planned, and do not fit.
    let longest = RtInfo {
        worst_case_execution_time: day,
        period: i32::MAX,
        threads: i32::MAX,
        ..good
    };
    scheduler.reset_seq(&[longest]).unwrap();
    assert_eq!(
        scheduler
            .recompute_scheduling(i32::MIN, i32::MAX)
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn dependencies_need_calls_and_operations() {
    let served = Served::new(&SchedulingService::in_memory());
    let scheduler = &served.scheduler;
    let one = created(scheduler, "one", 1, 10);
    let kind = DependencyTypeT::TwoWayCall;
    for calls in [0, -1, i32::MIN] {
        let refused = scheduler.add_dependency(one, one, calls, kind).unwrap_err();
        let SchedulerAddDependencyError::System(refused) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(refused.kind(), SystemExceptionKind::BadParam);
    }
    for handle in [0, -1, 2, i32::MAX, i32::MIN] {
        let refused = scheduler.add_dependency(one, handle, 1, kind).unwrap_err();
        assert!(matches!(
            refused,
            SchedulerAddDependencyError::UnknownTask(_)
        ));
        assert!(scheduler.get(handle).is_err());
    }
    // More calls than time is left for: an anomaly, and no panic.
    let other = created(scheduler, "other", 1, 0);
    scheduler
        .add_dependency(one, other, i32::MAX, kind)
        .unwrap();
    assert!(!scheduler.recompute_scheduling(1, 99).unwrap().is_empty());
}

#[test]
fn limits_of_operations_dependencies_and_rates_are_kept() {
    let service = SchedulingService::in_memory();
    service.set_limits(Limits {
        operations: 2,
        dependencies: 1,
    });
    let served = Served::new(&service);
    let scheduler = &served.scheduler;
    let one = created(scheduler, "one", 1, 1000);
    let other = created(scheduler, "other", 1, 0);
    let refused = name_refused(scheduler.create("third").unwrap_err());
    assert_eq!(refused.kind(), SystemExceptionKind::NoResources);
    let kind = DependencyTypeT::TwoWayCall;
    scheduler.add_dependency(one, other, 1, kind).unwrap();
    assert!(scheduler.add_dependency(one, other, 1, kind).is_err());
    scheduler.remove_dependency(one, other, 1, kind).unwrap();
    scheduler.add_dependency(one, other, 1, kind).unwrap();
    let rates: Vec<RtInfo> = (1..=64).map(|period| info(one, 1, period * 10)).collect();
    assert!(scheduler.set_seq(&rates).is_err());
    scheduler.reset_seq(&rates).unwrap();
    assert!(scheduler.set_seq(&[info(one, 1, 999)]).is_err());
    // A known period is no further rate.
    scheduler.set_seq(&[info(one, 2, 640)]).unwrap();
    assert_eq!(scheduler.recompute_scheduling(1, 99).unwrap(), []);
}

#[test]
fn a_long_chain_and_a_wide_fan_are_planned_without_recursion() {
    let service = SchedulingService::in_memory();
    let served = Served::new(&service);
    let scheduler = &served.scheduler;
    let handles: Vec<i32> = (0..500)
        .map(|at| scheduler.create(&format!("operation {at}")).unwrap())
        .collect();
    let mut infos: Vec<RtInfo> = handles.iter().map(|&handle| info(handle, 0, 0)).collect();
    infos[0].period = 1_000_000;
    scheduler.set_seq(&infos).unwrap();
    for pair in handles.windows(2) {
        let kind = DependencyTypeT::TwoWayCall;
        scheduler.add_dependency(pair[0], pair[1], 1, kind).unwrap();
    }
    assert_eq!(scheduler.recompute_scheduling(1, 99).unwrap(), []);
    assert_eq!(scheduler.priority(500).unwrap().2, 0);
    // The last calls the first: a cycle of all.
    let kind = DependencyTypeT::TwoWayCall;
    scheduler.add_dependency(500, 1, 1, kind).unwrap();
    let found = scheduler.recompute_scheduling(1, 99).unwrap();
    assert!(found[0].description.contains("494 more"), "{found:?}");
}
