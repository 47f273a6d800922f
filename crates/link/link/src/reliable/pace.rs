//! Pace of sending, and time-outs of acknowledgements. No clock: times are passed in.

use std::time::Duration;

/// Minimum time to wait for an acknowledgement. It is longer than the time for which a peer may
/// delay an acknowledgement.
const SHORTEST: Duration = Duration::from_millis(20);
/// Maximum time to wait for an acknowledgement, however often the time was doubled.
const LONGEST: Duration = Duration::from_secs(1);
/// Time to wait for an acknowledgement before any round trip has been measured.
const FIRST: Duration = Duration::from_millis(100);

/// Estimate of the round trip and the time-out derived from it (RFC 6298).
#[derive(Debug, Default)]
pub(super) struct RoundTrip {
    smoothed: Option<Duration>,
    variation: Duration,
    doublings: u32,
}

impl RoundTrip {
    /// Adds a measured round-trip time to the estimate.
    pub(super) fn sample(&mut self, measured: Duration) {
        match self.smoothed {
            None => {
                self.smoothed = Some(measured);
                self.variation = measured / 2;
            }
            Some(smoothed) => {
                let error = smoothed.abs_diff(measured);
                self.variation = (self.variation * 3 + error) / 4;
                self.smoothed = Some((smoothed * 7 + measured) / 8);
            }
        }
    }

    /// Resets the back-off of the retransmission time-out after new data was acknowledged.
    pub(super) fn progress(&mut self) {
        self.doublings = 0;
    }

    /// Doubles the next wait, after no acknowledgement arrived in time.
    pub(super) fn back_off(&mut self) {
        self.doublings = (self.doublings + 1).min(16);
    }

    /// Returns the time to wait for an acknowledgement before retransmission.
    pub(super) fn timeout(&self) -> Duration {
        let base = self
            .smoothed
            .map_or(FIRST, |smoothed| smoothed + self.variation * 4)
            .max(SHORTEST);
        base.saturating_mul(1 << self.doublings).min(LONGEST)
    }
}

/// Number of segments that may be in flight at the start of a connection.
const INITIAL: usize = 10;
/// Number of segments that may always be in flight.
const LEAST: usize = 2;

/// Congestion window: bound of the bytes in flight (RFC 5681).
#[derive(Debug)]
pub(super) struct Congestion {
    window: usize,
    threshold: usize,
    segment: usize,
    /// Offset below which a loss belongs to an episode for which the window was reduced already.
    recovery: u64,
}

impl Congestion {
    pub(super) fn new(segment: usize) -> Self {
        Self {
            window: INITIAL * segment,
            threshold: usize::MAX,
            segment,
            recovery: 0,
        }
    }

    pub(super) fn window(&self) -> usize {
        self.window
    }

    /// Records the arrival of `octets` bytes: the window doubles each round trip below the
    /// threshold, and grows by a segment a round trip above it.
    pub(super) fn arrived(&mut self, octets: usize, limit: usize) {
        let grown = if self.window < self.threshold {
            octets
        } else {
            self.segment * octets / self.window.max(1)
        };
        self.window = (self.window + grown).min(limit.max(LEAST * self.segment));
    }

    /// Records the loss of the data at `offset`, when everything below `sent` had been sent.
    pub(super) fn lost(&mut self, offset: u64, sent: u64) {
        if offset >= self.recovery {
            self.recovery = sent;
            self.threshold = (self.window / 2).max(LEAST * self.segment);
            self.window = self.threshold;
        }
    }

    /// Reduces the congestion window to the minimum, as no acknowledgement arrived in time.
    pub(super) fn collapsed(&mut self, sent: u64) {
        self.recovery = sent;
        self.threshold = (self.window / 2).max(LEAST * self.segment);
        self.window = LEAST * self.segment;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_timeout_follows_the_round_trip_and_doubles_in_vain() {
        let mut trip = RoundTrip::default();
        assert_eq!(trip.timeout(), FIRST);
        trip.sample(50 * MS);
        assert_eq!(trip.timeout(), 150 * MS);
        trip.back_off();
        assert_eq!(trip.timeout(), 300 * MS);
        for _ in 0..40 {
            trip.back_off();
        }
        assert_eq!(trip.timeout(), LONGEST);
        trip.progress();
        for _ in 0..100 {
            trip.sample(MS / 10);
        }
        assert_eq!(trip.timeout(), SHORTEST);
    }

    #[test]
    fn the_window_grows_with_arrivals_and_is_halved_once_a_loss() {
        let mut congestion = Congestion::new(1000);
        congestion.arrived(10_000, 1 << 20);
        assert_eq!(congestion.window(), 20_000);
        congestion.lost(5_000, 20_000);
        congestion.lost(6_000, 21_000);
        assert_eq!(congestion.window(), 10_000);
        congestion.arrived(10_000, 1 << 20);
        assert_eq!(congestion.window(), 11_000);
        congestion.collapsed(30_000);
        assert_eq!(congestion.window(), 2_000);
        congestion.arrived(1 << 20, 8_000);
        assert_eq!(congestion.window(), 8_000);
    }
}
