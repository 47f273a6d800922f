//! Lines that a peer could cause as often as it likes.

use crate::sync::{self, Mutex};
use std::time::{Duration, Instant};

/// One line in so long.
const INTERVAL: Duration = Duration::from_secs(1);

/// Lets one line of a kind through each second, and counts the others.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    last: Mutex<Option<(Instant, u64)>>,
}

impl Throttle {
    /// Whether a line may be written now; how many were left out since the last one.
    pub(crate) fn lets_through(&self) -> Option<u64> {
        self.lets_through_at(Instant::now())
    }

    fn lets_through_at(&self, now: Instant) -> Option<u64> {
        let mut last = sync::lock(&self.last);
        match &mut *last {
            Some((at, left_out)) if now.saturating_duration_since(*at) < INTERVAL => {
                *left_out += 1;
                None
            }
            before => {
                let left_out = before.map_or(0, |(_, left_out)| left_out);
                *before = Some((now, 0));
                Some(left_out)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_second_and_a_count_of_the_others() {
        let throttle = Throttle::default();
        let start = Instant::now();
        let at = |millis| throttle.lets_through_at(start + Duration::from_millis(millis));
        assert_eq!(at(0), Some(0));
        assert_eq!((at(1), at(999)), (None, None));
        assert_eq!(at(1000), Some(2));
        assert_eq!(at(2500), Some(0));
    }
}
