//! How long a servant takes for a request, which bounds how many are stored together.

use std::time::Duration;

/// Moving average of the times that a servant has taken for a request.
#[derive(Debug, Default)]
pub(crate) struct Pace(Option<Duration>);

/// The last time counts as one of so many.
const WEIGHT: u32 = 8;

impl Pace {
    /// Takes how long a request has taken.
    pub(crate) fn note(&mut self, took: Duration) {
        self.0 = Some(match self.0 {
            Some(average) => average - average / WEIGHT + took / WEIGHT,
            None => took,
        });
    }

    /// Returns how many requests are run in a time: one at least, and no more before one has been run.
    pub(crate) fn requests_in(&self, time: Duration) -> usize {
        let requests = self
            .0
            .map_or(1, |average| time.as_nanos() / average.as_nanos().max(1));
        usize::try_from(requests).unwrap_or(usize::MAX).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_requests_are_run_in_a_time_as_the_average_of_the_last_ones_says() {
        let millis = Duration::from_millis;
        let mut pace = Pace::default();
        assert_eq!(pace.requests_in(millis(100)), 1, "none has been run");
        pace.note(millis(10));
        assert_eq!(pace.requests_in(millis(100)), 10);
        pace.note(millis(90));
        assert_eq!(pace.requests_in(millis(100)), 5, "20 ms each");
        pace.note(millis(10_000));
        assert_eq!(pace.requests_in(millis(100)), 1, "one at least");
        for _ in 0..300 {
            pace.note(Duration::ZERO);
        }
        assert!(pace.requests_in(millis(100)) > 1_000);
    }
}
