//! Schedules: the priorities of published sets, rates, calls, enable states.

use punctual_scheduler::rtec_scheduler::{
    CriticalityT, DependencyTypeT, DispatchingTypeT, RtInfo, RtInfoEnabledTypeT, Scheduler,
    SchedulerPriorityError,
};
use punctual_scheduler::{Options, SchedulingService};
use punctual_scheduling::model::read;
use punctual_scheduling::plan::plan;
use punctual_scheduling::strategy::{ALL, MufFair, Rms, Strategy};

use crate::support::{MS, Served, anomalies, call, computed, created, info, place};

fn served(strategy: &'static dyn Strategy) -> (SchedulingService, Served) {
    let service = SchedulingService::in_memory();
    service.set_options(Options {
        strategy,
        ..Options::default()
    });
    let served = Served::new(&service);
    (service, served)
}

/// Fixed rates of TAO's scheduler, 40, 20, 10, 5 and 1 Hz, with an execution time and a criticality each.
const RATES: [(&str, i32, i32, CriticalityT); 5] = [
    ("hz_40", 5, 25, CriticalityT::VeryHighCriticality),
    ("hz_20", 5, 50, CriticalityT::LowCriticality),
    ("hz_10", 10, 100, CriticalityT::VeryHighCriticality),
    ("hz_5", 20, 200, CriticalityT::MediumCriticality),
    ("hz_1", 100, 1000, CriticalityT::LowCriticality),
];

fn register(scheduler: &Scheduler) {
    for (name, wcet, period, criticality) in RATES {
        let handle = scheduler.create(name).unwrap();
        let set = RtInfo {
            criticality,
            ..info(handle, wcet, period)
        };
        scheduler.set_seq(&[set]).unwrap();
    }
}

#[test]
fn priorities_are_those_that_the_command_assigns_by_every_strategy() {
    let levels = ["very-low", "low", "medium", "high", "very-high"];
    let tables = RATES.map(|(name, wcet, period, criticality)| {
        format!(
            "[operation.{name}]\nwcet = \"{wcet}ms\"\nperiod = \"{period}ms\"\ncriticality = \"{}\"\n",
            levels[criticality as usize]
        )
    });
    let model = read("model.toml", &tables.concat()).unwrap();
    for strategy in ALL {
        let (_service, served) = served(strategy);
        let scheduler = &served.scheduler;
        register(scheduler);
        scheduler.recompute_scheduling(0, 32_767).unwrap();
        for stream in plan(&model, strategy).unwrap().streams {
            let (priority, _, level) = place(scheduler, &stream.operation);
            let expected = (stream.priority.unwrap(), stream.level.unwrap());
            assert_eq!(
                (priority, level),
                (i32::from(expected.0), expected.1 as i32),
                "{} {}",
                strategy.name(),
                stream.operation
            );
        }
    }
}

#[test]
fn queues_name_the_priority_dispatching_and_periods_of_each_level() {
    let (_service, served) = served(&Rms);
    let scheduler = &served.scheduler;
    register(scheduler);
    let (infos, dependencies, queues, anomalies) = scheduler.compute_scheduling(1, 99).unwrap();
    assert_eq!(anomalies, []);
    assert_eq!(dependencies, []);
    let of = |info: &RtInfo| (info.priority, info.preemption_priority);
    let places: Vec<_> = infos.iter().map(of).collect();
    assert_eq!(places, [(99, 0), (74, 1), (50, 2), (25, 3), (1, 4)]);
    for (queue, (_, _, period, _)) in queues.iter().zip(RATES) {
        assert_eq!(queue.dispatching_type, DispatchingTypeT::StaticDispatching);
        assert_eq!(queue.timer_periods, [period * MS]);
    }
    assert_eq!(scheduler.last_scheduled_priority(), Ok(4));
}

#[test]
fn in_one_level_the_more_critical_operation_has_the_larger_subpriority() {
    let (_service, served) = served(&Rms);
    let scheduler = &served.scheduler;
    for (name, criticality) in [
        ("low", CriticalityT::LowCriticality),
        ("high", CriticalityT::HighCriticality),
    ] {
        let handle = created(scheduler, name, 1, 10);
        let set = RtInfo {
            criticality,
            ..info(handle, 1, 10)
        };
        scheduler.reset_seq(&[set]).unwrap();
    }
    computed(scheduler);
    assert_eq!(place(scheduler, "high"), (99, 1, 0));
    assert_eq!(place(scheduler, "low"), (99, 0, 0));
}

#[test]
fn operations_that_are_called_take_the_rate_of_their_callers() {
    for kind in [DependencyTypeT::OneWayCall, DependencyTypeT::TwoWayCall] {
        let (_service, served) = served(&Rms);
        let scheduler = &served.scheduler;
        let fast = created(scheduler, "fast", 1, 10);
        let slow = created(scheduler, "slow", 1, 40);
        let called = created(scheduler, "called", 1, 0);
        let deep = created(scheduler, "deep", 1, 0);
        call(scheduler, slow, called, kind);
        call(scheduler, called, deep, kind);
        computed(scheduler);
        assert_eq!(place(scheduler, "deep").2, 1, "{kind:?}");
        call(scheduler, fast, called, kind);
        computed(scheduler);
        assert_eq!(place(scheduler, "called").2, 0, "{kind:?}");
        assert_eq!(place(scheduler, "deep").2, 0, "{kind:?}");
        let info = scheduler.get(deep).unwrap();
        assert_eq!(
            info.dependencies.len(),
            usize::from(kind == DependencyTypeT::OneWayCall)
        );
    }
}

#[test]
fn several_periods_are_rates_of_which_the_highest_that_fits_is_admitted() {
    let (_service, served) = served(&MufFair);
    let scheduler = &served.scheduler;
    let many = created(scheduler, "many", 4, 40);
    scheduler.set_seq(&[info(many, 4, 10)]).unwrap();
    scheduler.set_seq(&[info(many, 4, 20)]).unwrap();
    computed(scheduler);
    assert_eq!(scheduler.get(many).unwrap().period, 10 * MS);
    // 7 of 10 ms leave room for 4 of 20.
    created(scheduler, "other", 7, 10);
    computed(scheduler);
    assert_eq!(scheduler.get(many).unwrap().period, 20 * MS);
    // The time of what it calls counts, too.
    let called = created(scheduler, "called", 2, 0);
    call(scheduler, many, called, DependencyTypeT::TwoWayCall);
    computed(scheduler);
    assert_eq!(scheduler.get(many).unwrap().period, 20 * MS);
    scheduler.reset_seq(&[info(called, 3, 0)]).unwrap();
    computed(scheduler);
    assert_eq!(scheduler.get(many).unwrap().period, 40 * MS);
    // `reset` drops the rates of before.
    scheduler.reset_seq(&[info(many, 1, 20)]).unwrap();
    computed(scheduler);
    assert_eq!(scheduler.get(many).unwrap().period, 20 * MS);
}

#[test]
fn disabled_operations_and_dependencies_are_not_scheduled() {
    let (_service, served) = served(&Rms);
    let scheduler = &served.scheduler;
    let one = created(scheduler, "one", 1, 10);
    let other = created(scheduler, "other", 1, 0);
    call(scheduler, one, other, DependencyTypeT::OneWayCall);
    computed(scheduler);
    assert_eq!(place(scheduler, "other").2, 0);
    let state = RtInfoEnabledTypeT::RtInfoDisabled;
    scheduler.set_rt_info_enable_state(other, state).unwrap();
    computed(scheduler);
    let refused = scheduler.priority(other).unwrap_err();
    assert!(matches!(refused, SchedulerPriorityError::NotScheduled(_)));
    // `set` enables it again.
    scheduler.set_seq(&[info(other, 1, 0)]).unwrap();
    computed(scheduler);
    assert_eq!(scheduler.priority(other).unwrap().2, 0);
    let off = punctual_scheduler::rtec_base::DependencyEnabledTypeT::DependencyDisabled;
    let kind = DependencyTypeT::OneWayCall;
    let done = scheduler.set_dependency_enable_state(other, one, 1, kind, off);
    done.unwrap();
    assert_eq!(anomalies(scheduler).len(), 1);
}

#[test]
fn an_operation_with_a_period_runs_by_it_even_if_others_call_it() {
    let (_service, served) = served(&Rms);
    let scheduler = &served.scheduler;
    let caller = created(scheduler, "caller", 1, 40);
    let called = created(scheduler, "called", 1, 10);
    call(scheduler, caller, called, DependencyTypeT::OneWayCall);
    computed(scheduler);
    assert_eq!(place(scheduler, "called").2, 0);
    assert_eq!(place(scheduler, "caller").2, 1);
}
