//! Earliest deadline first: the demand test against a simulation and against all intervals, one by
//! one; response times against all releases of a busy period.

use punctual_scheduling::Time;
use punctual_scheduling::analysis::edf::{
    Banded, Sharing, Verdict, band_test, bands, demand_test, responses,
};
use punctual_scheduling::analysis::{Preemption, Task, utilisation};

use super::engine::{Rules, Source, Until, run, signed};
use super::for_sets;
use super::sets::{Kinds, Random};

const BY_DEADLINE: Rules = Rules {
    by_deadline: true,
    loses: None,
    ceilings: std::collections::BTreeMap::new(),
    limits: std::collections::BTreeMap::new(),
    away: Vec::new(),
};

const PREEMPTED: Kinds = Kinds {
    jitter: true,
    late_deadlines: true,
    unpreempted: false,
};

/// Longest simulation, above the busy periods of small sets.
const END: i64 = 20_000;

pub(super) fn sharing(tasks: &[Task]) -> Vec<Sharing<'_>> {
    let alone = |task| Sharing {
        task,
        sections: &[],
    };
    tasks.iter().map(alone).collect()
}

/// Returns whether a deadline is missed where one task, without jitter, begins a nanosecond before
/// all others.
fn misses_after(tasks: &[Task], first: Option<usize>) -> bool {
    let source = |(at, task): (usize, &Task)| {
        if Some(at) == first {
            return Source::critical(&task.clone().with_jitter(Time::ZERO), 0, 0);
        }
        Source::critical(task, 0, 1)
    };
    let sources = tasks.iter().enumerate().map(source).collect();
    run(sources, &BY_DEADLINE, END, Until::Miss)
        .missed
        .is_some()
}

/// Returns whether the simulation can decide: an overload, or a full load, may take too long.
fn is_decided(tasks: &[Task]) -> bool {
    let load = utilisation(tasks);
    !(0.999_999..=1.02).contains(&load)
}

#[test]
fn preemptive_sets_are_refused_exactly_if_they_miss_a_deadline() {
    for_sets(20, |random| {
        let tasks = random.set(PREEMPTED);
        if is_decided(&tasks) {
            let verdict = demand_test(&sharing(&tasks));
            let missed = misses_after(&tasks, None);
            assert_eq!(verdict.is_feasible(), !missed, "{verdict:?}: {tasks:?}");
        }
    });
}

#[test]
fn unpreempted_sets_are_refused_exactly_if_they_miss_a_deadline() {
    for_sets(15, |random| {
        let mut tasks = random.set(PREEMPTED);
        for task in &mut tasks {
            task.preemption = Preemption::None;
        }
        if is_decided(&tasks) {
            let verdict = demand_test(&sharing(&tasks));
            let mut firsts = (0..tasks.len()).map(Some).chain([None]);
            let missed = firsts.any(|first| misses_after(&tasks, first));
            assert_eq!(verdict.is_feasible(), !missed, "{verdict:?}: {tasks:?}");
        }
    });
}

/// Length up to which intervals are listed at least, above the busy periods of most small sets.
const INTERVALS: u64 = 400;

/// Lists the jobs of a task from a critical instant: release, deadline and execution time.
fn jobs(task: &Task, until: u64) -> Vec<(u64, u64, u64)> {
    let first = -signed(task.jitter);
    let nominal = (first..until.cast_signed()).step_by(task.period.as_nanos() as usize);
    let job = |nominal: i64| {
        let due = (nominal + signed(task.deadline)).max(0).unsigned_abs();
        (nominal.max(0).unsigned_abs(), due, task.wcet.as_nanos())
    };
    nominal.map(job).collect()
}

/// Returns the lengths of all intervals that exceed their time, by the definition.
fn exceeded(band: &[Task], above: &[&Task], blocking: u64, until: u64) -> Vec<u64> {
    let own: Vec<_> = band.iter().map(|task| jobs(task, until)).collect();
    let higher: Vec<_> = above.iter().flat_map(|task| jobs(task, until)).collect();
    let released = |end| {
        let before = higher.iter().filter(|job| job.0 < end);
        before.map(|job| job.2).sum::<u64>()
    };
    let is_exceeded = |&interval: &u64| {
        let due = |jobs: &Vec<(u64, u64, u64)>| {
            let due = jobs.iter().filter(|job| job.1 <= interval);
            due.map(|job| job.2).sum::<u64>()
        };
        let all: u64 = own.iter().map(due).sum();
        // A task that has begun a section instead of being released with the others.
        let begun = band.iter().zip(&own).map(|(task, jobs)| {
            let late = task.deadline.as_nanos() > interval;
            let section = if late {
                task.longest_section().as_nanos()
            } else {
                0
            };
            all - due(jobs) + section.saturating_sub(1)
        });
        let work = begun.max().unwrap_or(0).max(all + blocking);
        (0..=interval).all(|end| work + released(end) > end)
    };
    let dues = own.iter().flatten().map(|job| job.1);
    let mut dues: Vec<u64> = dues.filter(|due| *due < until).collect();
    dues.sort_unstable();
    dues.dedup();
    dues.retain(is_exceeded);
    dues
}

#[test]
fn quick_analysis_finds_an_interval_exactly_if_listing_all_jobs_does() {
    for_sets(10, |random| {
        let kinds = Kinds {
            unpreempted: true,
            ..PREEMPTED
        };
        let tasks = random.set(kinds);
        if utilisation(&tasks) > 0.9 {
            return;
        }
        let split = random.within(0, tasks.len() as u64 - 1) as usize;
        let blocking = random.within(0, 3);
        let above: Vec<&Task> = tasks[..split].iter().collect();
        let band = &tasks[split..];
        let found = band_test(&sharing(band), &above, Time::from_nanos(blocking));
        let until = match found {
            Verdict::Exceeded(excess) => INTERVALS.max(excess.interval.as_nanos() + 1),
            _ => INTERVALS,
        };
        let expected = exceeded(band, &above, blocking, until);
        match found {
            Verdict::Feasible => assert!(expected.is_empty(), "{tasks:?} below {split}"),
            Verdict::Exceeded(excess) => {
                let interval = excess.interval.as_nanos();
                assert!(
                    expected.contains(&interval),
                    "{excess:?} of {expected:?}: {tasks:?}"
                );
                let sum = excess.demand + excess.blocking + excess.above;
                assert!(sum > excess.interval);
            }
            other => panic!("{other:?}: {tasks:?}"),
        }
    });
}

#[test]
fn bands_are_refused_exactly_if_a_task_of_theirs_misses_a_deadline() {
    for_sets(15, |random| {
        let tasks = random.set(PREEMPTED);
        let priorities: Vec<i32> = tasks.iter().map(|_| band(random)).collect();
        let banded = sharing(&tasks).into_iter().zip(&priorities);
        let banded: Vec<_> = banded
            .map(|(sharing, &priority)| Banded { sharing, priority })
            .collect();
        for (band, verdict) in bands(&banded) {
            let above = tasks.iter().zip(&priorities);
            let above = above.filter(|(_, priority)| **priority >= band);
            let above: Vec<_> = above.collect();
            let counted: Vec<Task> = above.iter().map(|(task, _)| (*task).clone()).collect();
            if utilisation(&counted) > 0.999_999 {
                continue;
            }
            let sources = above.iter();
            let sources = sources.map(|(task, at)| Source::critical(task, i64::from(**at), 0));
            let seen = run(sources.collect(), &BY_DEADLINE, END, Until::Idle);
            let mut own = above.iter().zip(&seen.worst);
            let missed = own.any(|((task, priority), worst)| {
                **priority == band && *worst > signed(task.deadline)
            });
            assert_eq!(verdict.is_feasible(), !missed, "{verdict:?}: {banded:?}");
        }
    });
}

fn band(random: &mut Random) -> i32 {
    i32::try_from(random.within(1, 3)).unwrap()
}

#[test]
fn preemptive_response_times_are_the_worst_of_all_releases_in_a_busy_period() {
    for_sets(2, |random| {
        let tasks = random.set(Kinds {
            late_deadlines: true,
            ..Kinds::default()
        });
        if utilisation(&tasks) > 0.95 {
            return;
        }
        let computed = responses(&sharing(&tasks));
        for own in 0..tasks.len() {
            let rules = Rules {
                loses: Some(own),
                ..BY_DEADLINE
            };
            let worst = (0..signed(tasks[own].period)).map(|offset| {
                let source = |(at, task): (usize, &Task)| {
                    Source::critical(task, 0, if at == own { offset } else { 0 })
                };
                let sources = tasks.iter().enumerate().map(source).collect();
                run(sources, &rules, 400, Until::Limit).worst[own]
            });
            let computed = computed[own].bound().map(signed);
            assert_eq!(computed, worst.max(), "{own} of {tasks:?}");
        }
    });
}

#[test]
fn no_release_pattern_takes_longer_than_the_computed_response() {
    for_sets(15, |random| {
        let unpreempted = random.one_in(2);
        let jitter = random.one_in(2);
        let tasks = random.set(Kinds {
            jitter,
            late_deadlines: true,
            unpreempted,
        });
        let computed = responses(&sharing(&tasks));
        let sources = tasks.iter().map(|task| Source::random(task, 0, random));
        let seen = run(sources.collect(), &BY_DEADLINE, 800, Until::Limit);
        for (at, response) in computed.into_iter().enumerate() {
            let within = response
                .bound()
                .is_none_or(|time| seen.worst[at] <= signed(time));
            assert!(within, "{at} of {tasks:?}: {seen:?}");
        }
    });
}

#[test]
fn admitted_sets_miss_no_deadline_under_random_releases() {
    for_sets(15, |random| {
        let tasks = random.set(Kinds {
            unpreempted: true,
            ..PREEMPTED
        });
        if demand_test(&sharing(&tasks)).is_feasible() {
            let sources = tasks.iter().map(|task| Source::random(task, 0, random));
            let seen = run(sources.collect(), &BY_DEADLINE, 800, Until::Limit);
            assert_eq!(seen.missed, None, "{tasks:?}");
        }
    });
}
