//! Blocking of tasks by mutexes that tasks of lower priority hold (Sha, Rajkumar and Lehoczky 1990).
//!
//! All tasks are those of one processor: only their priorities make the ceiling of a mutex. A task
//! of lower priority blocks another by a section whose mutex has a ceiling at or above the other's
//! priority. A task of equal priority does not: it interferes, by whole jobs.
//!
//! A section without preemption blocks like a mutex of the highest ceiling, and is counted here too.
//! But it begins while others hold mutexes, unless they have their ceilings at once: under inheritance,
//! and under priority ceilings, it adds to the mutexes, so that the longer of both would not be safe.

use std::collections::BTreeMap;

use super::fixed_priority::{Prioritized, held_up_by};
use super::nesting::Groups;
use crate::time::Time;

/// Protocol of the mutexes of one processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Priority inheritance: the holder of a mutex takes over the priority of the tasks that wait.
    /// Sections of one task are taken for nested: a task that waits for the inner mutex passes the
    /// priority that it inherits by the outer one on to the inner one's holder.
    Inheritance,
    /// Priority ceiling: a task locks a mutex only if its priority is above the ceilings of all
    /// mutexes that others hold.
    Ceiling,
    /// Immediate priority ceiling (in POSIX: protect): the holder of a mutex has its ceiling. Blocks
    /// no longer than [`Protocol::Ceiling`], with fewer changes of the running task.
    ImmediateCeiling,
}

/// Section of a job that holds a mutex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CriticalSection {
    /// Index of the mutex.
    pub mutex: usize,
    /// Maximum execution time from lock to unlock, with that of sections nested in it.
    pub length: Time,
}

/// Task with its priority and its critical sections.
#[derive(Clone, Copy, Debug)]
pub struct Locking<'t> {
    /// Task and priority. [`Task::blocking`](super::Task::blocking) is not read.
    pub prioritized: Prioritized<'t>,
    /// Critical sections of a job.
    pub sections: &'t [CriticalSection],
}

/// Blocking of one task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocking {
    /// Longest time for which tasks of lower priority hold the task up, once in each busy period.
    pub time: Time,
    /// Sections that sum up to the time.
    pub by: Vec<Cause>,
}

/// Section by which a task of lower priority blocks another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Index of the task of lower priority.
    pub task: usize,
    /// Mutex that it holds; `None` in a section without preemption.
    pub mutex: Option<usize>,
    /// Time for which it blocks.
    pub length: Time,
}

/// Returns the blocking of each task of a processor, in their order.
///
/// Exact for immediate ceilings if a critical section may stand anywhere in a job, and for priority ceilings without
/// sections without preemption. Under inheritance a safe
/// bound, nested sections included: the lesser of the sums of the longest sections over tasks, and over
/// mutexes, as each task holds one outermost section at most when the blocking begins.
#[must_use]
pub fn blocking(tasks: &[Locking<'_>], protocol: Protocol) -> Vec<Blocking> {
    let mut ceilings = ceilings(tasks);
    if protocol == Protocol::Inheritance {
        raise_nested(tasks, &mut ceilings);
    }
    (0..tasks.len())
        .map(|own| {
            let causes = causes(tasks, own, &ceilings);
            match protocol {
                Protocol::Inheritance => inherited(causes),
                Protocol::Ceiling => longest_of_two(causes),
                Protocol::ImmediateCeiling => longest(causes),
            }
        })
        .collect()
}

/// Returns the ceiling of each mutex: the highest priority of the tasks that lock it.
#[must_use]
pub fn ceilings(tasks: &[Locking<'_>]) -> BTreeMap<usize, i32> {
    let mut ceilings = BTreeMap::new();
    for task in tasks {
        for section in task.sections {
            let ceiling = ceilings.entry(section.mutex).or_insert(i32::MIN);
            *ceiling = task.prioritized.priority.max(*ceiling);
        }
    }
    ceilings
}

/// Raises the ceiling of each mutex to the highest of its group: the holder of a nested mutex inherits
/// the priorities of tasks that wait for the outer one.
fn raise_nested(tasks: &[Locking<'_>], ceilings: &mut BTreeMap<usize, i32>) {
    let mut groups = Groups::default();
    for task in tasks {
        groups.add(task.sections.iter().map(|section| section.mutex));
    }
    let mut highest = BTreeMap::new();
    for (&mutex, &ceiling) in ceilings.iter() {
        let of_group = highest.entry(groups.root(mutex)).or_insert(ceiling);
        *of_group = ceiling.max(*of_group);
    }
    for (&mutex, ceiling) in ceilings {
        if let Some(&of_group) = highest.get(&groups.root(mutex)) {
            *ceiling = of_group;
        }
    }
}

/// Returns all sections that can block a task.
fn causes<'a>(
    tasks: &'a [Locking<'_>],
    own: usize,
    ceilings: &'a BTreeMap<usize, i32>,
) -> impl Iterator<Item = Cause> + 'a {
    let own = tasks[own].prioritized.priority;
    let below = (0..tasks.len()).filter(move |&at| tasks[at].prioritized.priority < own);
    below.flat_map(move |task| {
        let blocks = move |section: &&CriticalSection| {
            let ceiling = ceilings.get(&section.mutex);
            ceiling.is_some_and(|&ceiling| ceiling >= own)
        };
        let locked = tasks[task].sections.iter().filter(blocks);
        let locked = locked.map(move |section| (Some(section.mutex), section.length));
        let unpreempted = (None, held_up_by(tasks[task].prioritized.task));
        let all = locked.chain([unpreempted]);
        all.filter(|(_, length)| !length.is_zero())
            .map(move |(mutex, length)| Cause {
                task,
                mutex,
                length,
            })
    })
}

/// Returns the blocking by one section: the longest.
fn longest(causes: impl Iterator<Item = Cause>) -> Blocking {
    let by: Vec<_> = causes
        .max_by_key(|cause| cause.length)
        .into_iter()
        .collect();
    sum(by)
}

/// Returns the blocking by a mutex that one task holds, and a section without preemption of another that has preempted it;
/// or by one of both.
fn longest_of_two(causes: impl Iterator<Item = Cause>) -> Blocking {
    let (locked, unpreempted): (Vec<_>, Vec<_>) = causes.partition(|cause| cause.mutex.is_some());
    let longest_beside = |task: Option<usize>| {
        let others = locked.iter().filter(|cause| Some(cause.task) != task);
        others.max_by_key(|cause| cause.length).copied()
    };
    let longest_of_all = longest_beside(None);
    let beside = |cause: &Cause| match longest_of_all {
        Some(longest) if longest.task == cause.task => longest_beside(Some(cause.task)),
        longest => longest,
    };
    let of_two = unpreempted
        .iter()
        .map(|cause| sum(beside(cause).into_iter().chain([*cause]).collect()));
    let alone = longest_of_all.map(|cause| sum(vec![cause]));
    let all = of_two.chain(alone);
    all.max_by_key(|blocking| blocking.time).unwrap_or_default()
}

/// Returns the blocking by one section of each task, or by one section on each mutex.
fn inherited(causes: impl Iterator<Item = Cause>) -> Blocking {
    let (mut by_task, mut by_mutex) = (BTreeMap::new(), BTreeMap::new());
    for cause in causes {
        keep_longest(by_task.entry(cause.task).or_insert(cause), cause);
        keep_longest(by_mutex.entry(cause.mutex).or_insert(cause), cause);
    }
    let by_task = sum(by_task.into_values().collect());
    let by_mutex = sum(by_mutex.into_values().collect());
    std::cmp::min_by_key(by_task, by_mutex, |blocking| blocking.time)
}

/// Replaces a section by a longer one.
fn keep_longest(kept: &mut Cause, cause: Cause) {
    if kept.length < cause.length {
        *kept = cause;
    }
}

/// Makes the blocking of the sections that cause it.
fn sum(by: Vec<Cause>) -> Blocking {
    let time = by.iter().map(|cause| cause.length).sum();
    Blocking { time, by }
}
