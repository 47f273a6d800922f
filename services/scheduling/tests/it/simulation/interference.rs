//! Interference of the platform: the analyses against a simulated processor that is away at the worst times, and
//! at random times that keep to the bound.

use punctual_scheduling::analysis::edf::{Verdict, band_test, responses_beside};
use punctual_scheduling::analysis::fixed_priority::{Prioritized, explain, response};
use punctual_scheduling::analysis::{Preemption, Response, Task, utilisation};
use punctual_scheduling::assignment::fits;
use punctual_scheduling::assignment::packing::pack;

use super::edf::sharing;
use super::engine::{Rules, Source, Until, run, signed};
use super::for_sets;
use super::sets::{Kinds, Random, time};

const ALL: Kinds = Kinds {
    jitter: true,
    late_deadlines: true,
    unpreempted: true,
};

/// Longest simulation, above the busy periods of small sets.
const END: i64 = 20_000;

/// Length of a simulation of random releases.
const SOME: i64 = 800;

/// Draws a platform that takes up to a fifth of the processor.
fn platform(random: &mut Random) -> Task {
    let every = random.within(5, 40);
    Task::interference(time(random.within(1, (every / 5).max(1))), time(every))
}

/// Returns a platform that takes all it can from a time on.
fn at_worst(platform: &Task, start: i64) -> Vec<(i64, i64)> {
    let starts = (start..END).step_by(platform.period.as_nanos() as usize);
    starts.map(|from| (from, signed(platform.wcet))).collect()
}

/// Returns a platform that takes single units of time, wherever the bound allows it or at some of these places.
fn at_random(platform: &Task, random: &mut Random) -> Vec<(i64, i64)> {
    let (most, every) = (platform.wcet.as_nanos() as usize, signed(platform.period));
    let eager = random.within(1, 4);
    let mut taken: Vec<i64> = Vec::new();
    for now in 0..SOME {
        let recent = taken.iter().rev().take_while(|&&at| at + every > now);
        if recent.count() < most && random.one_in(eager) {
            taken.push(now);
        }
    }
    taken.into_iter().map(|at| (at, 1)).collect()
}

fn prioritized<'t>(tasks: &'t [Task], platform: &'t Task) -> Vec<Prioritized<'t>> {
    let ranked = tasks.iter().zip((-10..=0).rev());
    let own = ranked.map(|(task, priority)| Prioritized { task, priority });
    let platform = Prioritized {
        task: platform,
        priority: i32::MAX,
    };
    own.chain([platform]).collect()
}

/// Simulates the critical instant of one task: of those below it, the one with the longest section begins a
/// nanosecond earlier than the platform and all others.
fn at_critical_instant(tasks: &[Task], own: usize, platform: &Task) -> i64 {
    let below = (own + 1..tasks.len()).max_by_key(|&at| tasks[at].longest_section());
    let first = below.filter(|&at| !tasks[at].longest_section().is_zero());
    let source = |at: usize| {
        let (mut task, early) = (tasks[at].clone(), Some(at) == first);
        if early {
            (task.period, task.jitter) = (time(END.unsigned_abs()), time(0));
        } else if matches!(task.preemption, Preemption::Floating { .. }) {
            task.preemption = Preemption::Full;
        }
        let priority = -i64::try_from(at).unwrap();
        Source::critical(&task, priority, if early { 0 } else { 1 })
    };
    let sources = (0..=own).chain(first).map(source).collect();
    let rules = Rules {
        away: at_worst(platform, 1),
        ..Rules::default()
    };
    run(sources, &rules, END, Until::Idle).worst[own]
}

#[test]
fn the_worst_simulated_response_is_the_computed_one() {
    for_sets(15, |random| {
        let (tasks, platform) = (random.set(ALL), platform(random));
        let all = prioritized(&tasks, &platform);
        for own in 0..tasks.len() {
            if let Response::Within(computed) = response(&all, own) {
                let seen = at_critical_instant(&tasks, own, &platform);
                assert_eq!(signed(computed), seen, "{own} of {tasks:?} {platform:?}");
            }
        }
    });
}

#[test]
fn no_interference_within_the_bound_makes_a_response_longer_than_computed() {
    for_sets(30, |random| {
        let (tasks, platform) = (random.set(ALL), platform(random));
        let rules = Rules {
            away: at_random(&platform, random),
            ..Rules::default()
        };
        let ranked = tasks.iter().zip((-10_i64..=0).rev());
        let sources = ranked.map(|(task, priority)| Source::random(task, priority, random));
        let seen = run(sources.collect(), &rules, SOME, Until::Limit);
        let all = prioritized(&tasks, &platform);
        for own in 0..tasks.len() {
            if let Response::Within(computed) = response(&all, own) {
                assert!(
                    seen.worst[own] <= signed(computed),
                    "{own} of {tasks:?} {platform:?}: {seen:?}"
                );
            }
        }
    });
}

#[test]
fn no_interference_within_the_bound_makes_a_response_longer_under_edf() {
    for_sets(15, |random| {
        let (unpreempted, jitter) = (random.one_in(2), random.one_in(2));
        let kinds = Kinds {
            jitter,
            late_deadlines: true,
            unpreempted,
        };
        let (tasks, platform) = (random.set(kinds), platform(random));
        let worst = random.one_in(3);
        let away = match worst {
            true => at_worst(&platform, 0),
            false => at_random(&platform, random),
        };
        let rules = Rules {
            by_deadline: true,
            away,
            ..Rules::default()
        };
        let source = |task| match worst {
            true => Source::critical(task, 0, 0),
            false => Source::random(task, 0, random),
        };
        let seen = run(
            tasks.iter().map(source).collect(),
            &rules,
            SOME,
            Until::Limit,
        );
        let computed = responses_beside(Some(&platform), &sharing(&tasks));
        for (own, response) in computed.into_iter().enumerate() {
            if let Response::Within(bound) = response {
                assert!(
                    seen.worst[own] <= signed(bound),
                    "{own} of {tasks:?} {platform:?}: {bound} {seen:?}"
                );
            }
        }
        if band_test(&sharing(&tasks), &[&platform], time(0)).is_feasible() {
            assert_eq!(seen.missed, None, "{tasks:?} {platform:?}");
        }
    });
}

#[test]
fn edf_is_refused_exactly_if_the_worst_interference_misses_a_deadline() {
    for_sets(15, |random| {
        let kinds = Kinds {
            unpreempted: false,
            ..ALL
        };
        let (tasks, platform) = (random.set(kinds), platform(random));
        let load = utilisation(&tasks) + utilisation([&platform]);
        if (0.999_999..=1.02).contains(&load) {
            return;
        }
        let rules = Rules {
            by_deadline: true,
            away: at_worst(&platform, 0),
            ..Rules::default()
        };
        let sources = tasks.iter().map(|task| Source::critical(task, 0, 0));
        let seen = run(sources.collect(), &rules, END, Until::Miss);
        let verdict = band_test(&sharing(&tasks), &[&platform], time(0));
        assert_ne!(verdict, Verdict::Undecided);
        assert_eq!(
            verdict.is_feasible(),
            seen.missed.is_none(),
            "{verdict:?}: {tasks:?} {platform:?}"
        );
    });
}

#[test]
fn the_quick_test_agrees_with_the_response_times() {
    for_sets(30, |random| {
        let (tasks, platform) = (random.set(ALL), platform(random));
        let all = prioritized(&tasks, &platform);
        let mut own = 0..tasks.len();
        let meet = own.all(|at| response(&all, at).meets(tasks[at].deadline));
        assert_eq!(fits(&all), meet, "{tasks:?} {platform:?}");
    });
}

#[test]
fn the_terms_of_an_explanation_contain_the_platform_and_sum_up() {
    for_sets(10, |random| {
        let (tasks, platform) = (random.set(ALL), platform(random));
        let all = prioritized(&tasks, &platform);
        for own in 0..tasks.len() {
            let Some(terms) = explain(&all, own) else {
                continue;
            };
            let interference = terms.interference.iter().map(|term| term.time).sum();
            let waits = terms.jitter + terms.blocking + terms.execution + interference;
            assert_eq!(waits - terms.elapsed, terms.response, "{own} of {tasks:?}");
            assert_eq!(
                response(&all, own),
                Response::Within(terms.response),
                "{own} of {tasks:?}"
            );
        }
    });
}

#[test]
fn the_platform_keeps_a_level_for_itself() {
    for_sets(10, |random| {
        let (tasks, platform) = (random.set(ALL), platform(random));
        let all = prioritized(&tasks, &platform);
        let packed = pack(&all, 3).unwrap();
        let (of_platform, others) = packed.levels.split_last().unwrap();
        assert!(others.iter().all(|level| level < of_platform), "{packed:?}");
    });
}
