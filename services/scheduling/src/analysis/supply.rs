//! Time that a reservation of a processor (`SCHED_DEADLINE`) guarantees to the tasks in it.
//!
//! An admitted reservation gets its runtime before its deadline in each of its periods. The worst
//! case is a first period served at once and a next one served at its deadline (Shin and Lee 2003;
//! with deadlines below the period, Easwaran, Anand and Lee 2007). The supply models are those of
//! the crate `response-time-analysis`.

use response_time_analysis::supply::{Constrained, SupplyBound};
use response_time_analysis::time::{Duration, Service};

use super::edf::{Demand, Sharing, Verdict};
use super::fixed_priority::{Level, Prioritized, above, blocking};
use super::task::{Response, Task};
use crate::time::Time;

/// Reservation of a processor: a runtime before a deadline, in each period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    runtime: Time,
    deadline: Time,
    period: Time,
}

/// Reason why a reservation is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReservationError {
    /// The runtime is zero.
    #[error("a reservation without runtime serves nothing")]
    NoRuntime,
    /// Runtime, deadline and period do not rise in this order.
    #[error("runtime {0}, deadline {1}, period {2}: each has to be at most the next")]
    Order(Time, Time, Time),
    /// The period is longer than [`Time::LONGEST`].
    #[error("the period {0} is longer than a day")]
    TooLong(Time),
}

impl Reservation {
    /// Makes a reservation.
    ///
    /// # Errors
    /// Unless 0 < runtime ≤ deadline ≤ period ≤ [`Time::LONGEST`].
    pub fn new(runtime: Time, deadline: Time, period: Time) -> Result<Self, ReservationError> {
        if runtime.is_zero() {
            return Err(ReservationError::NoRuntime);
        }
        if runtime > deadline || deadline > period {
            return Err(ReservationError::Order(runtime, deadline, period));
        }
        if period > Time::LONGEST {
            return Err(ReservationError::TooLong(period));
        }
        Ok(Self {
            runtime,
            deadline,
            period,
        })
    }

    /// Returns the runtime in each period.
    #[must_use]
    pub const fn runtime(self) -> Time {
        self.runtime
    }

    /// Returns the time from the start of a period within which the runtime is served.
    #[must_use]
    pub const fn deadline(self) -> Time {
        self.deadline
    }

    /// Returns the period.
    #[must_use]
    pub const fn period(self) -> Time {
        self.period
    }

    /// Returns the least service in any interval of a length during which there is work.
    #[must_use]
    pub fn supply(self, interval: Time) -> Time {
        let interval = Duration::from(interval.min(Time::LONGEST).as_nanos());
        Time::from_nanos(Duration::from(self.model().provided_service(interval)).into())
    }

    /// Returns the longest time that some work takes.
    #[must_use]
    pub fn time_for(self, work: Time) -> Time {
        let periods = (work.as_nanos() / self.runtime.as_nanos()).saturating_add(3);
        // The crate does not check for overflow.
        if self.period * periods > Time::MAX - Time::LONGEST {
            return Time::MAX;
        }
        let time = self.model().service_time(Service::from(work.as_nanos()));
        Time::from_nanos(time.into())
    }

    /// Returns the response time of a task whose thread has the reservation for itself.
    ///
    /// A job that fits into the runtime, and comes no sooner than a period after the one before it,
    /// finds the runtime unused, and a deadline counted from its release (Abeni and Buttazzo 1998).
    #[must_use]
    pub fn alone(self, task: &Task) -> Response {
        let shared = Level::new(task, &[], task.blocking).within(self).response();
        let fits = task.wcet <= self.runtime && task.blocking.is_zero();
        let fresh = fits && task.period - task.jitter >= self.period;
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

    /// Returns the rest of the processor, as time in a period.
    pub(super) const fn rest(self) -> (Time, Time) {
        let rest = self.period.saturating_sub(self.runtime);
        (rest, self.period)
    }

    /// Returns the response time of a job that finds the reservation unused.
    fn fresh(self, task: &Task) -> Time {
        self.deadline + task.jitter
    }

    fn model(self) -> Constrained {
        Constrained::new(
            Service::from(self.runtime.as_nanos()),
            Duration::from(self.deadline.as_nanos()),
            Duration::from(self.period.as_nanos()),
        )
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
