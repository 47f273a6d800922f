//! Terms of a response time: what a task waits for.

use super::{Level, Prioritized, above, blocking};
use crate::analysis::search::releases;
use crate::analysis::task::Task;
use crate::time::Time;

/// Terms of a response time, in its worst job of a busy period. They sum up exactly to the response
/// time: `jitter + blocking + execution + interference - elapsed`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Response time of the task, counted from its nominal release.
    pub response: Time,
    /// Release jitter of the task.
    pub jitter: Time,
    /// Time for which a task of lower priority holds the task up.
    pub blocking: Time,
    /// Origin of the blocking.
    pub blocker: Blocker,
    /// Number of the worst job in its busy period; the first is 0.
    pub job: u64,
    /// Execution of the worst job and of the jobs of the task before it in the busy period.
    pub execution: Time,
    /// Distance of the nominal releases of the first job and the worst one.
    pub elapsed: Time,
    /// Interference by the tasks that go before this one, in order of their indices.
    pub interference: Vec<Interference>,
}

/// Origin of a blocking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocker {
    /// No task blocks.
    Nothing,
    /// Mutexes: the blocking that the task was given.
    Mutexes,
    /// Section without preemption of the task with this index.
    Section(usize),
}

/// Interference by one task of higher or equal priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interference {
    /// Index of the task.
    pub task: usize,
    /// Number of its jobs.
    pub jobs: u64,
    /// Execution time of these jobs.
    pub time: Time,
}

/// Returns the terms of the response time of a task; `None` if it is unbounded.
///
/// # Panics
/// If `index` is not below the number of tasks.
#[must_use]
pub fn explain(tasks: &[Prioritized<'_>], index: usize) -> Option<Explanation> {
    let own = tasks[index].task;
    let order: Vec<usize> = above(tasks, index).collect();
    let superiors: Vec<&Task> = order.iter().map(|&at| tasks[at].task).collect();
    let (blocking, blocker) = blocking(tasks, index);
    let worst = Level::new(own, &superiors, blocking).worst()?;
    let interference = order.iter().map(|&task| {
        let within = match tasks[task].task.is_interference {
            true => worst.interrupted,
            false => worst.exposed,
        };
        let jobs = releases(tasks[task].task, within);
        let time = tasks[task].task.wcet * jobs;
        Interference { task, jobs, time }
    });
    Some(Explanation {
        response: worst.response,
        jitter: own.jitter,
        blocking,
        blocker,
        job: worst.job,
        execution: own.wcet * (worst.job + 1),
        elapsed: own.period * worst.job,
        interference: interference.collect(),
    })
}
