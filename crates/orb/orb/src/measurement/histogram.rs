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
/// Place of the bucket for 1, by exponent and highest bits of the fraction; the places before it are those of the longest
/// times.
const FIRST: usize = ((f64::MAX_EXP as usize - 1) << FINE) % PLACES;

/// Counts of times in ticks of any length. Only one thread at a time may add.
#[derive(Debug)]
pub(super) struct Histogram {
    sum: AtomicU64,
    shortest: AtomicU64,
    longest: AtomicU64,
    buckets: [AtomicU64; PLACES],
}

/// Times that are neither shorter nor longer than all before, nor outside the bounds of a plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    from: u64,
    width: u64,
}

impl Range {
    /// Range of no time: none is as long.
    const NONE: Self = Self {
        from: u64::MAX - 1,
        width: 0,
    };

    #[inline(always)]
    pub(super) fn contains(self, time: u64) -> bool {
        time.wrapping_sub(self.from) <= self.width
    }
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
            sum: AtomicU64::new(0),
            shortest: AtomicU64::new(u64::MAX),
            longest: AtomicU64::new(0),
            buckets: [const { AtomicU64::new(0) }; PLACES],
        }
    }

    /// Adds a time; [`Histogram::widen`] must be called for it if it is unusual.
    #[inline(always)]
    pub(super) fn add(&self, time: u64) {
        self.count(time);
        add(&self.sum, time);
    }

    /// Adds a time to its bucket alone, for [`Distribution::with_sum`].
    #[inline(always)]
    pub(super) fn count(&self, time: u64) {
        add(&self.buckets[place_of(time) % PLACES], 1);
    }

    /// Extends the range of times by one that was added.
    pub(super) fn widen(&self, time: u64) {
        let shortest = self.shortest.load(Ordering::Relaxed).min(time);
        let longest = self.longest.load(Ordering::Relaxed).max(time);
        self.shortest.store(shortest, Ordering::Relaxed);
        self.longest.store(longest, Ordering::Relaxed);
    }

    /// Returns the range of usual times, within the bounds of the plan.
    pub(super) fn usual(&self, (least, most): (u64, u64)) -> Range {
        let from = self.shortest.load(Ordering::Relaxed).max(least);
        let longest = self.longest.load(Ordering::Relaxed).min(most);
        let width = longest.checked_sub(from);
        width.map_or(Range::NONE, |width| Range { from, width })
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

    /// Makes the distribution one of times with this sum in ticks, which the histograms do not have.
    pub(super) fn with_sum(mut self, sum: u64, scale: Scale) -> Self {
        if let Some(mean) = sum.checked_div(self.count) {
            self.mean = scale.time(mean).clamp(self.shortest, self.longest);
        }
        self
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
    let places = (0..PLACES).map(|index| (FIRST + index) % PLACES);
    let filled = places.filter_map(|place| {
        let count = *buckets.get(place).filter(|count| **count > 0)?;
        Some((scale.time(upper(place)), count))
    });
    filled.collect()
}

/// Returns the place of the bucket for a time below 2^63. The time 0 is in the bucket for 2.
///
/// A floating-point number has row and place in the row next to each other: its exponent, and the highest bits of its
/// fraction. The conversion takes fewer instructions than shifts, and is exact up to 2^53; a longer time may be in the
/// bucket after its own.
#[inline(always)]
#[expect(clippy::cast_precision_loss, reason = "only the highest bits count")]
fn place_of(time: u64) -> usize {
    let time = time.cast_signed() as f64;
    (time.to_bits() >> (FRACTION - FINE)) as usize % PLACES
}

/// Returns the longest time of a bucket.
fn upper(place: usize) -> u64 {
    let fine = 1 << FINE;
    let index = (place + PLACES - FIRST) % PLACES;
    let (row, within) = (index / fine, index % fine);
    let next = ((fine + within + 1) as u128) << row;
    u64::try_from(next.div_ceil(fine as u128) - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a time is in a bucket of its length.
    fn check(time: u64) {
        let place = place_of(time);
        assert!(upper(place) >= time, "{time}");
        assert!(upper(place) - time <= time / 8, "{time}");
        if place != FIRST {
            let before = (place + PLACES - 1) % PLACES;
            assert!(upper(before) < time, "{time}");
        }
    }

    #[test]
    fn a_time_is_in_the_bucket_whose_bounds_contain_it() {
        for power in 0..63 {
            for add in [0, 1, 3] {
                check((1_u64 << power) + add);
            }
        }
        for time in 1..100_000 {
            check(time);
        }
        assert_eq!(place_of(1), FIRST);
        assert_eq!(upper(place_of(0)), 2);
        let longest = u64::try_from(i64::MAX).unwrap() - 8;
        assert!(upper(place_of(longest)) >= longest);
    }

    #[test]
    fn quantiles_lie_between_the_shortest_and_the_longest_time() {
        let histogram = Histogram::new();
        let distribution = || Distribution::of([&histogram].into_iter(), Scale::NANOS);
        assert_eq!(distribution().quantile(0.5), Duration::ZERO);
        for nanos in 1..=1000 {
            let usual = histogram.usual((0, u64::MAX));
            assert!(!usual.contains(nanos), "each is longer than all before");
            histogram.add(nanos);
            histogram.widen(nanos);
        }
        let all = distribution();
        assert_eq!((all.count, all.mean.as_nanos()), (1000, 500));
        assert_eq!(all.shortest.as_nanos(), 1);
        assert_eq!(all.longest.as_nanos(), 1000);
        assert_eq!(all.quantile(0.0).as_nanos(), 1);
        assert_eq!(all.quantile(1.0).as_nanos(), 1000);
        let median = all.quantile(0.5).as_nanos();
        assert!((500..=563).contains(&median), "{median}");
        let mean = |sum| distribution().with_sum(sum, Scale::NANOS).mean.as_nanos();
        assert_eq!([0, 700_000, u64::MAX].map(mean), [1, 700, 1000]);
        let none = Distribution::default();
        assert_eq!(none.clone().with_sum(7, Scale::NANOS), none);
        let halved = Distribution::of([&histogram].into_iter(), Scale::of_ticks(0.5));
        assert_eq!(halved.longest, Duration::from_nanos(500));
        assert_eq!(halved.quantile(0.5).as_nanos(), median / 2);
    }

    #[test]
    fn times_outside_the_bounds_of_the_plan_are_never_usual() {
        let histogram = Histogram::new();
        let is_usual = |time| histogram.usual((50, 90)).contains(time);
        for (time, usual) in [
            (50, false),
            (90, false),
            (60, true),
            (49, false),
            (91, false),
        ] {
            assert_eq!(is_usual(time), usual, "{time}");
            histogram.widen(time);
        }
        for (time, usual) in [(49, false), (50, true), (90, true), (91, false)] {
            assert_eq!(is_usual(time), usual, "{time}");
        }
        let none = Histogram::new();
        for time in [0, 1, 7, u64::MAX] {
            assert!(!none.usual((0, u64::MAX)).contains(time), "{time}");
            assert!(!histogram.usual((u64::MAX, 0)).contains(time), "{time}");
        }
    }

    #[test]
    fn histograms_of_several_threads_add_up() {
        let (one, other) = (Histogram::new(), Histogram::new());
        for (histogram, nanos) in [(&one, 10), (&one, 20), (&other, 60)] {
            histogram.add(nanos);
            histogram.widen(nanos);
        }
        let all = Distribution::of([&one, &other].into_iter(), Scale::NANOS);
        assert_eq!((all.count, all.mean.as_nanos()), (3, 30));
        assert_eq!((all.shortest.as_nanos(), all.longest.as_nanos()), (10, 60));
    }
}
