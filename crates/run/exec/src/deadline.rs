//! Deadlines of operations that may block.

use punctual_sys::clock;
use std::time::{Duration, Instant};

/// Shortest time-out that is measured by the coarse clock, in nanoseconds.
const LONG: u64 = NANOS_A_SECOND;
const NANOS_A_SECOND: u64 = 1_000_000_000;
/// Upper bound of a tick of the coarse clock, in nanoseconds.
const TICK: u64 = 10_000_000;
/// Time in nanoseconds that stands for a deadline that never passes.
const NEVER: u64 = u64::MAX;

/// Bound on an operation that may block.
///
/// A deadline keeps the time-out that it was made from in addition to the time at which it ends: a
/// socket whose own time-out already equals it needs no system call. A time-out of one second or
/// more is measured by the coarse clock and ends at most 10 ms late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// Time-out in nanoseconds; [`NEVER`] in both fields without a bound.
    timeout: u64,
    end: u64,
}

impl Deadline {
    /// Deadline that never passes.
    pub const NEVER: Self = Self {
        timeout: NEVER,
        end: NEVER,
    };

    /// Returns the deadline `timeout` from now; one without a bound where the time-out exceeds the
    /// clock.
    // Inlined, as every reply has a deadline.
    #[inline(always)]
    #[must_use]
    pub fn after(timeout: Duration) -> Self {
        let seconds = timeout.as_secs().checked_mul(NANOS_A_SECOND);
        let nanos = u64::from(timeout.subsec_nanos());
        let Some(timeout) = seconds.and_then(|seconds| seconds.checked_add(nanos)) else {
            return Self::NEVER;
        };
        let now = if timeout >= LONG {
            clock::coarse_nanos() + TICK
        } else {
            clock::nanos()
        };
        match now.checked_add(timeout) {
            Some(end) => Self { timeout, end },
            None => Self::NEVER,
        }
    }

    /// Returns the deadline `timeout` from now; one without a bound for `None`.
    #[inline(always)]
    #[must_use]
    pub fn after_optional(timeout: Option<Duration>) -> Self {
        match timeout {
            Some(timeout) => Self::after(timeout),
            None => Self::NEVER,
        }
    }

    /// Returns the time-out that the deadline was made from, however much of it has passed.
    #[inline]
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        (self.timeout != NEVER).then(|| Duration::from_nanos(self.timeout))
    }

    /// Returns the time-out in nanoseconds; `u64::MAX` without a bound.
    #[inline]
    #[must_use]
    pub fn timeout_nanos(&self) -> u64 {
        self.timeout
    }

    /// Returns the time that is left: zero once the deadline has passed, `None` without a bound.
    #[inline]
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        (self.end != NEVER).then(|| Duration::from_nanos(self.left()))
    }

    /// Returns the moment the deadline ends; `None` without a bound.
    #[must_use]
    pub fn end(&self) -> Option<Instant> {
        Instant::now().checked_add(self.remaining()?)
    }

    /// Returns the moment the deadline ends, in nanoseconds of [`punctual_sys::clock::nanos`];
    /// `None` without a bound. Enters no kernel and reads no clock.
    #[inline]
    #[must_use]
    pub fn end_nanos(&self) -> Option<u64> {
        (self.end != NEVER).then_some(self.end)
    }

    /// Returns a deadline with the same end whose time-out is the time left, for the waits after
    /// the first.
    #[must_use]
    pub fn from_now(&self) -> Self {
        if self.end == NEVER {
            return *self;
        }
        Self {
            timeout: self.left(),
            end: self.end,
        }
    }

    /// Returns a deadline with the same end. The time left becomes its time-out if a good part of
    /// it has passed meanwhile; otherwise the time-out stays, so that the socket's own need not be
    /// changed. Reads the coarse clock where there is a bound.
    #[inline]
    #[must_use]
    pub fn refreshed(&self) -> Self {
        if self.end == NEVER {
            return *self;
        }
        let left = self.end.saturating_sub(clock::coarse_nanos());
        if left.saturating_add(2 * TICK) < self.timeout {
            return self.from_now();
        }
        *self
    }

    /// Returns whether the deadline has already passed.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        self.end != NEVER && self.left() == 0
    }

    /// Returns the earlier of two deadlines.
    #[must_use]
    pub fn earlier(self, other: Self) -> Self {
        if other.end < self.end { other } else { self }
    }

    fn left(&self) -> u64 {
        self.end.saturating_sub(clock::nanos())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earlier_of_two_ends_first() {
        let short = Deadline::after(Duration::from_millis(1));
        let long = Deadline::after(Duration::from_secs(60));
        assert_eq!(long.earlier(short), short);
        assert_eq!(short.earlier(long), short);
        assert_eq!(Deadline::NEVER.earlier(long), long);
        assert_eq!(long.earlier(Deadline::NEVER), long);
    }

    #[test]
    fn a_timeout_beyond_the_clock_is_none() {
        assert_eq!(Deadline::after(Duration::MAX).remaining(), None);
    }

    #[test]
    fn a_timeout_of_which_nothing_has_passed_stays_as_it_was() {
        for timeout in [Duration::from_millis(500), Duration::from_secs(60)] {
            let fresh = Deadline::after(timeout);
            assert_eq!(fresh.refreshed(), fresh);
        }
        assert_eq!(Deadline::NEVER.refreshed(), Deadline::NEVER);
    }

    #[test]
    fn after_a_wait_only_what_is_left_is_the_timeout() {
        let waited = Deadline {
            timeout: 60 * LONG,
            ..Deadline::after(Duration::from_secs(2))
        };
        let left = waited.refreshed();
        assert!(left.timeout().unwrap() <= Duration::from_millis(2010));
        assert_eq!(left.remaining().is_some(), waited.remaining().is_some());
        assert_eq!(left.end, waited.end);
    }

    #[test]
    fn zero_has_passed_at_once() {
        assert!(Deadline::after(Duration::ZERO).has_passed());
        assert!(!Deadline::NEVER.has_passed());
    }
}
