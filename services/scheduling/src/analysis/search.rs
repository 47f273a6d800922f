//! Search for the end of an interval that its own length fills with work.

use super::task::Task;
use crate::time::Time;

/// Number of steps after which an analysis of one task is given up.
const EFFORT: u32 = 100_000;

/// Steps that an analysis may still take.
#[derive(Debug)]
pub(super) struct Effort(u32);

impl Effort {
    /// Makes the effort for one task.
    pub(super) const fn new() -> Self {
        Self(EFFORT)
    }

    /// Takes one step; `None` if there is none left.
    pub(super) fn step(&mut self) -> Option<()> {
        self.0 = self.0.checked_sub(1)?;
        Some(())
    }
}

/// Work that tasks request from their common release on: each with its maximum jitter first, and
/// then at its minimum distance.
///
/// The intervals asked for never become shorter; so most tasks need a comparison, not a division.
#[derive(Debug)]
pub(super) struct Requests<'t> {
    tasks: Vec<Requested<'t>>,
    total: Time,
}

/// Jobs of one task so far.
#[derive(Debug)]
struct Requested<'t> {
    /// Longest interval with the same number of jobs.
    until: Time,
    jobs: u64,
    task: &'t Task,
}

impl<'t> Requests<'t> {
    /// Starts at the common release of tasks.
    pub(super) fn of(tasks: impl Iterator<Item = &'t Task>) -> Self {
        let tasks = tasks
            .map(|task| Requested {
                until: Time::ZERO,
                jobs: 0,
                task,
            })
            .collect();
        Self {
            tasks,
            total: Time::ZERO,
        }
    }

    /// Returns the work requested in an interval, open at its end, at least as long as the last one.
    pub(super) fn within(&mut self, length: Time) -> Time {
        for requested in &mut self.tasks {
            if length <= requested.until {
                continue;
            }
            let task = requested.task;
            let jobs = releases(task, length);
            self.total = self.total + task.wcet * (jobs - requested.jobs);
            requested.jobs = jobs;
            requested.until = task.period.max(Time::from_nanos(1)) * jobs - task.jitter;
        }
        self.total
    }
}

/// Returns the maximum number of jobs of a task that are released in an interval, open at its end.
pub(crate) fn releases(task: &Task, length: Time) -> u64 {
    if length.is_zero() {
        return 0;
    }
    let window = length + task.jitter;
    window.as_nanos().div_ceil(task.period.as_nanos().max(1))
}

/// Returns the least time, from `from` on, that the demand up to it does not exceed; `None` if there
/// is none within a day, or the effort ends.
pub(super) fn fixed_point(
    from: Time,
    effort: &mut Effort,
    mut demand: impl FnMut(Time) -> Time,
) -> Option<Time> {
    let mut time = from;
    while time <= Time::LONGEST {
        effort.step()?;
        let needed = demand(time);
        if needed <= time {
            return Some(time);
        }
        time = needed;
    }
    None
}
