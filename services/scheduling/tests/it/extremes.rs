//! Times at the ends of their range: no analysis panics, overflows or runs for long, and none admits or bounds
//! what is not possible.

use std::collections::BTreeSet;

use punctual_scheduling::Time;
use punctual_scheduling::analysis::admission::{
    KernelShare, kernel, one_processor, several_processors,
};
use punctual_scheduling::analysis::blocking::{CriticalSection, Locking, Protocol, blocking};
use punctual_scheduling::analysis::bounds::bounds;
use punctual_scheduling::analysis::edf::{Banded, Sharing, bands, demand_test, responses};
use punctual_scheduling::analysis::fixed_priority::{self, Prioritized, explain};
use punctual_scheduling::analysis::supply::{Reservation, least_for_task};
use punctual_scheduling::analysis::{Preemption, Response, Task};

use crate::simulation::Random;

const EXTREMES: [u64; 9] = [
    0,
    1,
    2,
    1_000,
    1_000_000,
    Time::LONGEST.as_nanos() - 1,
    Time::LONGEST.as_nanos(),
    Time::LONGEST.as_nanos() + 1,
    u64::MAX,
];

fn extreme(random: &mut Random) -> Time {
    Time::from_nanos(EXTREMES[random.within(0, 8) as usize])
}

fn task(random: &mut Random) -> Task {
    let mut task = Task::new(extreme(random), extreme(random)).with_deadline(extreme(random));
    if random.one_in(2) {
        task = task
            .with_jitter(extreme(random))
            .with_blocking(extreme(random));
    }
    let longest = extreme(random);
    let last = extreme(random);
    task.with_preemption(match random.within(1, 4) {
        1 => Preemption::None,
        2 => Preemption::Segments { longest, last },
        3 => Preemption::Floating { longest },
        _ => Preemption::Full,
    })
}

/// Returns whether tasks take clearly more than the whole processor.
fn is_overloaded(tasks: &[Task]) -> bool {
    let share = |task: &Task| match (task.wcet.as_nanos(), task.period.as_nanos()) {
        (0, _) => 0.0,
        (_, 0) => f64::INFINITY,
        (wcet, period) => wcet as f64 / period as f64,
    };
    tasks.iter().map(share).sum::<f64>() > 1.01
}

/// Checks that no bound is below what a job takes by itself after its latest release.
fn check_responses(tasks: &[Task], responses: &[Response]) {
    assert_eq!(responses.len(), tasks.len());
    for (task, response) in tasks.iter().zip(responses) {
        let least = task.wcet + task.jitter;
        let is_possible = response.bound().is_none_or(|bound| bound >= least);
        assert!(is_possible, "{response:?} of {task:?}");
    }
    let meets = |(task, response): (&Task, &Response)| response.meets(task.deadline);
    let all_meet = tasks.iter().zip(responses).all(meets);
    assert!(!all_meet || !is_overloaded(tasks), "{tasks:?}");
}

fn check_fixed_priorities(tasks: &[Task], prioritized: &[Prioritized<'_>]) {
    let responses = fixed_priority::responses(prioritized);
    check_responses(tasks, &responses);
    for (index, response) in responses.iter().enumerate() {
        let explained = explain(prioritized, index).map(|terms| terms.response);
        assert_eq!(explained, response.bound(), "{index} of {tasks:?}");
    }
}

fn check_blocking(locking: &[Locking<'_>]) {
    for one in blocking(locking, Protocol::Inheritance) {
        let sum: Time = one.by.iter().map(|cause| cause.length).sum();
        assert!(one.time <= sum, "{one:?}");
        let longest = one.by.iter().map(|cause| cause.length).max();
        assert!(one.time >= longest.unwrap_or(Time::ZERO), "{one:?}");
    }
}

fn check_deadlines(tasks: &[Task], shared: &[Sharing<'_>], banded: &[Banded<'_>]) {
    check_responses(tasks, &responses(shared));
    let is_feasible = demand_test(shared).is_feasible();
    assert!(!is_feasible || !is_overloaded(tasks), "{tasks:?}");
    let priorities: BTreeSet<i32> = banded.iter().map(|one| one.priority).collect();
    let found: BTreeSet<i32> = bands(banded).iter().map(|band| band.0).collect();
    assert_eq!(found, priorities);
}

fn check_bounds(tasks: &[Task]) {
    for outcome in bounds(&tasks.iter().collect::<Vec<_>>()) {
        // A load of nothing in no time is none.
        let has_load = outcome.load >= 0.0 || outcome.passed.is_none();
        assert!(outcome.limit > 0.0 && has_load, "{outcome:?}");
        let admits = outcome.passed == Some(true);
        assert!(!admits || !is_overloaded(tasks), "{outcome:?} of {tasks:?}");
    }
}

/// Checks a reservation against the whole processor, of which it is a part.
fn check_reservation(
    reservation: Reservation,
    time: Time,
    prioritized: &[Prioritized<'_>],
    shared: &[Sharing<'_>],
) {
    assert!(reservation.supply(time) <= time, "{reservation:?}");
    let needed = reservation.time_for(time);
    let is_enough = reservation.supply(needed) >= time || needed > Time::LONGEST;
    assert!(is_enough && needed >= time, "{reservation:?}: {needed}");
    let whole = fixed_priority::responses(prioritized);
    for (within, whole) in reservation.responses(prioritized).iter().zip(&whole) {
        let is_later = match (within.bound(), whole.bound()) {
            (Some(within), Some(whole)) => within >= whole,
            (within, _) => within.is_none(),
        };
        assert!(is_later, "{within:?}, {whole:?} in {reservation:?}");
    }
    let fits = reservation.demand_test(shared).is_feasible();
    assert!(
        !fits || demand_test(shared).is_feasible(),
        "{reservation:?}"
    );
    let three = [reservation; 3];
    let admission = kernel(&three, u32::MAX, KernelShare::default());
    assert_eq!(
        admission.is_admitted(),
        admission.asked <= admission.offered
    );
    assert!(several_processors(&three[..1], 1), "{reservation:?}");
    let (runtime, period) = (reservation.runtime(), reservation.period());
    let all = 3 * u128::from(runtime.as_nanos());
    let is_over = all > u128::from(period.as_nanos());
    assert!(
        !one_processor(&three).is_feasible() || !is_over,
        "{reservation:?}"
    );
}

#[test]
fn no_analysis_fails_on_extreme_times() {
    let random = &mut Random::new(1);
    for _ in 0..60 {
        let count = random.within(1, 3);
        let tasks: Vec<Task> = (0..count).map(|_| task(random)).collect();
        let length = extreme(random);
        let sections = [CriticalSection { mutex: 0, length }];
        let mut prioritized = Vec::new();
        for task in &tasks {
            let priority = i32::try_from(random.within(1, 3)).unwrap();
            prioritized.push(Prioritized { task, priority });
        }
        let sharing = |task| Sharing {
            task,
            sections: &sections,
        };
        let shared: Vec<_> = tasks.iter().map(sharing).collect();
        let banded = prioritized.iter().map(|own| Banded {
            sharing: sharing(own.task),
            priority: own.priority,
        });
        let locking = prioritized.iter().map(|&prioritized| Locking {
            prioritized,
            sections: &sections,
        });
        check_bounds(&tasks);
        check_fixed_priorities(&tasks, &prioritized);
        check_blocking(&locking.collect::<Vec<_>>());
        check_deadlines(&tasks, &shared, &banded.collect::<Vec<_>>());
        if let Some(least) = least_for_task(&tasks[0], extreme(random)) {
            let response = least.alone(&tasks[0]);
            assert!(
                response.meets(tasks[0].deadline),
                "{least:?}, {:?}",
                tasks[0]
            );
        }
        let made = Reservation::new(extreme(random), extreme(random), extreme(random));
        if let Ok(reservation) = made {
            check_reservation(reservation, extreme(random), &prioritized, &shared);
        }
    }
}
