//! Use of a filter by clients, so that one that its client has left does not stay for ever.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Time since which a filter has not been used.
#[derive(Debug)]
pub(super) struct Usage {
    /// States that the filter has been used since the last look.
    is_used: AtomicBool,
    since: Mutex<Instant>,
}

/// Used now.
impl Default for Usage {
    fn default() -> Self {
        Self {
            is_used: AtomicBool::new(true),
            since: Mutex::new(Instant::now()),
        }
    }
}

impl Usage {
    /// Notes that the filter is used.
    pub(super) fn note(&self) {
        // Relaxed: no other access depends on it. Read first, as events of several threads pass one filter.
        if !self.is_used.load(Ordering::Relaxed) {
            self.is_used.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether the filter has not been used for this time, as far as regular looks tell.
    pub(super) fn is_over(&self, now: Instant, time: Duration) -> bool {
        let mut since = self.since.lock();
        if self.is_used.swap(false, Ordering::Relaxed) {
            *since = now;
        }
        now.saturating_duration_since(*since) >= time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_begins_with_the_look_behind_the_last_use() {
        let (usage, now) = (Usage::default(), Instant::now());
        let (hour, minute) = (Duration::from_secs(3600), Duration::from_secs(60));
        assert!(!usage.is_over(now, hour));
        assert!(!usage.is_over(now + hour - minute, hour));
        usage.note();
        assert!(!usage.is_over(now + hour, hour));
        assert!(!usage.is_over(now + hour * 2 - minute, hour));
        assert!(usage.is_over(now + hour * 2, hour));
    }
}
