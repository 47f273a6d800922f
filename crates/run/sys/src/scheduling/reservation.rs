//! Reservations of processor time (`SCHED_DEADLINE`), and the reasons why the kernel refuses one.

use std::fmt;
use std::io;
use std::time::Duration;

/// Reservation of a `SCHED_DEADLINE` thread: in each `period`, `runtime` of processor time by
/// `deadline` after the start of the period. `runtime` is at least 1,024 ns, and `runtime <=
/// deadline <= period`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reservation {
    /// Maximum processor time that the thread may use in each period.
    pub runtime: Duration,
    /// Time after the start of the period by which the work is done.
    pub deadline: Duration,
    /// Length of a period of the reservation.
    pub period: Duration,
}

/// Error: the given times do not form a valid reservation.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidReservation {
    /// The runtime is shorter than the minimum that the kernel supports.
    #[error("the runtime {0:?} is too short: the shortest is 1.024µs")]
    TooShort(Duration),
    /// The runtime is longer than the deadline.
    #[error("the runtime {runtime:?} is longer than the deadline {deadline:?}")]
    RuntimeBeyondDeadline {
        /// Runtime that was requested.
        runtime: Duration,
        /// Deadline that was requested.
        deadline: Duration,
    },
    /// The deadline lies after the start of the next period.
    #[error("the deadline {deadline:?} is longer than the period {period:?}")]
    DeadlineBeyondPeriod {
        /// Deadline that was requested.
        deadline: Duration,
        /// Period that was requested.
        period: Duration,
    },
    /// The time exceeds the range of the kernel's clock.
    #[error("the period {0:?} is longer than 2^63 ns")]
    TooLong(Duration),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for InvalidReservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Reservation {
    /// Shortest runtime that the kernel accepts for a reservation (`sched(7)`).
    pub const SHORTEST: Duration = Duration::from_nanos(1024);

    /// Checks that the times form a reservation on any machine (`sched(7)`). A kernel may still
    /// refuse it: it bounds periods, by default to 100 µs and 4 s, and the sum of all reservations.
    ///
    /// # Errors
    /// [`InvalidReservation`].
    pub fn check(self) -> Result<Self, InvalidReservation> {
        let Self {
            runtime,
            deadline,
            period,
        } = self;
        if runtime < Self::SHORTEST {
            return Err(InvalidReservation::TooShort(runtime));
        }
        if runtime > deadline {
            return Err(InvalidReservation::RuntimeBeyondDeadline { runtime, deadline });
        }
        if deadline > period {
            return Err(InvalidReservation::DeadlineBeyondPeriod { deadline, period });
        }
        if i64::try_from(period.as_nanos()).is_err() {
            return Err(InvalidReservation::TooLong(period));
        }
        Ok(self)
    }

    /// Explains to people why the kernel refused the reservation with this error, and what the
    /// machine offers.
    #[must_use]
    pub fn refusal(self, error: &io::Error) -> String {
        let why = match error.raw_os_error() {
            Some(libc::EBUSY) => format!(
                "the processors have too little time left beside existing reservations: {}",
                offered()
            ),
            Some(libc::EPERM) => format!(
                "CAP_SYS_NICE is missing, or the thread is bound to some of the processors, as no \
                 SCHED_DEADLINE thread may be: {}",
                offered()
            ),
            Some(libc::EINVAL) => periods(),
            _ => offered(),
        };
        format!("SCHED_DEADLINE with {self} is refused ({error}): {why}")
    }
}

/// Describes the share of time that the kernel gives to all reservations together.
fn offered() -> String {
    let processors = crate::processor::online();
    let limits = (
        number("/proc/sys/kernel/sched_rt_runtime_us"),
        number("/proc/sys/kernel/sched_rt_period_us"),
    );
    match limits {
        (Some(runtime), Some(period)) if runtime >= 0 && period > 0 => format!(
            "of each of {processors} processors {} % can be reserved (kernel.sched_rt_runtime_us), the kernel's own \
             reservations among it",
            runtime.saturating_mul(100) / period
        ),
        _ => format!("there are {processors} processors"),
    }
}

fn periods() -> String {
    let limits = (
        number("/proc/sys/kernel/sched_deadline_period_min_us"),
        number("/proc/sys/kernel/sched_deadline_period_max_us"),
    );
    match limits {
        (Some(least), Some(most)) => format!(
            "a period is {least} to {most} µs (kernel.sched_deadline_period_min_us, kernel.sched_deadline_period_max_us)"
        ),
        _ => "the kernel has bounds for periods (kernel.sched_deadline_period_min_us)".to_owned(),
    }
}

fn number(path: &str) -> Option<i64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

impl fmt::Display for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            runtime,
            deadline,
            period,
        } = self;
        write!(f, "{runtime:?} by {deadline:?} in each {period:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(runtime: u64, deadline: u64, period: u64) -> Result<(), InvalidReservation> {
        let [runtime, deadline, period] = [runtime, deadline, period].map(Duration::from_nanos);
        let reserved = Reservation {
            runtime,
            deadline,
            period,
        };
        reserved.check().map(drop)
    }

    #[test]
    fn times_that_are_no_reservation_are_told_apart() {
        assert_eq!(checked(1_024, 1_024, 1_024), Ok(()));
        let nanos = Duration::from_nanos;
        assert_eq!(
            checked(1_023, 5_000, 5_000),
            Err(InvalidReservation::TooShort(nanos(1_023)))
        );
        assert!(matches!(
            checked(6_000, 5_000, 9_000),
            Err(InvalidReservation::RuntimeBeyondDeadline { .. })
        ));
        assert!(matches!(
            checked(2_000, 5_000, 4_999),
            Err(InvalidReservation::DeadlineBeyondPeriod { .. })
        ));
        assert!(matches!(
            checked(2_000, 5_000, u64::MAX),
            Err(InvalidReservation::TooLong(_))
        ));
    }

    #[test]
    fn a_refusal_says_what_was_asked_for_and_what_there_is() {
        let reserved = Reservation {
            runtime: Duration::from_millis(9),
            deadline: Duration::from_millis(10),
            period: Duration::from_millis(10),
        };
        let busy = reserved.refusal(&io::Error::from_raw_os_error(libc::EBUSY));
        let processors = crate::processor::online().to_string();
        for part in ["9ms by 10ms in each 10ms", "processors", &processors] {
            assert!(busy.contains(part), "{busy}");
        }
        let denied = reserved.refusal(&io::Error::from_raw_os_error(libc::EPERM));
        assert!(denied.contains("CAP_SYS_NICE"), "{denied}");
        let invalid = reserved.refusal(&io::Error::from_raw_os_error(libc::EINVAL));
        assert!(invalid.contains("period"), "{invalid}");
    }
}
