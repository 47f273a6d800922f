//! Until when an operation may take.

use std::time::{Duration, Instant};

/// A bound on an operation that may block.
///
/// It keeps the time-out it was made from beside the moment it ends: a socket whose own time-out
/// already equals it needs no system call to be told again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    bound: Option<(Duration, Instant)>,
}

impl Deadline {
    /// No bound.
    pub const NEVER: Self = Self { bound: None };

    /// Ends `timeout` from now. A time-out too long for the clock is none.
    #[must_use]
    pub fn after(timeout: Duration) -> Self {
        Self {
            bound: Instant::now()
                .checked_add(timeout)
                .map(|end| (timeout, end)),
        }
    }

    /// Ends `timeout` from now, or never.
    #[must_use]
    pub fn after_maybe(timeout: Option<Duration>) -> Self {
        timeout.map_or(Self::NEVER, Self::after)
    }

    /// The time-out it was made from, whatever has passed of it since.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.bound.map(|(timeout, _)| timeout)
    }

    /// What is left of it; zero once it has passed, `None` when there is no bound.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        self.bound
            .map(|(_, end)| end.saturating_duration_since(Instant::now()))
    }

    /// The moment it ends, if it does.
    #[must_use]
    pub fn end(&self) -> Option<Instant> {
        self.bound.map(|(_, end)| end)
    }

    /// The same end, with what is left as its time-out: for the waits after the first.
    #[must_use]
    pub fn from_now(&self) -> Self {
        let left =
            |(_, end): (Duration, Instant)| (end.saturating_duration_since(Instant::now()), end);
        Self {
            bound: self.bound.map(left),
        }
    }

    /// Whether it has passed.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        self.remaining().is_some_and(|left| left.is_zero())
    }

    /// The earlier of two.
    #[must_use]
    pub fn earlier(self, other: Self) -> Self {
        match (self.bound, other.bound) {
            (Some((_, mine)), Some((_, theirs))) if theirs < mine => other,
            (None, Some(_)) => other,
            _ => self,
        }
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
    fn zero_has_passed_at_once() {
        assert!(Deadline::after(Duration::ZERO).has_passed());
        assert!(!Deadline::NEVER.has_passed());
    }
}
