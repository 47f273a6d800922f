//! Analysis of the tasks of one processor, and of chains of tasks over several.
//!
//! Times count from a task's nominal release: the response time of a task with release jitter
//! contains the jitter.

pub mod admission;
pub mod blocking;
pub mod bounds;
pub mod edf;
pub mod fixed_priority;
mod nesting;
mod occupancy;
mod reservation;
mod search;
pub mod supply;
mod task;

pub use task::{Preemption, Response, Task};

/// Returns the share of a processor that tasks take in the long run; 1.0 for all of it.
#[must_use]
pub fn utilisation<'t>(tasks: impl IntoIterator<Item = &'t Task>) -> f64 {
    let share = |task: &Task| task.wcet.ratio(task.period);
    tasks.into_iter().map(share).sum()
}
