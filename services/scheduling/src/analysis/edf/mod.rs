//! Earliest deadline first on one processor: the demand test, and response times.
//!
//! The demand test is exact for preemptive tasks, and for tasks without preemption, with release
//! jitter and any deadline (Baruah, Rosier and Howell 1990; George, Rivierre and Spuri 1996); safe for
//! tasks with segments or sections, which it expects at the worst place. It visits few intervals, by
//! quick processor-demand analysis (Zhang and Burns 2009).
//!
//! Deadlines order the jobs by their absolute values, counted from nominal releases. Mutexes follow
//! the stack resource policy (Baker 1991) if no task has jitter, or, with any jitter, the deadline
//! floor protocol (Burns et al. 2015): the holder of a mutex has a deadline no later than the lock
//! and the shortest time, from release to deadline, of the tasks that lock the mutex.

mod demand;
mod response;
mod test;

use super::blocking::CriticalSection;
use super::task::Task;
use crate::time::Time;
pub(super) use demand::Demand;
pub use response::{response, responses, responses_beside};
pub use test::{band_test, bands, demand_test};

/// Task with its critical sections.
#[derive(Clone, Copy, Debug)]
pub struct Sharing<'t> {
    /// Task. Its [`blocking`](Task::blocking) counts in each interval in which a job falls due.
    pub task: &'t Task,
    /// Critical sections of a job.
    pub sections: &'t [CriticalSection],
}

/// Task with the priority of its band: fixed priorities between bands, EDF inside a band, as in
/// maximum urgency first (Stewart and Khosla 1991).
#[derive(Clone, Copy, Debug)]
pub struct Banded<'t> {
    /// Task and its critical sections, on mutexes of tasks of the same band only. Give blocking by
    /// lower bands in [`Task::blocking`].
    pub sharing: Sharing<'t>,
    /// Priority of the band; larger numbers are served first.
    pub priority: i32,
}

/// Verdict on the tasks of a processor, or of one band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All deadlines are met.
    Feasible,
    /// More work falls due in an interval than it has time for.
    Exceeded(Excess),
    /// The tasks need more than the whole processor in the long run.
    Overloaded,
    /// The test was given up: the longest busy period exceeds a day, has too many jobs, or does not end,
    /// as the tasks need the whole processor in the long run and are behind by jitter or blocking.
    Undecided,
}

/// Interval in which the processor has too little time; the three times sum up to more than it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excess {
    /// Length of the interval: all tasks are released at its start, a deadline is at its end.
    pub interval: Time,
    /// Execution time of jobs that are released, and fall due, within it.
    pub demand: Time,
    /// Time taken by a job with a later deadline that has begun a section, or by a lower band.
    pub blocking: Time,
    /// Execution time of jobs of higher bands that are released within it.
    pub above: Time,
}

impl Verdict {
    /// Returns whether all deadlines are met.
    #[must_use]
    pub const fn is_feasible(self) -> bool {
        matches!(self, Self::Feasible)
    }
}
