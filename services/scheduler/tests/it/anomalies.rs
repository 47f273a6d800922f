//! Anomalies and exceptions of computations.

use punctual_scheduler::rtec_scheduler::{
    AnomalySeverity, DependencyTypeT, InfoTypeT, RtInfo, SchedulerComputeSchedulingError,
    SchedulerPriorityError, SchedulerRecomputeSchedulingError,
};
use punctual_scheduler::{Options, SchedulingService};
use punctual_scheduling::strategy::{Rms, RmsFair};

use crate::support::{Served, anomalies, call, computed, created, info, place};

fn served() -> Served {
    let service = SchedulingService::in_memory();
    service.set_options(Options {
        strategy: &Rms,
        ..Options::default()
    });
    Served::new(&service)
}

#[test]
fn a_cycle_is_an_error_that_leaves_the_last_schedule() {
    let served = served();
    let scheduler = &served.scheduler;
    let one = created(scheduler, "one", 1, 10);
    let other = created(scheduler, "other", 1, 0);
    call(scheduler, one, other, DependencyTypeT::OneWayCall);
    computed(scheduler);
    let before = place(scheduler, "other");
    call(scheduler, other, one, DependencyTypeT::TwoWayCall);
    let found = anomalies(scheduler);
    assert_eq!(
        found,
        [(
            AnomalySeverity::AnomalyError,
            "CYCLIC_DEPENDENCIES: operations call one another in a cycle: `one`, `other`: nothing is \
             scheduled"
                .to_owned()
        )]
    );
    assert_eq!(place(scheduler, "other"), before);
}

#[test]
fn what_nothing_releases_is_an_error_and_what_waits_for_remote_operations_a_warning() {
    let served = served();
    let scheduler = &served.scheduler;
    created(scheduler, "runs", 1, 10);
    let lonely = created(scheduler, "lonely", 1, 0);
    let below = created(scheduler, "below", 1, 0);
    call(scheduler, lonely, below, DependencyTypeT::OneWayCall);
    let remote = scheduler.create("remote").unwrap();
    let set = RtInfo {
        info_type: InfoTypeT::RemoteDependant,
        ..info(remote, 1, 0)
    };
    scheduler.set_seq(&[set]).unwrap();
    let found = anomalies(scheduler);
    let severities: Vec<_> = found.iter().map(|(severity, _)| *severity).collect();
    use AnomalySeverity::{AnomalyError, AnomalyWarning};
    assert_eq!(severities, [AnomalyError, AnomalyError, AnomalyWarning]);
    for ((_, text), part) in found.iter().zip([
        "UNRESOLVED_LOCAL_DEPENDENCIES: `lonely`",
        "UNRESOLVED_LOCAL_DEPENDENCIES: `below`",
        "UNRESOLVED_REMOTE_DEPENDENCIES: `remote`",
    ]) {
        assert!(text.starts_with(part), "{text}");
    }
    // The others are scheduled.
    assert_eq!(place(scheduler, "runs"), (99, 0, 0));
    let refused = scheduler.priority(below).unwrap_err();
    assert!(matches!(refused, SchedulerPriorityError::NotScheduled(_)));
}

#[test]
fn threads_without_a_period_and_a_scheduler_without_operations_are_anomalies() {
    let served = served();
    let scheduler = &served.scheduler;
    let found = anomalies(scheduler);
    assert_eq!(found[0].0, AnomalySeverity::AnomalyWarning);
    assert!(found[0].1.starts_with("NO_TASKS_REGISTERED"), "{found:?}");
    let handle = scheduler.create("threads").unwrap();
    let set = RtInfo {
        threads: 2,
        ..info(handle, 1, 0)
    };
    scheduler.set_seq(&[set]).unwrap();
    let found = anomalies(scheduler);
    assert_eq!(found[0].0, AnomalySeverity::AnomalyError);
    assert!(
        found[0]
            .1
            .starts_with("THREAD_SPECIFICATION: `threads` has 2"),
        "{found:?}"
    );
}

#[test]
fn an_overload_is_a_warning_and_for_a_strict_scheduler_an_exception() {
    let service = SchedulingService::in_memory();
    let options = Options {
        strategy: &Rms,
        is_strict: false,
    };
    service.set_options(options);
    let served = Served::new(&service);
    let scheduler = &served.scheduler;
    created(scheduler, "first", 6, 10);
    created(scheduler, "second", 6, 12);
    let found = anomalies(scheduler);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, AnomalySeverity::AnomalyWarning);
    assert!(
        found[0]
            .1
            .starts_with("UTILIZATION_BOUND_EXCEEDED: `second`"),
        "{found:?}"
    );
    assert_eq!(place(scheduler, "second").2, 1);
    service.set_options(Options {
        is_strict: true,
        ..options
    });
    let refused = scheduler.compute_scheduling(1, 99).unwrap_err();
    assert!(matches!(
        refused,
        SchedulerComputeSchedulingError::UtilizationBoundExceeded(_)
    ));
}

#[test]
fn what_admission_leaves_out_has_no_place() {
    let service = SchedulingService::in_memory();
    service.set_options(Options {
        strategy: &RmsFair,
        ..Options::default()
    });
    let served = Served::new(&service);
    let scheduler = &served.scheduler;
    created(scheduler, "first", 6, 10);
    let second = created(scheduler, "second", 6, 12);
    let called = created(scheduler, "called", 1, 0);
    call(scheduler, second, called, DependencyTypeT::OneWayCall);
    let found = anomalies(scheduler);
    let text = "UTILIZATION_BOUND_EXCEEDED: `second` is left out: with it, its processor would be used to 110.0 %";
    assert!(found[0].1.starts_with(text), "{found:?}");
    for handle in [second, called] {
        let refused = scheduler.priority(handle).unwrap_err();
        assert!(matches!(refused, SchedulerPriorityError::NotScheduled(_)));
    }
}

#[test]
fn more_levels_than_priorities_are_refused_and_leave_the_last_schedule() {
    let served = served();
    let scheduler = &served.scheduler;
    created(scheduler, "fast", 1, 10);
    created(scheduler, "slow", 1, 20);
    computed(scheduler);
    let refused = scheduler.recompute_scheduling(7, 7).unwrap_err();
    assert!(matches!(
        refused,
        SchedulerRecomputeSchedulingError::InsufficientThreadPriorityLevels(_)
    ));
    assert_eq!(place(scheduler, "slow"), (1, 0, 1));
    // Two are enough, and the lower number may be the more urgent one.
    assert_eq!(scheduler.recompute_scheduling(7, 6), Ok(Vec::new()));
    assert_eq!(place(scheduler, "fast"), (6, 0, 0));
    assert_eq!(place(scheduler, "slow"), (7, 0, 1));
}
