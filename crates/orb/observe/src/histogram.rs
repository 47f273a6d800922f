//! Histogram of durations.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counts of durations within `N` upper bounds, and their sum. The counters are independent: a reader may see a
/// duration in one and not yet in another. Adding takes no lock and does not allocate.
#[derive(Debug)]
pub struct Histogram<const N: usize> {
    /// Upper bounds of the histogram's buckets, ascending, in microseconds.
    bounds: &'static [u64; N],
    /// Number of durations in each bucket, not including those of lower buckets.
    buckets: [AtomicU64; N],
    /// Number of durations above the highest bound.
    longer: AtomicU64,
    /// Sum of all measured durations, in nanoseconds.
    sum: AtomicU64,
}

// All accesses are Relaxed: the numbers order nothing else.
impl<const N: usize> Histogram<N> {
    /// Creates an empty histogram with these upper bounds, ascending, in microseconds.
    #[must_use]
    pub const fn new(bounds: &'static [u64; N]) -> Self {
        Self {
            bounds,
            buckets: [const { AtomicU64::new(0) }; N],
            longer: AtomicU64::new(0),
            sum: AtomicU64::new(0),
        }
    }

    /// Adds a duration to the histogram.
    #[inline]
    pub fn add(&self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let bucket = self
            .bounds
            .partition_point(|bound| bound.saturating_mul(1000) < nanos);
        let bucket = self.buckets.get(bucket).unwrap_or(&self.longer);
        bucket.fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Returns each upper bound with the number of durations up to it, then `None` with the number of all
    /// durations.
    pub fn cumulated(&self) -> impl Iterator<Item = (Option<u64>, u64)> {
        let bounds = self.bounds.iter().map(|bound| Some(*bound)).chain([None]);
        let counts = self.buckets.iter().chain([&self.longer]);
        let mut sum = 0;
        bounds.zip(counts).map(move |(bound, count)| {
            sum += count.load(Ordering::Relaxed);
            (bound, sum)
        })
    }

    /// Returns the sum of all durations in the histogram.
    #[must_use]
    pub fn sum(&self) -> Duration {
        Duration::from_nanos(self.sum.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_counts_in_the_first_bucket_that_holds_it_and_in_all_behind() {
        let histogram = Histogram::new(&[50, 100, 1000]);
        for micros in [50, 51, 1000, 1001] {
            histogram.add(Duration::from_micros(micros));
        }
        let cumulated: Vec<_> = histogram.cumulated().collect();
        assert_eq!(
            cumulated,
            [(Some(50), 1), (Some(100), 2), (Some(1000), 3), (None, 4)]
        );
        assert_eq!(histogram.sum(), Duration::from_micros(2102));
    }
}
