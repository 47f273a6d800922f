//! Orders of priority that follow from the tasks' own needs.

use std::cmp::{Ordering, Reverse};

use crate::analysis::Task;
use crate::analysis::fixed_priority::Prioritized;
use crate::level::Level;
use crate::time::Time;

/// Task with the properties that decide between equals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Task.
    pub task: Task,
    /// Harm of a missed deadline.
    pub criticality: Level,
    /// Preference among tasks that are otherwise equal. It breaks ties after the analysis of all
    /// other needs, and never raises a task above one with a more urgent deadline.
    pub importance: Level,
}

/// Order of priority of tasks, without ties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    indices: Vec<usize>,
}

/// Orders by rate, the shortest period first: optimal for preemptive tasks without jitter or
/// blocking whose deadlines are their periods (Liu and Layland 1973). Ties are broken by
/// criticality, then importance, then index.
#[must_use]
pub fn rate_monotonic(candidates: &[Candidate]) -> Order {
    Order::by(candidates, |one, other| {
        one.task.period.cmp(&other.task.period)
    })
}

/// Orders by the time from the latest release to the deadline, `D - J`: optimal for preemptive tasks
/// whose deadlines are at most their periods, without jitter (Leung and Whitehead 1982) and with it
/// (Zuhily and Burns 2007). Ties are broken as by [`rate_monotonic`].
#[must_use]
pub fn deadline_monotonic(candidates: &[Candidate]) -> Order {
    Order::by(candidates, |one, other| {
        urgency(&one.task).cmp(&urgency(&other.task))
    })
}

/// Orders by criticality, then by `D - J`, then by importance. Not optimal: it protects critical
/// tasks from the overruns of others, at the price of utilisation.
#[must_use]
pub fn criticality_first(candidates: &[Candidate]) -> Order {
    let key = |one: &Candidate| (Reverse(one.criticality), urgency(&one.task));
    Order::by(candidates, |one, other| key(one).cmp(&key(other)))
}

/// Returns a key that orders tasks by `D - J`, also where the jitter is the longer of both.
pub(crate) fn urgency(task: &Task) -> (Time, Reverse<Time>) {
    let (deadline, jitter) = (task.deadline, task.jitter);
    (deadline - jitter, Reverse(jitter - deadline))
}

/// Compares candidates that are otherwise equal: the more critical one goes first, then the more
/// important one.
pub(crate) fn ties(one: &Candidate, other: &Candidate) -> Ordering {
    let key = |candidate: &Candidate| Reverse((candidate.criticality, candidate.importance));
    key(one).cmp(&key(other))
}

impl Candidate {
    /// Makes a candidate of medium criticality and importance.
    #[must_use]
    pub const fn new(task: Task) -> Self {
        Self {
            task,
            criticality: Level::Medium,
            importance: Level::Medium,
        }
    }

    /// Sets the criticality.
    #[must_use]
    pub fn with_criticality(mut self, criticality: Level) -> Self {
        self.criticality = criticality;
        self
    }

    /// Sets the importance.
    #[must_use]
    pub fn with_importance(mut self, importance: Level) -> Self {
        self.importance = importance;
        self
    }
}

impl Order {
    /// Sorts candidates; equal ones by criticality, importance and index.
    fn by(candidates: &[Candidate], compare: impl Fn(&Candidate, &Candidate) -> Ordering) -> Self {
        let mut indices: Vec<usize> = (0..candidates.len()).collect();
        indices.sort_by(|&one, &other| {
            let (one, other) = (&candidates[one], &candidates[other]);
            compare(one, other).then_with(|| ties(one, other))
        });
        Self { indices }
    }

    /// Takes indices in falling order of priority, each once.
    pub(crate) const fn of(indices: Vec<usize>) -> Self {
        Self { indices }
    }

    /// Returns the tasks' indices, the most urgent first.
    #[must_use]
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// Returns the priority of each task, in the order of the candidates: from zero for the least
    /// urgent up.
    #[must_use]
    pub fn priorities(&self) -> Vec<i32> {
        let mut priorities = vec![0; self.indices.len()];
        for (&index, priority) in self.indices.iter().rev().zip(0..) {
            priorities[index] = priority;
        }
        priorities
    }

    /// Returns the candidates' tasks with their priorities, in the order of the candidates,
    /// which must be the candidates that were ranked.
    #[must_use]
    pub fn prioritized<'t>(&self, candidates: &'t [Candidate]) -> Vec<Prioritized<'t>> {
        let tasks = candidates.iter().map(|candidate| &candidate.task);
        tasks
            .zip(self.priorities())
            .map(|(task, priority)| Prioritized { task, priority })
            .collect()
    }
}
