//! Pacing of datagrams, so that they do not overflow the sockets of receivers.

use std::time::{Duration, Instant};

/// Octets that may be sent at once after a pause.
const BURST: u64 = 64 * 1024;

/// Times at which datagrams may be sent, at a number of octets a second.
#[derive(Debug)]
pub(super) struct Pace {
    rate: u64,
    /// Time at which the octets sent so far would have been sent at the configured rate.
    free: Instant,
}

impl Pace {
    /// Makes the pace of so many octets a second.
    pub(super) fn new(rate: u32, now: Instant) -> Self {
        Self {
            rate: u64::from(rate.max(1)),
            free: now,
        }
    }

    /// Notes that a datagram is sent, and returns how long to wait before.
    pub(super) fn wait(&mut self, octets: usize, now: Instant) -> Duration {
        let burst = self.time(BURST);
        let earliest = now.checked_sub(burst).unwrap_or(now);
        let start = self.free.max(earliest);
        self.free = start + self.time(octets as u64);
        start.saturating_duration_since(now)
    }

    fn time(&self, octets: u64) -> Duration {
        Duration::from_nanos(octets.saturating_mul(1_000_000_000) / self.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_at_once_and_what_follows_at_the_rate() {
        let now = Instant::now();
        let mut pace = Pace::new(1_000_000, now - Duration::from_secs(10));
        let waits: Vec<_> = (0..100).map(|_| pace.wait(1_024, now)).collect();
        let at_once = waits.iter().filter(|wait| wait.is_zero()).count();
        assert_eq!(at_once, 65);
        let last = waits[99];
        // 99 datagrams before it, less the burst.
        assert!(
            last.abs_diff(Duration::from_micros(99 * 1_024 - 65_536)) < Duration::from_micros(99)
        );
    }

    #[test]
    fn a_long_pause_is_no_larger_burst() {
        let now = Instant::now();
        let mut pace = Pace::new(1_000, now);
        let later = now + Duration::from_secs(3_600);
        assert!(pace.wait(65_536, later).is_zero());
        assert!(pace.wait(1, later).is_zero());
        assert!(!pace.wait(1, later).is_zero());
    }
}
