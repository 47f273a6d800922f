//! Response times under fixed priorities, exact for sporadic tasks with release jitter and any
//! deadline: preemptive (Joseph and Pandya 1986; Audsley et al. 1993; Tindell, Burns and Wellings
//! 1994), and without preemption, wholly or in segments (Davis et al. 2007).
//!
//! The crate `response-time-analysis` adds the jitter to jobs that cannot have all of it, which is
//! safe, not exact; tests compare both.
//!
//! Tasks of equal priority are served in order of arrival by `SCHED_FIFO`; the analysis takes each
//! for the others' superior, which is safe. So is taking the offsets of all tasks for unknown, and
//! each segment of a lower task for one that a job may begin with.

mod explain;
mod level;

use super::task::{Response, Task};
use crate::time::Time;
pub use explain::{Blocker, Explanation, Interference, explain};
pub(super) use level::Level;
pub(crate) use level::tail;

/// Task with its priority.
#[derive(Clone, Copy, Debug)]
pub struct Prioritized<'t> {
    /// Task of the processor.
    pub task: &'t Task,
    /// Priority; larger numbers are served first, as in CORBA and POSIX.
    pub priority: i32,
}

/// Returns the response times of all tasks of a processor, in their order.
#[must_use]
pub fn responses(tasks: &[Prioritized<'_>]) -> Vec<Response> {
    (0..tasks.len())
        .map(|index| response(tasks, index))
        .collect()
}

/// Returns the response time of one task among the tasks of its processor.
///
/// # Panics
/// If `index` is not below the number of tasks.
#[must_use]
pub fn response(tasks: &[Prioritized<'_>], index: usize) -> Response {
    let above: Vec<&Task> = above(tasks, index).map(|at| tasks[at].task).collect();
    bound(tasks[index].task, &above, blocking(tasks, index).0)
}

/// Returns the response time of a task, given the tasks of higher or equal priority on its
/// processor, and the longest time for which tasks of lower priority hold it up.
#[must_use]
pub fn bound(own: &Task, above: &[&Task], blocking: Time) -> Response {
    Level::new(own, above, blocking).response()
}

/// Returns the time for which a job of lower priority goes on that has just begun a section without
/// preemption.
pub(crate) fn held_up_by(below: &Task) -> Time {
    below.longest_section() - Time::from_nanos(1)
}

/// Returns the indices of the tasks that go before a task: those of higher or equal priority.
pub(super) fn above(tasks: &[Prioritized<'_>], index: usize) -> impl Iterator<Item = usize> {
    let own = tasks[index].priority;
    (0..tasks.len()).filter(move |&at| at != index && tasks[at].priority >= own)
}

/// Returns the longest time for which lower tasks hold a task up, and what does.
pub(super) fn blocking(tasks: &[Prioritized<'_>], index: usize) -> (Time, Blocker) {
    let own = tasks[index];
    if own.task.is_interference {
        return (Time::ZERO, Blocker::Nothing);
    }
    let below = (0..tasks.len()).filter(|&at| tasks[at].priority < own.priority);
    let longest = below
        .map(|at| (held_up_by(tasks[at].task), Blocker::Section(at)))
        .max_by_key(|(time, _)| *time)
        .unwrap_or((Time::ZERO, Blocker::Nothing));
    if own.task.blocking.max(longest.0).is_zero() {
        (Time::ZERO, Blocker::Nothing)
    } else if own.task.blocking > longest.0 {
        (own.task.blocking, Blocker::Mutexes)
    } else {
        longest
    }
}
