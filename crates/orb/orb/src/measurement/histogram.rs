//! Histogram of times in buckets that grow with the times: eight for each power of two.
//!
//! Each has one writer, its thread, so that adding needs no atomic read-modify-write; any thread may
//! read meanwhile, which the histograms of the crate `hdrhistogram` do not allow, and those of fixed
//! bounds say too little of times from nanoseconds to minutes.

use super::ticks::Scale;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Number of buckets for each power of two, as a power of two: a bucket is at most an eighth of
/// its times wide.
const FINE: u32 = 3;
/// Number of bits of the fraction of an `f64`.
const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;
/// Number of places for buckets: a power of two, so that no index is out of bounds.
const PLACES: usize = 512;
/// Place of the first bucket, by exponent and highest bits of the fraction of 8.0; those before it stay empty.
const FIRST: usize = ((f64::MAX_EXP as usize - 1 + FINE as usize) << FINE) % PLACES;

/// Counts of times in ticks of any length. Only one thread at a time may add.
#[derive(Debug)]
pub(super) struct Histogram {
    /// Least time that is neither shorter than all before nor outside the bounds of a plan, and the
    /// width of the range of such times.
    usual_from: AtomicU64,
    usual_width: AtomicU64,
    sum: AtomicU64,
    shortest: AtomicU64,
    longest: AtomicU64,
    buckets: [AtomicU64; PLACES],
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
    /// Longest time of each bucket that has any, and their number.
    buckets: Vec<(Duration, u64)>,
}

// All accesses are Relaxed: the numbers order nothing else.
impl Histogram {
    pub(super) fn new() -> Self {
        Self {
            usual_from: AtomicU64::new(u64::MAX),
            usual_width: AtomicU64::new(0),
            sum: AtomicU64::new(0),
            shortest: AtomicU64::new(u64::MAX),
            longest: AtomicU64::new(0),
            buckets: [const { AtomicU64::new(0) }; PLACES],
        }
    }

    /// Adds a time; [`Histogram::widen`] must be called for it if it is unusual.
    #[inline(always)]
    pub(super) fn add(&self, time: u64) {
        add(&self.buckets[place_of(time) % PLACES], 1);
        add(&self.sum, time);
    }

    /// Returns whether a time is shorter or longer than all before, or outside the bounds of the plan.
    #[inline(always)]
    pub(super) fn is_unusual(&self, time: u64) -> bool {
        let from = self.usual_from.load(Ordering::Relaxed);
        time.wrapping_sub(from) > self.usual_width.load(Ordering::Relaxed)
    }

    /// Extends the range of usual times by one that was added, within the bounds of the plan.
    pub(super) fn widen(&self, time: u64, (least, most): (u64, u64)) {
        let shortest = self.shortest.load(Ordering::Relaxed).min(time);
        let longest = self.longest.load(Ordering::Relaxed).max(time);
        self.shortest.store(shortest, Ordering::Relaxed);
        self.longest.store(longest, Ordering::Relaxed);
        let from = shortest.max(least);
        // All times of an empty range are unusual.
        let (from, width) = match longest.min(most).checked_sub(from) {
            Some(width) => (from, width),
            None => (u64::MAX, 0),
        };
        self.usual_from.store(from, Ordering::Relaxed);
        self.usual_width.store(width, Ordering::Relaxed);
    }
}

/// Adds to a number of which the thread is the only writer.
#[inline(always)]
fn add(number: &AtomicU64, added: u64) {
    let sum = number.load(Ordering::Relaxed).wrapping_add(added);
    number.store(sum, Ordering::Relaxed);
}

impl Distribution {
    /// Returns the distribution of the times of all histograms, as it is now. A time that is being
    /// added may be in one of its numbers only.
    pub(super) fn of<'h>(histograms: impl Iterator<Item = &'h Histogram>, scale: Scale) -> Self {
        let (mut sum, mut shortest, mut longest) = (0_u64, u64::MAX, 0);
        let mut buckets = vec![0; PLACES];
        for one in histograms {
            sum = sum.wrapping_add(one.sum.load(Ordering::Relaxed));
            shortest = shortest.min(one.shortest.load(Ordering::Relaxed));
            longest = longest.max(one.longest.load(Ordering::Relaxed));
            for (all, own) in buckets.iter_mut().zip(&one.buckets) {
                *all += own.load(Ordering::Relaxed);
            }
        }
        let count: u64 = buckets.iter().sum();
        if count == 0 {
            return Self::default();
        }
        Self {
            count,
            shortest: scale.time(shortest.min(longest)),
            longest: scale.time(longest),
            mean: scale.time(sum / count),
            buckets: filled(&buckets, scale),
        }
    }

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
        for (longest, count) in &self.buckets {
            seen += count;
            if seen >= rank.max(1) {
                return (*longest).clamp(self.shortest, self.longest);
            }
        }
        self.longest
    }
}

/// Returns the longest time of each bucket that has any, and their number.
fn filled(buckets: &[u64], scale: Scale) -> Vec<(Duration, u64)> {
    let filled = buckets.iter().enumerate().filter(|(_, count)| **count > 0);
    let filled = filled.map(|(place, count)| (scale.time(upper(place)), *count));
    filled.collect()
}

/// Returns the place of the bucket for a time below 2^63.
///
/// With 8 added, the times of row n begin at 8 << n: no branch is needed for times below 8. A floating-point number
/// has row and place in the row next to each other: its exponent, and the highest bits of its fraction. The conversion
/// takes fewer instructions than shifts, and is exact up to 2^53; a longer time may be in the bucket after its own.
#[inline(always)]
#[expect(clippy::cast_precision_loss, reason = "only the highest bits count")]
fn place_of(time: u64) -> usize {
    let place = time.wrapping_add(1 << FINE).cast_signed() as f64;
    (place.to_bits() >> (FRACTION - FINE)) as usize % PLACES
}

/// Returns the longest time of a bucket.
fn upper(place: usize) -> u64 {
    let fine = 1 << FINE;
    let index = place.saturating_sub(FIRST);
    let (row, within) = (index / fine, index % fine);
    let next = ((fine + within + 1) as u128) << row;
    u64::try_from(next - 1 - fine as u128).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_in_the_bucket_whose_bounds_contain_it() {
        for power in 0..63 {
            for add in [0, 1, 3] {
                let nanos = (1_u64 << power) + add;
                let place = place_of(nanos);
                assert!(upper(place) >= nanos, "{nanos}");
                assert!(place == FIRST || upper(place - 1) < nanos, "{nanos}");
                assert!(upper(place) - nanos <= nanos / 8, "{nanos}");
            }
        }
        for nanos in 0..100_000 {
            let place = place_of(nanos);
            assert!(upper(place) >= nanos, "{nanos}");
            assert!(place == FIRST || upper(place - 1) < nanos, "{nanos}");
        }
        assert_eq!(place_of(0), FIRST);
        let longest = u64::try_from(i64::MAX).unwrap() - 8;
        assert!(upper(place_of(longest)) >= longest);
    }

    #[test]
    fn quantiles_lie_between_the_shortest_and_the_longest_time() {
        let histogram = Histogram::new();
        let distribution = || Distribution::of([&histogram].into_iter(), Scale::NANOS);
        assert_eq!(distribution().quantile(0.5), Duration::ZERO);
        for nanos in 1..=1000 {
            histogram.add(nanos);
            assert!(
                histogram.is_unusual(nanos),
                "each is longer than all before"
            );
            histogram.widen(nanos, (0, u64::MAX));
        }
        let all = distribution();
        assert_eq!((all.count, all.mean.as_nanos()), (1000, 500));
        assert_eq!(all.shortest.as_nanos(), 1);
        assert_eq!(all.longest.as_nanos(), 1000);
        assert_eq!(all.quantile(0.0).as_nanos(), 1);
        assert_eq!(all.quantile(1.0).as_nanos(), 1000);
        let median = all.quantile(0.5).as_nanos();
        assert!((500..=563).contains(&median), "{median}");
        let halved = Distribution::of([&histogram].into_iter(), Scale::of_ticks(0.5));
        assert_eq!(halved.longest, Duration::from_nanos(500));
        assert_eq!(halved.quantile(0.5).as_nanos(), median / 2);
    }

    #[test]
    fn times_outside_the_bounds_of_the_plan_are_never_usual() {
        let histogram = Histogram::new();
        for (nanos, unusual) in [(50, true), (90, true), (60, false), (49, true), (91, true)] {
            histogram.add(nanos);
            assert_eq!(histogram.is_unusual(nanos), unusual, "{nanos}");
            histogram.widen(nanos, (50, 90));
        }
        for (nanos, unusual) in [(49, true), (50, false), (90, false), (91, true)] {
            histogram.add(nanos);
            assert_eq!(histogram.is_unusual(nanos), unusual, "{nanos}");
        }
        let impossible = Histogram::new();
        for nanos in [0, 1, 7] {
            assert!(impossible.is_unusual(nanos));
            impossible.widen(nanos, (u64::MAX, 0));
        }
    }

    #[test]
    fn histograms_of_several_threads_add_up() {
        let (one, other) = (Histogram::new(), Histogram::new());
        for (histogram, nanos) in [(&one, 10), (&one, 20), (&other, 60)] {
            histogram.add(nanos);
            histogram.widen(nanos, (0, u64::MAX));
        }
        let all = Distribution::of([&one, &other].into_iter(), Scale::NANOS);
        assert_eq!((all.count, all.mean.as_nanos()), (3, 30));
        assert_eq!((all.shortest.as_nanos(), all.longest.as_nanos()), (10, 60));
    }
}
