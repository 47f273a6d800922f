//! Processor time that a reservation (`SCHED_DEADLINE`) guarantees to the tasks in it.
//!
//! An admitted reservation gets its runtime before its deadline in each of its periods. The worst
//! case is a first period served at once and a next one served at its deadline (Shin and Lee 2003;
//! with deadlines below the period, Easwaran, Anand and Lee 2007). The supply models are those of
//! the crate `response-time-analysis`.

use super::edf::{Demand, Sharing, Verdict};
use super::fixed_priority::{Level, Prioritized, above, blocking};
use super::task::{Response, Task};
use crate::time::Time;

pub use super::reservation::{Reservation, ReservationError};

impl Reservation {
    /// Returns the response time of a task whose thread has the reservation for itself.
    ///
    /// A job that fits into the runtime, and comes no sooner than a period after the one before it,
    /// finds the runtime unused, and a deadline counted from its release (Abeni and Buttazzo 1998).
    #[must_use]
    pub fn alone(self, task: &Task) -> Response {
        let shared = Level::new(task, &[], task.blocking).within(self).response();
        let fits = task.wcet <= self.runtime() && task.blocking.is_zero();
        let fresh = fits && task.period - task.jitter >= self.period();
        match shared {
            Response::Within(time) if fresh => Response::Within(time.min(self.fresh(task))),
            Response::Unbounded if fresh => Response::Within(self.fresh(task)),
            other => other,
        }
    }

    /// Returns the response times of tasks that share the reservation under fixed priorities.
    #[must_use]
    pub fn responses(self, tasks: &[Prioritized<'_>]) -> Vec<Response> {
        let response = |index: usize| {
            let superiors: Vec<&Task> = above(tasks, index).map(|at| tasks[at].task).collect();
            let (blocking, _) = blocking(tasks, index);
            Level::new(tasks[index].task, &superiors, blocking)
                .within(self)
                .response()
        };
        (0..tasks.len()).map(response).collect()
    }

    /// Tests tasks that share the reservation under EDF. The interval of an excess is one whose
    /// supply is less than its demand.
    #[must_use]
    pub fn demand_test(self, tasks: &[Sharing<'_>]) -> Verdict {
        Demand::new(tasks, &[], Time::ZERO).within(self).verdict()
    }

    /// Returns the response time of a job that finds the reservation unused.
    fn fresh(self, task: &Task) -> Time {
        self.deadline() + task.jitter
    }
}

/// Returns the reservation of a period, with its deadline at the end, that has the least runtime for
/// a task alone in it; `None` if not even the whole processor meets the task's deadline.
#[must_use]
pub fn least_for_task(task: &Task, period: Time) -> Option<Reservation> {
    least(period, |reservation| {
        reservation.alone(task).meets(task.deadline)
    })
}

/// Returns the reservation of a period, with its deadline at the end, that has the least runtime for
/// tasks under fixed priorities; `None` if not even the whole processor meets their deadlines.
#[must_use]
pub fn least_for_tasks(tasks: &[Prioritized<'_>], period: Time) -> Option<Reservation> {
    least(period, |reservation| {
        let responses = reservation.responses(tasks);
        let mut met = responses.iter().zip(tasks);
        met.all(|(response, own)| response.meets(own.task.deadline))
    })
}

/// Returns the least reservation that is enough: more runtime is never worse.
fn least(period: Time, is_enough: impl Fn(Reservation) -> bool) -> Option<Reservation> {
    let of = |runtime| Reservation::new(Time::from_nanos(runtime), period, period).ok();
    let (mut little, mut enough) = (0, period.as_nanos());
    of(enough).filter(|whole| is_enough(*whole))?;
    while enough - little > 1 {
        let middle = little + (enough - little) / 2;
        if is_enough(of(middle)?) {
            enough = middle;
        } else {
            little = middle;
        }
    }
    of(enough)
}
