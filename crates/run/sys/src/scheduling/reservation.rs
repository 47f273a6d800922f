//! Reservations of processor time (`SCHED_DEADLINE`), and why the kernel refuses one.

use std::fmt;
use std::io;
use std::time::Duration;

/// What a `SCHED_DEADLINE` thread reserves: in each `period` so much `runtime`, by `deadline` behind its
/// begin. At least 1,024 ns each, and `runtime <= deadline <= period`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reservation {
    /// How long it runs in a period, at most.
    pub runtime: Duration,
    /// By when behind the period's begin.
    pub deadline: Duration,
    /// How often.
    pub period: Duration,
}

/// Times that are no reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidReservation {
    /// The runtime is below what the kernel counts in.
    #[error("the runtime {0:?} is below 1.024µs, the shortest that there is")]
    TooShort(Duration),
    /// More is to run than there is time.
    #[error("the runtime {runtime:?} is longer than the deadline {deadline:?}")]
    RuntimeBeyondDeadline {
        /// The runtime.
        runtime: Duration,
        /// The deadline.
        deadline: Duration,
    },
    /// The deadline is behind the begin of the next period.
    #[error("the deadline {deadline:?} is longer than the period {period:?}")]
    DeadlineBeyondPeriod {
        /// The deadline.
        deadline: Duration,
        /// The period.
        period: Duration,
    },
    /// More than the kernel's clock counts.
    #[error("the period {0:?} is longer than 2^63 ns")]
    TooLong(Duration),
}

impl Reservation {
    /// The shortest runtime (`sched(7)`).
    pub const SHORTEST: Duration = Duration::from_nanos(1024);

    /// Whether it is a reservation on any machine (`sched(7)`). A kernel may refuse it all the same: it has bounds for
    /// periods, 100 µs and 4 s by default, and what it can keep beside other reservations.
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

    /// Why the kernel refused it with this error, and what the machine offers, for people.
    #[must_use]
    pub fn refusal(self, error: &io::Error) -> String {
        let why = match error.raw_os_error() {
            Some(libc::EBUSY) => format!(
                "the processors cannot keep it beside what is reserved already: {}",
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

/// What the kernel gives to all reservations together.
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
