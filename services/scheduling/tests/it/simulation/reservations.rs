//! Reservations: their supply against all times at which a kernel may serve them; tasks inside
//! against a simulation of a processor that is away at the worst times.

use punctual_scheduling::analysis::edf::Verdict;
use punctual_scheduling::analysis::fixed_priority::Prioritized;
use punctual_scheduling::analysis::supply::{Reservation, least_for_task};
use punctual_scheduling::analysis::{Response, Task, utilisation};

use super::edf::sharing;
use super::engine::{Rules, Source, Until, run, signed};
use super::for_sets;
use super::sets::{Kinds, Random, time};

const END: i64 = 1_500;

const KINDS: Kinds = Kinds {
    jitter: true,
    late_deadlines: true,
    unpreempted: false,
};

fn reservation(random: &mut Random) -> Reservation {
    let period = random.within(2, 12);
    let runtime = random.within(period.div_ceil(2), period);
    let deadline = random.within(runtime, period);
    Reservation::new(time(runtime), time(deadline), time(period)).unwrap()
}

/// Returns when the processor is away, if the last service ended as early as can be.
fn away(reservation: Reservation) -> Vec<(i64, i64)> {
    let runtime = signed(reservation.runtime());
    let (deadline, period) = (signed(reservation.deadline()), signed(reservation.period()));
    let mut away = vec![(0, period + deadline - 2 * runtime)];
    while let Some((from, length)) = away.last().filter(|(from, _)| *from < END) {
        away.push((from + length + runtime, period - runtime));
    }
    away.retain(|(_, length)| *length > 0);
    away
}

#[test]
fn the_supply_is_the_least_of_all_services_that_keep_the_reservation() {
    for_sets(5, |random| {
        let reservation = reservation(random);
        let runtime = reservation.runtime().as_nanos() as usize;
        let period = reservation.period().as_nanos() as usize;
        let mut served = vec![0u64; 12 * period];
        for start in (0..served.len()).step_by(period) {
            let latest = reservation.deadline().as_nanos() as usize - runtime;
            let delay = match random.within(1, 3) {
                1 => 0,
                2 => latest,
                _ => random.within(0, latest as u64) as usize,
            };
            served[start + delay..][..runtime].fill(1);
        }
        for from in 0..served.len() {
            let mut sum = 0;
            for (length, slot) in (1..).zip(&served[from..]) {
                sum += slot;
                assert!(
                    reservation.supply(time(length)) <= time(sum),
                    "{reservation:?}"
                );
            }
        }
        let work = time(random.within(1, 40));
        let longest = reservation.time_for(work);
        assert_eq!(reservation.supply(longest), work, "{reservation:?}");
        assert!(
            reservation.supply(longest - time(1)) < work,
            "{reservation:?}"
        );
    });
}

#[test]
fn responses_in_a_reservation_are_those_of_the_worst_supply() {
    for_sets(10, |random| {
        let (reservation, tasks) = (reservation(random), random.set(KINDS));
        if utilisation(&tasks) > 0.95 * reservation.runtime().ratio(reservation.period()) {
            return;
        }
        let prioritized: Vec<_> = tasks
            .iter()
            .zip((-10..=0).rev())
            .map(|(task, priority)| Prioritized { task, priority })
            .collect();
        let rules = Rules {
            away: away(reservation),
            ..Rules::default()
        };
        let source = |prioritized: &Prioritized<'_>| {
            Source::critical(prioritized.task, prioritized.priority.into(), 0)
        };
        let sources = prioritized.iter().map(source).collect();
        let seen = run(sources, &rules, END, Until::Limit);
        for (at, response) in reservation.responses(&prioritized).into_iter().enumerate() {
            if let Response::Within(computed) = response {
                assert_eq!(
                    seen.worst[at],
                    signed(computed),
                    "{at}: {reservation:?} {tasks:?}"
                );
            }
        }
    });
}

#[test]
fn edf_in_a_reservation_is_refused_exactly_if_the_worst_supply_misses_a_deadline() {
    for_sets(10, |random| {
        let (reservation, tasks) = (reservation(random), random.set(KINDS));
        let share = reservation.runtime().ratio(reservation.period());
        let verdict = reservation.demand_test(&sharing(&tasks));
        if utilisation(&tasks) > 0.95 * share {
            return;
        }
        assert_ne!(verdict, Verdict::Undecided);
        let rules = Rules {
            by_deadline: true,
            away: away(reservation),
            ..Rules::default()
        };
        let sources = tasks.iter().map(|task| Source::critical(task, 0, 0));
        let seen = run(sources.collect(), &rules, END, Until::Limit);
        let missed = seen.missed.is_some();
        assert_eq!(
            verdict.is_feasible(),
            !missed,
            "{verdict:?} {reservation:?}: {tasks:?}"
        );
    });
}

#[test]
fn the_least_runtime_is_enough_and_one_nanosecond_less_is_not() {
    for_sets(5, |random| {
        let task: Task = random.set(KINDS).remove(0);
        let period = time(random.within(1, 30));
        let Some(least) = least_for_task(&task, period) else {
            let whole = Reservation::new(period, period, period).unwrap();
            assert!(!whole.alone(&task).meets(task.deadline));
            return;
        };
        assert!(least.alone(&task).meets(task.deadline));
        let less = Reservation::new(least.runtime() - time(1), period, period);
        assert!(
            less.is_ok_and(|less| !less.alone(&task).meets(task.deadline))
                || least.runtime() == time(1)
        );
    });
}
