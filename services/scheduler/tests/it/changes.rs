//! Changes: sequences all or none, enable states, access, metrics.

use punctual::SystemExceptionKind;
use punctual_host::Service;
use punctual_host::access::{Principal, Rules};
use punctual_host::metrics::Exposition;
use punctual_scheduler::rtec_base::{DependencyEnabledTypeT, DependencyInfo};
use punctual_scheduler::rtec_scheduler::{
    DependencyTypeT, RtInfoEnabledTypeT, SchedulerCreateError, SchedulerResetSeqError,
    SchedulerSetDependencyEnableStateSeqError, SchedulerSetSeqError,
};
use punctual_scheduler::{Refusal, SchedulingService};

use crate::support::{Served, computed, created, info};

#[test]
fn a_sequence_with_an_unknown_handle_changes_nothing() {
    let served = Served::new(&SchedulingService::in_memory());
    let scheduler = &served.scheduler;
    let one = created(scheduler, "one", 1, 10);
    let before = scheduler.get(one).unwrap();
    let wrong = [info(one, 2, 20), info(9, 1, 10)];
    let refused = scheduler.set_seq(&wrong).unwrap_err();
    assert!(matches!(refused, SchedulerSetSeqError::UnknownTask(_)));
    let refused = scheduler.reset_seq(&wrong).unwrap_err();
    assert!(matches!(refused, SchedulerResetSeqError::UnknownTask(_)));
    assert!(scheduler.replace_seq(&wrong).is_err());
    assert_eq!(scheduler.get(one).unwrap(), before);
}

#[test]
fn replacing_disables_all_others_but_those_that_are_not_volatile() {
    let served = Served::new(&SchedulingService::in_memory());
    let scheduler = &served.scheduler;
    let [kept, other, protected] =
        ["kept", "other", "protected"].map(|name| created(scheduler, name, 1, 10));
    let state = RtInfoEnabledTypeT::RtInfoNonVolatile;
    scheduler
        .set_rt_info_enable_state(protected, state)
        .unwrap();
    scheduler.replace_seq(&[info(kept, 2, 20)]).unwrap();
    let states = [kept, other, protected].map(|handle| scheduler.get(handle).unwrap().enabled);
    use RtInfoEnabledTypeT::{RtInfoDisabled, RtInfoEnabled};
    assert_eq!(states, [RtInfoEnabled, RtInfoDisabled, state]);
    assert_eq!(scheduler.get(other).unwrap().period, 0);
    // As in TAO, an operation that is not volatile cannot be reset.
    let refused = scheduler.reset_seq(&[info(protected, 2, 20)]).unwrap_err();
    assert!(matches!(refused, SchedulerResetSeqError::UnknownTask(_)));
}

#[test]
fn equal_dependencies_are_changed_one_by_one() {
    let served = Served::new(&SchedulingService::in_memory());
    let scheduler = &served.scheduler;
    let (one, other) = (
        created(scheduler, "one", 1, 10),
        created(scheduler, "other", 1, 0),
    );
    let kind = DependencyTypeT::TwoWayCall;
    scheduler.add_dependency(one, other, 2, kind).unwrap();
    scheduler.add_dependency(one, other, 2, kind).unwrap();
    let all = || scheduler.get_dependency_set().unwrap();
    assert_eq!(all().len(), 2);
    let off = DependencyEnabledTypeT::DependencyDisabled;
    let done = scheduler.set_dependency_enable_state(one, other, 2, kind, off);
    done.unwrap();
    let states: Vec<_> = all().iter().map(|one| one.enabled).collect();
    assert_eq!(states, [off, DependencyEnabledTypeT::DependencyEnabled]);
    let wrong = DependencyInfo {
        number_of_calls: 3,
        ..all()[0].clone()
    };
    let mut set = all();
    set[0].enabled = DependencyEnabledTypeT::DependencyNonVolatile;
    let refused = scheduler.set_dependency_enable_state_seq(&[set[0].clone(), wrong]);
    assert!(matches!(
        refused.unwrap_err(),
        SchedulerSetDependencyEnableStateSeqError::UnknownTask(_)
    ));
    assert_eq!(all()[0].enabled, off);
    for left in [1, 0] {
        scheduler.remove_dependency(one, other, 2, kind).unwrap();
        assert_eq!(all().len(), left);
    }
    assert!(scheduler.remove_dependency(one, other, 2, kind).is_err());
}

#[test]
fn peers_without_a_grant_may_read_and_nothing_else() {
    let service = SchedulingService::in_memory();
    let served = Served::new(&service);
    let scheduler = &served.scheduler;
    let one = created(scheduler, "one", 1, 10);
    computed(scheduler);
    let mut writers = Rules::default();
    writers.grant((), "10.0.0.0/8".parse::<Principal>().unwrap());
    service.set_writers(writers);
    let SchedulerCreateError::System(refused) = scheduler.create("two").unwrap_err() else {
        panic!("a user exception");
    };
    assert_eq!(refused.kind(), SystemExceptionKind::NoPermission);
    assert!(scheduler.set_seq(&[info(one, 1, 10)]).is_err());
    assert!(scheduler.recompute_scheduling(1, 99).is_err());
    assert_eq!(scheduler.lookup("one"), Ok(one));
    assert_eq!(scheduler.priority(one), Ok((99, 0, 0)));
    assert_eq!(
        Refusal::NotPermitted.to_string(),
        "the peer may not change the scheduler's operations"
    );
}

#[test]
fn metrics_count_changes_and_computations() {
    let service = SchedulingService::in_memory();
    let served = Served::new(&service);
    created(&served.scheduler, "one", 1, 10);
    assert!(served.scheduler.create("one").is_err());
    computed(&served.scheduler);
    let mut out = Exposition::of(SchedulingService::NAME);
    service.metrics(&mut out);
    let text = out.into_text();
    for line in [
        "punctual_scheduler_operations 1",
        "punctual_scheduler_dependencies 0",
        "punctual_scheduler_levels 1",
        "punctual_scheduler_change_refused_total 1",
        "punctual_scheduler_computation_seconds_count 1",
    ] {
        assert!(text.lines().any(|one| one == line), "{line}\n{text}");
    }
}
