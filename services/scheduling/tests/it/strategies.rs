//! Tests of the strategies: one small set for each rule.

use std::cmp::Ordering;

use punctual_scheduling::analysis::Task;
use punctual_scheduling::assignment::{Candidate, fits};
use punctual_scheduling::strategy::Dispatching::{Deadline, Laxity, Static};
use punctual_scheduling::strategy::{
    ALL, Dispatching, Limit, Muf, Operation, Outcome, Schedule, Strategy, by_name, schedule,
};
use punctual_scheduling::{Level, Time};

fn task(wcet: u64, period: u64) -> Task {
    Task::new(Time::from_millis(wcet), Time::from_millis(period))
}

fn operation(wcet: u64, period: u64, criticality: Level) -> Operation {
    Operation::new(task(wcet, period)).with_criticality(criticality)
}

/// Makes a schedule up to the whole processor.
fn run(name: &str, operations: &[Operation]) -> Schedule {
    schedule(by_name(name).unwrap(), operations, Limit::default())
}

/// Returns the level and the sub-priority of each operation, all of which are admitted.
fn places(schedule: &Schedule) -> Vec<(usize, usize)> {
    let place = |one: &Outcome| one.admitted().map(|at| (at.level, at.subpriority)).unwrap();
    schedule.operations.iter().map(place).collect()
}

/// Returns the rate of each operation; `None` if it is left out.
fn rates(schedule: &Schedule) -> Vec<Option<usize>> {
    let rate = |one: &Outcome| one.admitted().map(|at| at.rate);
    schedule.operations.iter().map(rate).collect()
}

/// Operations of all rates and criticalities that the rules tell apart.
fn mixed() -> Vec<Operation> {
    vec![
        operation(1, 40, Level::VeryHigh),
        operation(1, 20, Level::High),
        operation(1, 20, Level::Medium).with_importance(Level::High),
        operation(1, 20, Level::Medium),
        operation(1, 10, Level::VeryLow),
    ]
}

#[test]
fn every_strategy_is_found_by_its_name() {
    let names = ALL.map(Strategy::name);
    let expected = [
        "RMS",
        "DMS",
        "EDF",
        "MLF",
        "MUF",
        "RMS_MLF",
        "MUF_FAIR",
        "RMS_FAIR",
        "OPA",
        "CRITICALITY",
    ];
    assert_eq!(names, expected);
    for name in names {
        assert_eq!(by_name(name).unwrap().name(), name);
    }
    assert_eq!(by_name("rms").unwrap().name(), "RMS");
    assert!(by_name("").is_none());
}

#[test]
fn rms_has_a_static_level_for_each_period() {
    for name in ["RMS", "RMS_FAIR"] {
        let schedule = run(name, &mixed());
        assert_eq!(schedule.levels, [Static; 3]);
        let expected = [(2, 0), (1, 0), (1, 1), (1, 2), (0, 0)];
        assert_eq!(places(&schedule), expected, "{name}");
    }
}

#[test]
fn dms_has_a_static_level_for_each_deadline_less_jitter() {
    let millis = Time::from_millis;
    let operations = [
        Operation::new(task(1, 10)),
        Operation::new(task(1, 40).with_deadline(millis(9))),
        Operation::new(task(1, 20).with_deadline(millis(12)).with_jitter(millis(3))),
        Operation::new(task(1, 20).with_deadline(millis(12)).with_jitter(millis(4))),
    ];
    let schedule = run("DMS", &operations);
    assert_eq!(schedule.levels, [Static; 3]);
    assert_eq!(places(&schedule), [(2, 0), (1, 0), (1, 1), (0, 0)]);
}

#[test]
fn edf_and_mlf_have_one_level_with_criticality_as_sub_priority() {
    for (name, dispatching) in [("EDF", Deadline), ("MLF", Laxity)] {
        let schedule = run(name, &mixed());
        assert_eq!(schedule.levels, [dispatching]);
        let expected = [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4)];
        assert_eq!(places(&schedule), expected, "{name}");
    }
}

#[test]
fn muf_has_a_level_of_least_laxity_for_each_criticality() {
    for name in ["MUF", "MUF_FAIR"] {
        let schedule = run(name, &mixed());
        assert_eq!(schedule.levels, [Laxity; 4]);
        let expected = [(0, 0), (1, 0), (2, 0), (2, 1), (3, 0)];
        assert_eq!(places(&schedule), expected, "{name}");
    }
}

#[test]
fn rms_mlf_has_static_levels_for_critical_rates_and_one_of_least_laxity_for_the_rest() {
    let schedule = run("RMS_MLF", &mixed());
    assert_eq!(schedule.levels, [Static, Static, Laxity]);
    let expected = [(1, 0), (0, 0), (2, 0), (2, 1), (2, 2)];
    assert_eq!(places(&schedule), expected);
}

#[test]
fn criticality_has_static_levels_by_criticality_and_deadline_with_importance_among_equals() {
    let mut operations = mixed();
    operations.push(operation(1, 40, Level::Medium).with_importance(Level::VeryHigh));
    let schedule = run("CRITICALITY", &operations);
    assert_eq!(schedule.levels, [Static; 5]);
    let expected = [(0, 0), (1, 0), (2, 0), (2, 1), (4, 0), (3, 0)];
    assert_eq!(places(&schedule), expected);
}

/// Lehoczky (1990): 52 of 100 ms with a deadline of 110, and 52 of 140 ms with one of 154.
#[test]
fn opa_has_a_static_level_for_each_operation_in_an_order_that_fits() {
    let late = |wcet, period, deadline| {
        Operation::new(task(wcet, period).with_deadline(Time::from_millis(deadline)))
    };
    let operations = [late(52, 100, 110), late(52, 140, 154), late(0, 140, 154)];
    let searched = schedule(by_name("OPA").unwrap(), &operations, Limit::None);
    assert_eq!(searched.levels, [Static; 3]);
    assert_eq!(places(&searched), [(2, 0), (0, 0), (1, 0)]);
    let monotonic = schedule(by_name("DMS").unwrap(), &operations, Limit::None);
    assert_eq!(places(&monotonic), [(0, 0), (1, 0), (1, 1)]);
}

/// 150 % cannot fit in any order. The first operation has the lowest place all the same, as its deadline is far.
#[test]
fn opa_orders_what_fits_in_no_order_by_deadline() {
    let operations = [
        Operation::new(task(1, 1_000)),
        Operation::new(task(8, 10)),
        Operation::new(task(7, 10).with_deadline(Time::from_millis(9))),
    ];
    let searched = schedule(by_name("OPA").unwrap(), &operations, Limit::None);
    assert_eq!(places(&searched), [(2, 0), (1, 0), (0, 0)]);
}

#[test]
fn importance_decides_only_between_equals() {
    let operations = [
        operation(1, 10, Level::Low).with_importance(Level::VeryHigh),
        operation(1, 10, Level::High).with_importance(Level::VeryLow),
        operation(1, 10, Level::High).with_importance(Level::High),
    ];
    assert_eq!(places(&run("RMS", &operations)), [(0, 2), (0, 1), (0, 0)]);
}

/// 50 % critical at a long period, 60 % uncritical at a short one: both are too much.
#[test]
fn an_uncritical_operation_is_left_out_before_a_critical_one_whatever_its_rate() {
    let operations = [
        operation(6, 10, Level::Low).with_importance(Level::VeryHigh),
        operation(500, 1000, Level::High),
    ];
    for strategy in ALL {
        let schedule = schedule(strategy, &operations, Limit::default());
        let left_out: Vec<_> = schedule.left_out().collect();
        // RMS_FAIR disregards criticality, as TAO's does.
        let expected = if strategy.name() == "RMS_FAIR" {
            [1]
        } else {
            [0]
        };
        assert_eq!(left_out, expected, "{}", strategy.name());
    }
}

#[test]
fn among_equally_critical_operations_the_lowest_rate_is_left_out() {
    let operations = [
        operation(50, 100, Level::High),
        operation(5, 10, Level::High),
        operation(4, 20, Level::High),
    ];
    for name in ALL.map(Strategy::name) {
        assert_eq!(
            rates(&run(name, &operations)),
            [None, Some(0), Some(0)],
            "{name}"
        );
    }
}

/// 70 % are admitted; 50 % more would be 120 %, 30 % more are the whole processor.
#[test]
fn the_utilisation_of_a_refusal_is_in_the_result_and_the_next_operation_is_still_tried() {
    let operations = [
        operation(7, 10, Level::VeryHigh),
        operation(10, 20, Level::High),
        operation(12, 40, Level::Medium),
    ];
    let schedule = run("EDF", &operations);
    assert_eq!(rates(&schedule), [Some(0), None, Some(0)]);
    let Outcome::LeftOut(left_out) = schedule.operations[1] else {
        unreachable!()
    };
    assert!((left_out.utilisation.unwrap() - 1.2).abs() < 1e-9);
}

/// Each operation takes 5 ms every 20 or every 10: 25 % or 50 %. Fair: 3 at 25 %, then the first one
/// faster, 100 %. Unfair: 2 at 50 %, none for the third one.
#[test]
fn fair_admission_gives_every_operation_its_lowest_rate_first() {
    let operation = |criticality| {
        let fast = Operation::new(task(5, 10)).with_rate(task(5, 20));
        fast.with_criticality(criticality)
    };
    let operations = [Level::Low, Level::VeryLow, Level::High].map(operation);
    let run = |name| rates(&run(name, &operations));
    assert_eq!(run("MUF_FAIR"), [Some(1), Some(1), Some(0)]);
    assert_eq!(run("RMS_FAIR"), [Some(0), Some(1), Some(1)]);
    for name in ["RMS", "DMS", "EDF", "MLF", "MUF", "RMS_MLF"] {
        assert_eq!(run(name), [Some(0), None, Some(0)], "{name}");
    }
}

/// The second operation has 50 % left: not for its high rate of 80 %, for its low one of 40 %.
#[test]
fn an_operation_gets_the_highest_rate_that_has_room() {
    let operations = [
        operation(5, 10, Level::High),
        Operation::new(task(16, 20)).with_rate(task(16, 40)),
    ];
    assert_eq!(rates(&run("MUF", &operations)), [Some(0), Some(1)]);
    assert_eq!(rates(&run("MUF_FAIR", &operations)), [Some(0), Some(1)]);
}

/// Liu and Layland's 2 of 5 ms and 4 of 7 ms: 97 %, and too much for fixed priorities.
#[test]
fn an_exact_test_refuses_what_the_utilisation_does_not() {
    let operations = [
        operation(2, 5, Level::Medium),
        operation(4, 7, Level::Medium),
    ];
    let rms = by_name("RMS").unwrap();
    let exact = schedule(rms, &operations, Limit::Test(&fits));
    assert_eq!(rates(&exact), [Some(0), None]);
    assert_eq!(rates(&run("RMS", &operations)), [Some(0), Some(0)]);
    let bound = schedule(rms, &operations, Limit::Utilisation(828_427));
    assert_eq!(rates(&bound), [Some(0), None]);
}

/// MUF in the reverse order of criticality.
#[derive(Debug)]
struct Reversed;

impl Strategy for Reversed {
    fn name(&self) -> &str {
        "REVERSED"
    }

    fn level_order(&self, one: &Candidate, other: &Candidate) -> Ordering {
        Muf.level_order(other, one)
    }

    fn dispatching(&self, _: &Candidate) -> Dispatching {
        Deadline
    }
}

#[test]
fn a_program_adds_a_strategy_of_its_own() {
    let schedule = schedule(&Reversed, &mixed(), Limit::default());
    let levels: Vec<_> = places(&schedule).iter().map(|place| place.0).collect();
    assert_eq!(
        (levels, schedule.levels),
        (vec![3, 2, 1, 1, 0], vec![Deadline; 4])
    );
}

#[test]
fn an_operation_without_rates_is_left_out_without_a_utilisation() {
    let empty = Operation {
        rates: vec![],
        ..operation(1, 10, Level::High)
    };
    let schedule = run("MUF", &[empty]);
    let Outcome::LeftOut(left_out) = schedule.operations[0] else {
        unreachable!()
    };
    assert_eq!((left_out.utilisation, schedule.levels.len()), (None, 0));
}
