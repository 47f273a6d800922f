//! Partitioned multiprocessors: each task on one processor, for good. Pinned tasks stay where they
//! are.
//!
//! The heuristics of bin packing come first, in falling order of utilisation (Lopez et al. 2004
//! compare them); a bounded search follows where all of them fail, as the problem is NP-hard.

mod admission;
mod place;
mod processors;
mod search;

use std::cmp::Ordering;

pub use admission::{Admission, DeadlineMonotonic};
pub use place::{partition, place, search};

use crate::analysis::Task;

/// Tasks and the processors for them.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'t> {
    /// Tasks.
    pub tasks: &'t [Task],
    /// Processor of each task that must not be moved. Tasks behind the end of the slice are free.
    pub pinned: &'t [Option<usize>],
    /// Number of processors.
    pub processors: usize,
}

/// Rule that chooses the processor of a task among those with room for it.
///
/// With [`DeadlineMonotonic`], a processor of more than 32 tasks first counts as one with room if
/// cheap upper bounds of the response times say so; the exact test decides if no processor is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heuristic {
    /// No choice: every task has to be pinned.
    Pinned,
    /// First processor with room: leaves the last processors empty.
    FirstFit,
    /// Processor with the least unused utilisation.
    BestFit,
    /// Processor with the most unused utilisation: spreads the load.
    WorstFit,
}

/// Tasks on their processors, of which each passed the admission test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Processor of each task.
    pub processors: Vec<usize>,
    /// Number of admission tests that were made.
    pub tests: u64,
}

/// Reason why tasks were not placed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PartitionError {
    /// There is no processor.
    #[error("there is no processor to place tasks on")]
    NoProcessors,
    /// A task is pinned to a processor that does not exist.
    #[error("task {task} is pinned to processor {processor}, which does not exist")]
    UnknownProcessor {
        /// Index of the task.
        task: usize,
        /// Number of the processor.
        processor: usize,
    },
    /// A processor cannot take its pinned tasks, whatever the place of others.
    #[error(
        "task {task} does not fit on processor {processor} beside others that are pinned to it"
    )]
    PinnedTooMuch {
        /// Index of the first task that does not fit.
        task: usize,
        /// Number of the processor.
        processor: usize,
    },
    /// A heuristic found no processor for a task. Another one, or the search, may.
    #[error("no processor has room for task {task}")]
    NoRoom {
        /// Index of the task.
        task: usize,
        /// Places of the tasks before it.
        placed: Vec<Option<usize>>,
    },
    /// The search tried all placements: there is none.
    #[error("no placement passes the admission test: the search tried all")]
    Impossible,
    /// The search ended at its limit; there may be a placement.
    #[error("the search for a placement gave up after {tests} admission tests")]
    GaveUp {
        /// Number of tests that were made.
        tests: u64,
    },
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for PartitionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Placement {
    /// Returns the tasks of each processor, as indices in rising order.
    #[must_use]
    pub fn by_processor(&self, count: usize) -> Vec<Vec<usize>> {
        let mut tasks = vec![Vec::new(); count];
        for (task, &processor) in self.processors.iter().enumerate() {
            if let Some(tasks) = tasks.get_mut(processor) {
                tasks.push(task);
            }
        }
        tasks
    }

    /// Returns the processors, other than its own, that would admit a task if it moved there.
    ///
    /// # Panics
    /// If the placement is not one of these tasks, or `task` is not below their number.
    #[must_use]
    pub fn moves(
        &self,
        tasks: &[Task],
        count: usize,
        task: usize,
        admission: &impl Admission,
    ) -> Vec<usize> {
        moves(tasks, &self.processors, count, task, admission)
    }
}

/// Returns the processors that would admit a task if it moved there from its own; for tasks whose
/// places need not pass the test.
///
/// # Panics
/// If `places` is shorter than `tasks`, or `task` is not below the number of tasks.
#[must_use]
pub fn moves(
    tasks: &[Task],
    places: &[usize],
    count: usize,
    task: usize,
    admission: &impl Admission,
) -> Vec<usize> {
    let admits = |&processor: &usize| {
        let is_there = |&other: &usize| other == task || places[other] == processor;
        let mut there: Vec<&Task> = (0..tasks.len())
            .filter(is_there)
            .map(|other| &tasks[other])
            .collect();
        there.sort_by_key(|other| super::rank::urgency(other));
        admission.admits(&there)
    };
    let others = (0..count).filter(|&processor| processor != places[task]);
    others.filter(admits).collect()
}

/// Compares tasks by utilisation, exactly; the largest first.
fn by_utilisation(one: &Task, other: &Task) -> Ordering {
    let share = |task: &Task, period: &Task| {
        u128::from(task.wcet.as_nanos()) * u128::from(period.period.as_nanos())
    };
    share(other, one).cmp(&share(one, other))
}
