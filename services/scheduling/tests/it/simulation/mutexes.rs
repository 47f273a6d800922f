//! Mutexes: no simulation blocks a task for longer than the analysis says; under ceilings, the worst
//! one does for as long.

use std::collections::BTreeMap;

use punctual_scheduling::Time;
use punctual_scheduling::analysis::blocking::{
    Blocking, CriticalSection, Locking, Protocol, blocking,
};
use punctual_scheduling::analysis::edf::{Sharing, demand_test};
use punctual_scheduling::analysis::fixed_priority::{Prioritized, bound, responses};
use punctual_scheduling::analysis::{Preemption, Response, Task};

use super::engine::{Holds, Piece, Rules, Source, Until, run, signed};
use super::for_sets;
use super::sets::{Kinds, Random, time};

const END: i64 = 20_000;

/// Task and its code.
#[derive(Debug)]
struct Coded {
    task: Task,
    sections: Vec<CriticalSection>,
    pieces: Vec<Piece>,
}

/// Draws tasks whose jobs lock one mutex each, or none; some also have a section without preemption.
fn coded(random: &mut Random, unpreempted: bool, kinds: Kinds) -> Vec<Coded> {
    let tasks = random.set(kinds);
    tasks
        .into_iter()
        .map(|task| code(task, random, unpreempted))
        .collect()
}

fn code(mut task: Task, random: &mut Random, unpreempted: bool) -> Coded {
    let wcet = task.wcet.as_nanos();
    let (mut pieces, mut sections, mut rest) = (Vec::new(), Vec::new(), wcet);
    let mut take = |length: u64, holds, rest: &mut u64| {
        *rest -= length;
        let length = length.cast_signed();
        pieces.push(Piece::new(length, holds));
    };
    if unpreempted && random.one_in(2) {
        let longest = random.within(1, rest);
        take(longest, Holds::Processor, &mut rest);
        let longest = time(longest);
        task.preemption = Preemption::Floating { longest };
    }
    if rest > 0 && !random.one_in(4) {
        let (mutex, length) = (random.within(0, 2) as usize, random.within(1, rest));
        take(length, Holds::Mutex(mutex), &mut rest);
        let length = time(length);
        sections.push(CriticalSection { mutex, length });
    }
    take(rest, Holds::Nothing, &mut rest.clone());
    pieces.retain(|piece| piece.length > 0);
    Coded {
        task,
        sections,
        pieces,
    }
}

/// Makes code that locks one mutex and, within its section, another of a larger number; or one of them.
fn nested(task: Task, random: &mut Random) -> Coded {
    let outer = random.within(0, 1) as usize;
    let inner = random.within(outer as u64 + 1, 2) as usize;
    let is_nested = random.one_in(2);
    let mut rest = task.wcet.as_nanos();
    let mut part = |holds| {
        let length = random.within(0, rest);
        rest -= length;
        Piece::new(length.cast_signed(), holds)
    };
    let mut pieces = match is_nested {
        true => vec![
            part(Holds::Mutex(outer)),
            part(Holds::Nested(outer, inner)),
            part(Holds::Mutex(outer)),
        ],
        false => vec![part(Holds::Mutex(inner))],
    };
    pieces.retain(|piece| piece.length > 0);
    if pieces.first().map(|piece| piece.holds) == Some(Holds::Nested(outer, inner)) {
        // The simulator locks the outer mutex by a piece of its own.
        pieces[0].holds = Holds::Mutex(inner);
        pieces.truncate(1);
    }
    let length = |mutex| {
        let holds = |piece: &&Piece| match piece.holds {
            Holds::Mutex(held) | Holds::ProcessorAnd(held) => held == mutex,
            Holds::Nested(outer, inner) => outer == mutex || inner == mutex,
            Holds::Nothing | Holds::Processor | Holds::Away => false,
        };
        let held = pieces.iter().filter(holds);
        time(held.map(|piece| piece.length.unsigned_abs()).sum())
    };
    let section = |mutex| CriticalSection {
        mutex,
        length: length(mutex),
    };
    let mut sections: Vec<_> = (0..3).map(section).collect();
    sections.retain(|section| !section.length.is_zero());
    let used: i64 = pieces.iter().map(|piece| piece.length).sum();
    let first = Piece::new(signed(task.wcet) - used, Holds::Nothing);
    pieces.insert(usize::from(random.one_in(2)) * pieces.len(), first);
    pieces.retain(|piece| piece.length > 0);
    Coded {
        task,
        sections,
        pieces,
    }
}

impl Coded {
    fn sharing(&self) -> Sharing<'_> {
        Sharing {
            task: &self.task,
            sections: &self.sections,
        }
    }

    fn locking(&self, priority: i32) -> Locking<'_> {
        Locking {
            prioritized: Prioritized {
                task: &self.task,
                priority,
            },
            sections: &self.sections,
        }
    }
}

/// Returns the blocking of tasks in falling order of priority.
fn blocked(coded: &[Coded], protocol: Protocol) -> Vec<Blocking> {
    let ranked = coded.iter().zip((-10..=0).rev());
    let locking: Vec<_> = ranked
        .map(|(coded, priority)| coded.locking(priority))
        .collect();
    blocking(&locking, protocol)
}

fn source(coded: &Coded, rank: usize, start: i64) -> Source {
    let priority = -i64::try_from(rank).unwrap();
    let mut source = Source::critical(&coded.task, priority, start);
    source.pieces.clone_from(&coded.pieces);
    source
}

/// Returns the ceilings of mutexes, for simulated priorities.
fn ceilings(coded: &[Coded]) -> BTreeMap<usize, i64> {
    let mut ceilings = BTreeMap::new();
    for (rank, coded) in (0i64..).zip(coded) {
        for section in &coded.sections {
            ceilings.entry(section.mutex).or_insert(-rank);
        }
    }
    ceilings
}

#[test]
fn no_simulation_blocks_longer_than_the_protocol_allows() {
    for_sets(20, |random| {
        let mut coded = coded(random, true, Kinds::default());
        let protocol = match random.within(1, 3) {
            1 => Protocol::Inheritance,
            2 => Protocol::Ceiling,
            _ => Protocol::ImmediateCeiling,
        };
        let found = blocked(&coded, protocol);
        for (coded, blocking) in coded.iter_mut().zip(found) {
            coded.task.blocking = blocking.time;
        }
        let ranked = coded.iter().zip((-10..=0).rev());
        let prioritized: Vec<_> = ranked
            .map(|(coded, priority)| Prioritized {
                task: &coded.task,
                priority,
            })
            .collect();
        let computed = responses(&prioritized);
        let ceilings_by = |which| match protocol == which {
            true => ceilings(&coded),
            false => BTreeMap::new(),
        };
        let rules = Rules {
            ceilings: ceilings_by(Protocol::ImmediateCeiling),
            limits: ceilings_by(Protocol::Ceiling),
            ..Rules::default()
        };
        // Each task starts as late as it takes those below it to lock: the worst under inheritance.
        for gap in 1..3 {
            let start = |rank: usize| (coded.len() - rank) as i64 * gap;
            let each = |(rank, coded)| source(coded, rank, start(rank));
            let sources = coded.iter().enumerate().map(each).collect();
            let seen = run(sources, &rules, 600, Until::Limit);
            for (at, response) in computed.iter().enumerate() {
                let within = response
                    .bound()
                    .is_none_or(|time| seen.worst[at] <= signed(time));
                assert!(within, "{at} of {prioritized:?} by {protocol:?}: {seen:?}");
            }
        }
    });
}

#[test]
fn no_simulation_blocks_longer_than_inheritance_allows_where_sections_nest() {
    for_sets(40, |random| {
        let tasks = random.set(Kinds::default());
        let mut coded: Vec<_> = tasks.into_iter().map(|task| nested(task, random)).collect();
        let found = blocked(&coded, Protocol::Inheritance);
        for (coded, blocking) in coded.iter_mut().zip(found) {
            coded.task.blocking = blocking.time;
        }
        let ranked = coded.iter().zip((-10..=0).rev());
        let prioritized: Vec<_> = ranked
            .map(|(coded, priority)| Prioritized {
                task: &coded.task,
                priority,
            })
            .collect();
        let computed = responses(&prioritized);
        for gap in 1..4 {
            let start = |rank: usize| (coded.len() - rank) as i64 * gap;
            let each = |(rank, coded)| source(coded, rank, start(rank));
            let sources = coded.iter().enumerate().map(each).collect();
            let seen = run(sources, &Rules::default(), 600, Until::Limit);
            for (at, response) in computed.iter().enumerate() {
                let within = response
                    .bound()
                    .is_none_or(|time| seen.worst[at] <= signed(time));
                assert!(within, "{at} of {coded:?}: {seen:?}");
            }
        }
    });
}

#[test]
fn a_nested_mutex_blocks_those_that_wait_for_the_outer_one() {
    let task = Task::new(Time::from_millis(10), Time::from_millis(100));
    let section = |mutex, length| CriticalSection {
        mutex,
        length: Time::from_millis(length),
    };
    let (first, second) = ([section(1, 1)], [section(1, 3), section(2, 1)]);
    let (third, fourth) = ([section(3, 2), section(2, 5)], [section(4, 9)]);
    let locking = [(4, &first[..]), (3, &second), (2, &third), (1, &fourth)];
    let locking = locking.map(|(priority, sections)| Locking {
        prioritized: Prioritized {
            task: &task,
            priority,
        },
        sections,
    });
    let found = blocking(&locking, Protocol::Inheritance).into_iter();
    let times: Vec<_> = found.map(|blocking| blocking.time).collect();
    // The second waits for the third within the section for which the first waits.
    assert_eq!(times, [8, 5, 0, 0].map(Time::from_millis));
}

#[test]
fn under_immediate_ceilings_the_worst_lock_blocks_for_its_whole_section() {
    for_sets(10, |random| {
        let coded = coded(random, false, Kinds::default());
        let rules = Rules {
            ceilings: ceilings(&coded),
            ..Rules::default()
        };
        let found = blocked(&coded, Protocol::ImmediateCeiling);
        for own in 0..coded.len() {
            let above: Vec<&Task> = coded[..own].iter().map(|coded| &coded.task).collect();
            // The simulated lock has lasted for a nanosecond when all others are released.
            let blocked = found[own].time - time(1);
            let computed = bound(&coded[own].task, &above, blocked);
            let first = found[own].by.first().map(|cause| cause.task);
            let each = |(rank, coded)| {
                let early = Some(rank) == first;
                let mut source = source(coded, rank, if early { 0 } else { 1 });
                if early {
                    source.period = END;
                } else if rank > own {
                    source.pieces.clear();
                }
                source
            };
            let mut sources: Vec<_> = coded.iter().enumerate().map(each).collect();
            // Its own ceilings would protect the task.
            let length = signed(coded[own].task.wcet);
            sources[own].pieces = vec![Piece::new(length, Holds::Nothing)];
            if let Response::Within(expected) = computed {
                let seen = run(sources, &rules, END, Until::Idle);
                assert_eq!(seen.worst[own], signed(expected), "{own} of {coded:?}");
            }
        }
    });
}

#[test]
fn sets_admitted_under_edf_with_deadline_floors_miss_no_deadline() {
    for_sets(20, |random| {
        let kinds = Kinds {
            jitter: true,
            late_deadlines: true,
            unpreempted: false,
        };
        let coded = coded(random, true, kinds);
        let sharing: Vec<_> = coded.iter().map(Coded::sharing).collect();
        if !demand_test(&sharing).is_feasible() {
            return;
        }
        let mut floors = BTreeMap::new();
        for coded in &coded {
            for section in &coded.sections {
                let due = signed(coded.task.deadline) - signed(coded.task.jitter);
                let floor = floors.entry(section.mutex).or_insert(due);
                *floor = due.min(*floor);
            }
        }
        let rules = Rules {
            by_deadline: true,
            ceilings: floors,
            ..Rules::default()
        };
        for first in 0..coded.len() {
            let each = |(at, coded)| source(coded, 0, if at == first { 0 } else { 1 });
            let sources = coded.iter().enumerate().map(each).collect();
            let seen = run(sources, &rules, 600, Until::Limit);
            assert_eq!(seen.missed, None);
        }
        let mut random_source = |coded: &Coded| {
            let mut source = Source::random(&coded.task, 0, random);
            source.pieces.clone_from(&coded.pieces);
            source
        };
        let sources = coded.iter().map(&mut random_source).collect();
        assert_eq!(run(sources, &rules, 600, Until::Limit).missed, None);
    });
}

#[test]
fn inheritance_sums_up_what_a_ceiling_takes_the_longest_of() {
    let task = Task::new(Time::from_millis(10), Time::from_millis(100));
    let section = |mutex, length| CriticalSection {
        mutex,
        length: Time::from_millis(length),
    };
    let (first, second) = ([section(1, 1), section(2, 1)], [section(1, 4)]);
    let (third, fourth) = ([section(2, 3), section(1, 2)], [section(3, 9)]);
    let locking = [(4, &first[..]), (3, &second), (2, &third), (1, &fourth)];
    let locking = locking.map(|(priority, sections)| Locking {
        prioritized: Prioritized {
            task: &task,
            priority,
        },
        sections,
    });
    let times = |protocol| {
        let found = blocking(&locking, protocol).into_iter();
        found.map(|blocking| blocking.time).collect::<Vec<_>>()
    };
    // By tasks 4 + 3, by mutexes 4 + 3; below the second by one task: 3; no other task locks mutex 3.
    let millis = |times: [u64; 4]| times.map(Time::from_millis);
    assert_eq!(times(Protocol::Inheritance), millis([7, 3, 0, 0]));
    assert_eq!(times(Protocol::Ceiling), millis([4, 3, 0, 0]));
    assert_eq!(times(Protocol::ImmediateCeiling), millis([4, 3, 0, 0]));
}
