//! Fixed priorities: the analysis is exact, so that the simulation from the critical instant has to
//! find the very response times.

use punctual_scheduling::analysis::fixed_priority::{Prioritized, explain, response, responses};
use punctual_scheduling::analysis::{Preemption, Response, Task, utilisation};

use super::engine::{Rules, Source, Until, run, signed};
use super::for_sets;
use super::sets::{Kinds, Random, time};
use crate::second::by_crate;

const ALL: Kinds = Kinds {
    jitter: true,
    late_deadlines: true,
    unpreempted: true,
};

/// Longest simulation of an overload.
const END: i64 = 20_000;

/// Returns tasks with falling priorities, ordered by their period as rate-monotonic or not.
fn prioritized(tasks: &mut [Task], random: &mut Random) -> Vec<i32> {
    if random.one_in(2) {
        tasks.sort_by_key(|task| task.period);
    }
    (0..).take(tasks.len()).map(|rank: i32| -rank).collect()
}

fn join<'t>(tasks: &'t [Task], priorities: &[i32]) -> Vec<Prioritized<'t>> {
    let both = tasks.iter().zip(priorities);
    both.map(|(task, &priority)| Prioritized { task, priority })
        .collect()
}

/// Simulates the critical instant of one task: of those below it, the one with the longest section
/// begins a nanosecond earlier.
fn at_critical_instant(tasks: &[Task], own: usize) -> i64 {
    let below = (own + 1..tasks.len()).max_by_key(|&at| tasks[at].longest_section());
    let first = below.filter(|&at| !tasks[at].longest_section().is_zero());
    let source = |at: usize| {
        let (mut task, early) = (tasks[at].clone(), Some(at) == first);
        if early {
            // One job: what comes after the busy period does not matter.
            (task.period, task.jitter) = (time(END.unsigned_abs()), time(0));
        } else if matches!(task.preemption, Preemption::Floating { .. }) {
            task.preemption = Preemption::Full;
        }
        let priority = -i64::try_from(at).unwrap();
        Source::critical(&task, priority, if early { 0 } else { 1 })
    };
    let sources = (0..=own).chain(first).map(source).collect();
    run(sources, &Rules::default(), END, Until::Idle).worst[own]
}

/// Simulates an overload until a deadline is missed.
fn overload_misses(tasks: &[Task]) -> bool {
    let priorities = (0..).map(|rank: i64| -rank);
    let sources = tasks.iter().zip(priorities);
    let sources = sources.map(|(task, priority)| Source::critical(task, priority, 0));
    let seen = run(sources.collect(), &Rules::default(), END, Until::Miss);
    seen.missed.is_some()
}

#[test]
fn the_worst_simulated_response_is_the_computed_one() {
    for_sets(30, |random| {
        let mut tasks = random.set(ALL);
        let priorities = prioritized(&mut tasks, random);
        let prioritized = join(&tasks, &priorities);
        for own in 0..tasks.len() {
            let computed = response(&prioritized, own);
            match computed {
                Response::Within(time) => {
                    let seen = at_critical_instant(&tasks, own);
                    assert_eq!(signed(time), seen, "{own} of {tasks:?}");
                }
                Response::Unbounded => {
                    let load = utilisation(&tasks[..=own]);
                    assert!(load > 0.999_999, "{own} of {tasks:?}");
                    assert!(load < 1.02 || overload_misses(&tasks[..=own]));
                }
            }
        }
    });
}

#[test]
fn no_release_pattern_takes_longer_than_the_computed_response() {
    for_sets(30, |random| {
        let mut tasks = random.set(ALL);
        let priorities = prioritized(&mut tasks, random);
        if random.one_in(4) {
            tasks.truncate(3);
        }
        let mut priorities = priorities[..tasks.len()].to_vec();
        if random.one_in(4) {
            // Two tasks of one priority are served in order of arrival.
            priorities[1] = priorities[0];
        }
        let computed = responses(&join(&tasks, &priorities));
        let mut source = |at: usize| Source::random(&tasks[at], priorities[at].into(), random);
        let sources = (0..tasks.len()).map(&mut source).collect();
        let seen = run(sources, &Rules::default(), 800, Until::Limit);
        for (at, response) in computed.into_iter().enumerate() {
            let within = response
                .bound()
                .is_none_or(|time| seen.worst[at] <= signed(time));
            assert!(within, "{at} of {tasks:?}: {seen:?}");
        }
    });
}

#[test]
fn a_second_implementation_agrees_without_jitter_and_is_never_below_with_it() {
    for_sets(30, |random| {
        let jitter = random.one_in(2);
        let mut tasks = random.set(Kinds { jitter, ..ALL });
        let priorities = prioritized(&mut tasks, random);
        let prioritized = join(&tasks, &priorities);
        for own in 0..tasks.len() {
            let Response::Within(ours) = response(&prioritized, own) else {
                continue;
            };
            let theirs = by_crate(&prioritized, own).expect("bounded as ours");
            let exact = tasks.iter().all(|task| task.jitter.is_zero());
            assert!(theirs >= ours, "{own} of {tasks:?}");
            assert!(!exact || theirs == ours, "{own} of {tasks:?}");
        }
    });
}

#[test]
fn the_terms_of_an_explanation_sum_up_to_the_response() {
    for_sets(10, |random| {
        let mut tasks = random.set(ALL);
        let priorities = prioritized(&mut tasks, random);
        let prioritized = join(&tasks, &priorities);
        for own in 0..tasks.len() {
            let Some(terms) = explain(&prioritized, own) else {
                assert_eq!(response(&prioritized, own), Response::Unbounded);
                continue;
            };
            let interference = terms.interference.iter().map(|term| term.time).sum();
            let waits = terms.jitter + terms.blocking + terms.execution + interference;
            assert_eq!(waits - terms.elapsed, terms.response, "{own} of {tasks:?}");
            assert_eq!(
                response(&prioritized, own),
                Response::Within(terms.response)
            );
            let jobs = terms.interference.iter();
            assert!(
                jobs.clone()
                    .all(|term| tasks[term.task].wcet * term.jobs == term.time)
            );
        }
    });
}

#[test]
fn a_task_without_work_waits_for_those_released_with_it() {
    let work = Task::new(time(5), time(10));
    let none = Task::new(time(0), time(10));
    let found = response(&join(&[work, none], &[2, 1]), 1);
    assert_eq!(found, Response::Within(time(5)));
}
