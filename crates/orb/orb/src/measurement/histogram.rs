//! Histogram of times in buckets that grow with the times: eight for each power of two.
//!
//! Any thread may add while others add and read, which the histograms of the crate `hdrhistogram`
//! do not allow, and those of fixed bounds say too little of times from nanoseconds to minutes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Number of buckets for each power of two, as a power of two: a bucket is at most an eighth of
/// its times wide.
const FINE: u32 = 3;
/// Highest power of two with buckets of its own, in nanoseconds: 18 minutes.
const HIGHEST: u32 = 40;
const BUCKETS: usize = ((HIGHEST - FINE + 2) << FINE) as usize;

/// Counts of times, which any thread may add to.
#[derive(Debug)]
pub(super) struct Histogram {
    buckets: Box<[AtomicU64]>,
    sum: AtomicU64,
    shortest: AtomicU64,
    longest: AtomicU64,
}

/// Distribution of the times of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    /// Number of times.
    pub count: u64,
    /// Shortest time; zero if there is none.
    pub shortest: Duration,
    /// Longest time, exactly; zero if there is none.
    pub longest: Duration,
    /// Mean of all times; zero if there is none.
    pub mean: Duration,
    buckets: Vec<u64>,
}

// All accesses are Relaxed: the numbers order nothing else.
impl Histogram {
    pub(super) fn new() -> Self {
        Self {
            buckets: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect(),
            sum: AtomicU64::new(0),
            shortest: AtomicU64::new(u64::MAX),
            longest: AtomicU64::new(0),
        }
    }

    /// Adds a time in nanoseconds.
    #[inline]
    pub(super) fn add(&self, nanos: u64) {
        if let Some(bucket) = self.buckets.get(bucket_of(nanos)) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.sum.fetch_add(nanos, Ordering::Relaxed);
        if nanos > self.longest.load(Ordering::Relaxed) {
            self.longest.fetch_max(nanos, Ordering::Relaxed);
        }
        if nanos < self.shortest.load(Ordering::Relaxed) {
            self.shortest.fetch_min(nanos, Ordering::Relaxed);
        }
    }

    /// Returns the distribution as it is now. A time that is being added may be in one of its
    /// numbers only.
    pub(super) fn distribution(&self) -> Distribution {
        let buckets = self.buckets.iter();
        let buckets: Vec<u64> = buckets.map(|one| one.load(Ordering::Relaxed)).collect();
        let count: u64 = buckets.iter().sum();
        if count == 0 {
            return Distribution::default();
        }
        let nanos = |number: &AtomicU64| Duration::from_nanos(number.load(Ordering::Relaxed));
        let mean = self.sum.load(Ordering::Relaxed) / count;
        let longest = nanos(&self.longest);
        Distribution {
            count,
            shortest: nanos(&self.shortest).min(longest),
            longest,
            mean: Duration::from_nanos(mean),
            buckets,
        }
    }
}

impl Distribution {
    /// Returns the time that this share of all times does not exceed, between 0 and 1; at most an
    /// eighth too long, and never above the longest one. Zero without times.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank is between 1 and the count"
    )]
    pub fn quantile(&self, share: f64) -> Duration {
        let rank = (self.count as f64 * share.clamp(0.0, 1.0)).ceil() as u64;
        let mut seen = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank.max(1) {
                return Duration::from_nanos(upper(index)).clamp(self.shortest, self.longest);
            }
        }
        self.longest
    }
}

/// Returns the index of the bucket for a time.
#[inline]
fn bucket_of(nanos: u64) -> usize {
    let power = (nanos | 1).ilog2();
    if power < FINE {
        return usize::try_from(nanos).unwrap_or(0);
    }
    let shift = power - FINE;
    let within = (nanos >> shift) & ((1 << FINE) - 1);
    let index = (u64::from(shift + 1) << FINE) + within;
    usize::try_from(index).unwrap_or(BUCKETS).min(BUCKETS - 1)
}

/// Returns the longest time of a bucket.
fn upper(index: usize) -> u64 {
    let fine = 1 << FINE;
    let (row, within) = (index / fine, index % fine);
    match row {
        0 => within as u64,
        _ if index + 1 >= BUCKETS => u64::MAX,
        _ => ((fine + within + 1) as u64).unbounded_shl(u32::try_from(row).unwrap_or(0) - 1) - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_in_the_bucket_whose_bounds_contain_it() {
        for power in 0..64 {
            for add in [0, 1, 3] {
                let nanos = (1_u64 << power) + add;
                let bucket = bucket_of(nanos);
                assert!(upper(bucket) >= nanos, "{nanos}");
                assert!(bucket == 0 || upper(bucket - 1) < nanos, "{nanos}");
                if power < HIGHEST {
                    assert!(upper(bucket) - nanos <= nanos / 8, "{nanos}");
                }
            }
        }
        assert_eq!(bucket_of(0), 0);
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn quantiles_lie_between_the_shortest_and_the_longest_time() {
        let histogram = Histogram::new();
        assert_eq!(histogram.distribution().quantile(0.5), Duration::ZERO);
        for nanos in 1..=1000 {
            histogram.add(nanos);
        }
        let all = histogram.distribution();
        assert_eq!((all.count, all.mean.as_nanos()), (1000, 500));
        assert_eq!(all.shortest.as_nanos(), 1);
        assert_eq!(all.longest.as_nanos(), 1000);
        assert_eq!(all.quantile(0.0).as_nanos(), 1);
        assert_eq!(all.quantile(1.0).as_nanos(), 1000);
        let median = all.quantile(0.5).as_nanos();
        assert!((500..=563).contains(&median), "{median}");
    }
}
