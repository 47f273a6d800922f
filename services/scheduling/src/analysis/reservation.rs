//! Reservation of a processor (`SCHED_DEADLINE`), and the time that it supplies.

use response_time_analysis::supply::{Constrained, SupplyBound};
use response_time_analysis::time::{Duration, Service};

use crate::time::Time;

/// Reservation of a processor: a runtime before a deadline, in each period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    runtime: Time,
    deadline: Time,
    period: Time,
}

/// Reason why a reservation is none.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
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

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for ReservationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
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

    /// Returns the rest of the processor, as time in a period.
    pub(super) const fn rest(self) -> (Time, Time) {
        let rest = self.period.saturating_sub(self.runtime);
        (rest, self.period)
    }

    fn model(self) -> Constrained {
        Constrained::new(
            Service::from(self.runtime.as_nanos()),
            Duration::from(self.deadline.as_nanos()),
            Duration::from(self.period.as_nanos()),
        )
    }
}
