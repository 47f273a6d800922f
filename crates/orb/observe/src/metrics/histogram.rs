//! Histogram of the times of calls.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the buckets, in microseconds.
pub(super) const BOUNDS: [u64; 17] = [
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 5_000_000, 10_000_000,
];

/// Independent counters: a reader may see a call in one and not yet in another.
#[derive(Debug, Default)]
pub(super) struct Histogram {
    /// Number of calls in each bucket alone; the last is for longer ones.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    /// Sum of the times, in nanoseconds.
    sum: AtomicU64,
}

// All accesses are Relaxed: the numbers order nothing else.
impl Histogram {
    pub(super) fn add(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS.partition_point(|bound| *bound < micros);
        if let Some(bucket) = self.buckets.get(bucket) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.sum.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Returns the number of calls within each bound, and the number of all.
    pub(super) fn cumulated(&self) -> Vec<u64> {
        let counts = self.buckets.iter().map(|one| one.load(Ordering::Relaxed));
        counts
            .scan(0, |sum, count| {
                *sum += count;
                Some(*sum)
            })
            .collect()
    }

    pub(super) fn sum(&self) -> Duration {
        Duration::from_nanos(self.sum.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_counts_in_the_first_bucket_that_holds_it_and_in_all_behind() {
        let histogram = Histogram::default();
        for micros in [50, 51, 10_000_000, 10_000_001] {
            histogram.add(Duration::from_micros(micros));
        }
        let cumulated = histogram.cumulated();
        assert_eq!(cumulated.first(), Some(&1));
        assert_eq!(cumulated.get(1), Some(&2));
        assert_eq!(cumulated.get(BOUNDS.len() - 1), Some(&3));
        assert_eq!(cumulated.last(), Some(&4));
        assert_eq!(histogram.sum(), Duration::from_micros(20_000_102));
    }
}
