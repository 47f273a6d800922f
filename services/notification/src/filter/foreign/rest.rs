//! Time in which a filter that did not answer is not asked.

use std::time::{Duration, Instant};

use crate::limits::Limits;

/// Time of rest after calls without an answer, each time twice as long.
#[derive(Debug, Default)]
pub(super) struct Rest {
    until: Option<Instant>,
    /// Length of the last one; zero while the filter answers.
    length: Duration,
}

impl Rest {
    /// Returns whether the filter is not to be asked now.
    pub(super) fn is_on(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now < until)
    }

    /// Returns whether the last call had no answer.
    pub(super) fn is_failing(&self) -> bool {
        !self.length.is_zero()
    }

    /// Notes a call without an answer.
    pub(super) fn begin(&mut self, now: Instant, limits: &Limits) {
        self.length = match self.is_failing() {
            true => limits.next_retry(self.length),
            false => limits.retry,
        };
        self.until = now.checked_add(self.length);
    }

    /// Notes that the filter has answered.
    pub(super) fn end(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rest_is_twice_as_long_until_the_filter_answers() {
        let limits = Limits {
            retry: Duration::from_millis(100),
            longest_retry: Duration::from_millis(300),
            ..Limits::default()
        };
        let now = Instant::now();
        let after = |milliseconds| now + Duration::from_millis(milliseconds);
        let mut rest = Rest::default();
        assert!(!rest.is_on(now) && !rest.is_failing());
        for length in [100, 200, 300, 300] {
            rest.begin(now, &limits);
            assert!(rest.is_on(after(length - 1)) && !rest.is_on(after(length)));
            assert!(rest.is_failing());
        }
        rest.end();
        assert!(!rest.is_on(now) && !rest.is_failing());
    }
}
