//! Response times under fixed priorities, exact for sporadic tasks with release jitter and any
//! deadline: preemptive (Joseph and Pandya 1986; Audsley et al. 1993; Tindell, Burns and Wellings
//! 1994), and with segments that are not preempted (Davis et al. 2007).
//!
//! The crate `response-time-analysis` adds the jitter to jobs that cannot have all of it, which is
//! safe, not exact; tests compare both.
//!
//! Tasks of equal priority are served in order of arrival by `SCHED_FIFO`; the analysis takes each
//! for the others' superior, which is safe. So is taking the offsets of all tasks for unknown.

use super::task::{Preemption, Response, Task};
use crate::time::Time;

/// Number of jobs of one busy period, and of steps of one search, after which a bound is given up.
const EFFORT: u64 = 100_000;

/// Rounding error of a sum of utilisations; a processor that is just full is not overloaded.
const ROUNDING: f64 = 1e-9;

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
    let own = tasks[index];
    let others = || {
        let others = tasks.iter().enumerate().filter(|(at, _)| *at != index);
        others.map(|(_, other)| other)
    };
    let above: Vec<&Task> = others()
        .filter(|other| other.priority >= own.priority)
        .map(|other| other.task)
        .collect();
    let held_up = others()
        .filter(|other| other.priority < own.priority)
        .map(|other| held_up_by(other.task))
        .max();
    bound(
        own.task,
        &above,
        own.task.blocking.max(held_up.unwrap_or_default()),
    )
}

/// Returns the time for which a job of lower priority goes on that has just begun a section without
/// preemption.
pub(crate) fn held_up_by(below: &Task) -> Time {
    below.longest_section() - Time::from_nanos(1)
}

/// Returns the response time of a task, given the tasks of higher or equal priority on its
/// processor, and the longest time for which tasks of lower priority hold it up.
#[must_use]
pub fn bound(own: &Task, above: &[&Task], blocking: Time) -> Response {
    let level = Level {
        own,
        above,
        blocking,
        tail: tail(own),
    };
    if level.is_overloaded() {
        return Response::Unbounded;
    }
    level
        .worst_response()
        .map_or(Response::Unbounded, Response::Within)
}

/// Returns the length of the last part of a job, during which it is not preempted.
pub(crate) fn tail(task: &Task) -> Time {
    match task.preemption {
        Preemption::Full | Preemption::Floating { .. } => Time::ZERO,
        Preemption::None => task.wcet,
        Preemption::Segments { last, .. } => last.min(task.wcet),
    }
}

/// Processor as a task sees it: with the tasks that go before it.
struct Level<'t> {
    own: &'t Task,
    above: &'t [&'t Task],
    blocking: Time,
    tail: Time,
}

impl Level<'_> {
    /// Returns whether the tasks take more than the whole processor.
    fn is_overloaded(&self) -> bool {
        let all = self.above.iter().copied().chain([self.own]);
        super::utilisation(all) > 1.0 + ROUNDING
    }

    /// Returns the worst response time of all jobs of a busy period; `None` if there is no bound
    /// within the limits.
    fn worst_response(&self) -> Option<Time> {
        let jobs = self.jobs()?;
        let (own, mut worst, mut begin) = (self.own, Time::ZERO, Time::ZERO);
        for job in 0..jobs {
            // Each job ends after the one before it: the search goes on from there.
            begin = self.begin_of_tail(job, begin)?;
            let end = begin + self.tail + own.jitter;
            worst = worst.max(end - own.period * job);
        }
        Some(worst)
    }

    /// Returns the number of the task's jobs in the longest busy period of its priority.
    fn jobs(&self) -> Option<u64> {
        let own = self.own;
        let demand = |length: Time| {
            let own = own.wcet * releases(own, length);
            self.blocking + own + self.interference(length)
        };
        let length = fixed_point(own.wcet.max(Time::from_nanos(1)), demand)?;
        Some(releases(own, length)).filter(|&jobs| jobs <= EFFORT)
    }

    /// Returns the time, from the start of the busy period, at which a job begins its tail; its end
    /// if it has none.
    fn begin_of_tail(&self, job: u64, from: Time) -> Option<Time> {
        let own = self.own.wcet * (job + 1) - self.tail;
        // A job that arrives at the very moment at which the tail could begin goes before it.
        let closed = Time::from_nanos(u64::from(!self.tail.is_zero()));
        let least = self.blocking + own;
        fixed_point(from.max(least), |time| {
            least + self.interference(time + closed)
        })
    }

    /// Returns the demand of higher priorities in an interval that is open at its end.
    fn interference(&self, length: Time) -> Time {
        let demand = |task: &&Task| task.wcet * releases(task, length);
        self.above.iter().map(demand).sum()
    }
}

/// Returns the maximum number of jobs of a task that are released in an interval, open at its end.
pub(crate) fn releases(task: &Task, length: Time) -> u64 {
    let window = length + task.jitter;
    window.as_nanos().div_ceil(task.period.as_nanos())
}

/// Returns the least time, from `from` on, that the demand up to it does not exceed.
fn fixed_point(from: Time, demand: impl Fn(Time) -> Time) -> Option<Time> {
    let mut time = from;
    for _ in 0..EFFORT {
        let needed = demand(time);
        if needed <= time {
            return Some(time);
        }
        if needed > Time::LONGEST {
            return None;
        }
        time = needed;
    }
    None
}
