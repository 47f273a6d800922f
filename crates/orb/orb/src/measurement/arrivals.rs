//! Arrivals of an operation: the distance of two, and the period and jitter within which all of them came.
//!
//! The last arrivals are in a ring, and are looked at once for each block of them: so an upcall only adds to the ring.
//! An upcall counts its arrival before it stores the time: a block is looked at when all of its times are there.

use super::ticks::Scale;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Least number that stands for no distance: the first arrival has none, nor one that another thread has overtaken.
pub(super) const NO_DISTANCE: u64 = 1 << 63;

/// Number of arrivals that are looked at together, and whose mean distance may become the period.
const BLOCK: usize = 64;
/// Number of arrivals that are visited together: of two, the compiler makes code without branches; of more, it does not.
const CHUNK: usize = 2;
/// Number of the last arrivals of a block of which one is the latest: threads that have overtaken one another are few.
const LATEST: usize = 8;
/// Number of arrivals that are kept: several blocks, as threads add others while one looks at them.
const RING: usize = 4 * BLOCK;

/// Time before the first arrival: distances from it are none.
const NONE_BEFORE: u64 = 1 << 63;

/// Content of a place in the ring without a time: none is stored yet, or it has been looked at. Later than all times: a
/// counter of 5 GHz takes 29 years to it.
const EMPTY: u64 = 1 << 62;

/// Period and jitter within which all upcalls of an operation began: any `n` that followed one another took at least
/// `n - 1` periods less the jitter.
///
/// Upcalls are looked at 64 at a time, by the thread that serves the next one. While that thread is preempted, as many as 192
/// wait for it; of more, the oldest are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrivals {
    /// Shortest mean distance of 64 upcalls that followed one another, counted from each 64th; of all, if there were
    /// fewer.
    pub period: Duration,
    /// Jitter for this period. It may be longer, as that of bursts is.
    pub jitter: Duration,
}

/// Times at which upcalls of an operation began, on all threads, in ticks.
#[derive(Debug)]
pub(super) struct ArrivalTimes {
    /// Time of the last one; [`NONE_BEFORE`] before the first.
    last: AtomicU64,
    /// Number of arrivals.
    count: AtomicU64,
    /// Time of the first one.
    first: AtomicU64,
    ring: [AtomicU64; RING],
    bursts: Mutex<Bursts>,
}

/// Period and jitter of the arrivals that have been looked at.
#[derive(Clone, Copy, Debug)]
struct Bursts {
    /// Number of these arrivals, and the latest time of any.
    number: u64,
    latest: u64,
    /// Period, which only becomes shorter; the highest number before it is known.
    period: u64,
    jitter: u64,
    /// Time at which the next one would begin if each had come a period after the one before, or later.
    expected: u64,
}

// All accesses are Relaxed: the numbers order nothing else.
impl ArrivalTimes {
    pub(super) fn new() -> Self {
        Self {
            last: AtomicU64::new(NONE_BEFORE),
            count: AtomicU64::new(0),
            first: AtomicU64::new(0),
            ring: [const { AtomicU64::new(EMPTY) }; RING],
            bursts: Mutex::new(Bursts::NONE),
        }
    }

    /// Adds an arrival at this time, and looks at the ones before if a block begins with it. Returns the distance to the one
    /// before; [`NO_DISTANCE`] or more if there is none.
    #[inline(always)]
    pub(super) fn add(&self, at: u64) -> u64 {
        let last = self.last.swap(at, Ordering::Relaxed);
        let before = self.count.fetch_add(1, Ordering::Relaxed);
        self.ring[before as usize % RING].store(at, Ordering::Relaxed);
        let distance = at.wrapping_sub(last);
        if before.is_multiple_of(BLOCK as u64) {
            self.look_at(before, at);
        }
        distance
    }

    /// Looks at the blocks of this number of arrivals. Never waits: if another thread is about it, or has not stored a time
    /// yet, the next block's end will do. The first arrival, of number 0 at this time, is kept too.
    #[cold]
    #[inline(never)]
    fn look_at(&self, number: u64, at: u64) {
        if number == 0 {
            self.first.store(at, Ordering::Relaxed);
        }
        let Ok(mut bursts) = self.bursts.try_lock() else {
            return;
        };
        bursts.skip_lost(number);
        while bursts.number < number {
            let block = self.block(bursts.number);
            if !bursts.add(block) {
                break;
            }
            for place in block {
                place.store(EMPTY, Ordering::Relaxed);
            }
        }
    }

    /// Returns the time from the first arrival to the last one so far: the sum of their distances.
    pub(super) fn span(&self) -> u64 {
        let [first, last] = [&self.first, &self.last].map(|time| time.load(Ordering::Relaxed));
        match last {
            NONE_BEFORE => 0,
            _ => last.saturating_sub(first),
        }
    }

    /// Returns period and jitter of all arrivals so far; `None` of fewer than two.
    pub(super) fn all(&self, scale: Scale) -> Option<Arrivals> {
        let known = self.bursts.lock().ok()?;
        // A copy: the mean of fewer than a block must not stay the period.
        let mut bursts = *known;
        let number = self.count.load(Ordering::Relaxed);
        bursts.skip_lost(number);
        while bursts.number < number {
            let block = self.block(bursts.number);
            let counted = usize::try_from(number - bursts.number).unwrap_or(BLOCK);
            let stored = times(block).take(counted).take_while(|time| *time != EMPTY);
            let stored = stored.count();
            if !bursts.add(&block[..stored]) || stored < BLOCK {
                break;
            }
        }
        (bursts.period < u64::MAX).then(|| Arrivals {
            period: scale.time(bursts.period),
            jitter: scale.time_at_least(bursts.jitter),
        })
    }

    /// Returns the places of the block that begins with an arrival.
    fn block(&self, first: u64) -> &[AtomicU64] {
        let first = first as usize % RING;
        &self.ring[first..first + BLOCK]
    }
}

/// Returns the times in places of the ring.
fn times(places: &[AtomicU64]) -> impl Iterator<Item = u64> {
    places.iter().map(|place| place.load(Ordering::Relaxed))
}

impl Bursts {
    const NONE: Self = Self {
        number: 0,
        latest: 0,
        period: u64::MAX,
        jitter: 0,
        expected: 0,
    };

    /// Skips the arrivals that later ones may have overwritten, as a thread that looks at them was held up for long.
    fn skip_lost(&mut self, number: u64) {
        let kept = number.saturating_sub((RING - BLOCK) as u64);
        self.number = self.number.max(kept.next_multiple_of(BLOCK as u64));
    }

    /// Adds arrivals: a block, or the last ones, which are fewer. Changes nothing and returns `false` if a time is not
    /// stored yet.
    ///
    /// They need not be in the order of their times, where threads have overtaken one another: of any that follow one
    /// another in time, the first and the last of this order are no farther apart, and have no fewer between them.
    fn add(&mut self, arrivals: &[AtomicU64]) -> bool {
        let before = *self;
        self.pass(arrivals);
        if self.expected >= EMPTY - BLOCK as u64 {
            *self = before;
            return false;
        }
        let last = &arrivals[arrivals.len().saturating_sub(LATEST)..];
        let latest = times(last).fold(before.latest, u64::max);
        let mean = before.mean_until(latest, arrivals);
        if let Some(mean) = mean.filter(|mean| *mean < before.period) {
            *self = before;
            self.shorten(mean);
            self.pass(arrivals);
        }
        self.latest = latest;
        true
    }

    /// Returns the mean distance of arrivals up to the latest one, if it may be a period.
    fn mean_until(&self, latest: u64, arrivals: &[AtomicU64]) -> Option<u64> {
        let count = arrivals.len();
        if self.period == u64::MAX {
            let begin = times(arrivals).fold(latest, u64::min);
            return (latest - begin).checked_div(count.checked_sub(1)? as u64);
        }
        (count == BLOCK).then(|| (latest - self.latest) / BLOCK as u64)
    }

    /// Adds arrivals with the period as it is. All are visited once, with few instructions for each.
    fn pass(&mut self, times: &[AtomicU64]) {
        self.number += times.len() as u64;
        let (period, mut expected) = (self.period, self.expected);
        // Negative, as the difference is that is at hand where the later of the two is chosen.
        let mut jitter = self.jitter.cast_signed().wrapping_neg();
        let mut visit = |time: &AtomicU64| {
            let time = time.load(Ordering::Relaxed);
            jitter = jitter.min(time.wrapping_sub(expected).cast_signed());
            expected = expected.max(time).wrapping_add(period);
        };
        let (chunks, rest) = times.as_chunks::<CHUNK>();
        chunks.iter().flatten().for_each(&mut visit);
        rest.iter().for_each(&mut visit);
        self.expected = expected;
        self.jitter = jitter.wrapping_neg().cast_unsigned();
    }

    /// Makes the period shorter, if it is one. A jitter that was enough for the longer period is, for the shorter one,
    /// enough in the proportion of both: a span of `n` periods `P` less `J` is at least as long as `n` periods `p` less
    /// `J * p / P`.
    fn shorten(&mut self, period: u64) {
        if period >= self.period {
            return;
        }
        if self.period < u64::MAX {
            let scaled = |time: u64| {
                let scaled = u128::from(time) * u128::from(period) / u128::from(self.period.max(1));
                u64::try_from(scaled).map_or(time, |scaled| scaled + 1)
            };
            let ahead = scaled(self.expected.saturating_sub(self.latest));
            self.jitter = scaled(self.jitter);
            self.expected = self.latest.saturating_add(ahead);
        }
        self.period = period;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds arrivals as upcalls do, and returns period and jitter.
    fn arrived(times: &[u64]) -> Option<(u64, u64)> {
        let all = ArrivalTimes::new();
        for time in times {
            all.add(*time);
        }
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap();
        let all = all.all(Scale::NANOS)?;
        Some((nanos(all.period), nanos(all.jitter)))
    }

    /// Returns the smallest jitter for a period, by the definition.
    fn smallest_jitter(times: &[u64], period: u64) -> u64 {
        let spans = (0..times.len()).flat_map(|first| {
            let begin = times[first];
            let after = (0..).zip(&times[first..]);
            after.map(move |(distances, end)| (period * distances).saturating_sub(end - begin))
        });
        spans.max().unwrap()
    }

    /// Returns arrivals at distances by their number.
    fn at_distances(count: u64, distance: impl Fn(u64) -> u64) -> Vec<u64> {
        let mut now = 1 << 40;
        let next = |number| {
            now += distance(number);
            now
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn a_single_arrival_has_no_period() {
        assert_eq!(arrived(&[]), None);
        assert_eq!(arrived(&[7]), None);
        assert_eq!(arrived(&[7, 9]), Some((2, 0)));
    }

    #[test]
    fn the_jitter_of_bursts_is_the_smallest_for_the_period() {
        for (burst, count) in [(2, 5), (5, 63), (8, 64), (8, 65), (20, 400), (100, 1000)] {
            // Each burst is as close as the others: so the first block has the period of all.
            let is_first = |number: u64| number.is_multiple_of(burst);
            let times = at_distances(count, |number| if is_first(number) { 10_000 } else { 100 });
            let (period, jitter) = arrived(&times).unwrap();
            let smallest = smallest_jitter(&times, period);
            assert!(
                jitter >= smallest,
                "{burst} {count}: {period} {jitter} {smallest}"
            );
            assert!(
                jitter <= smallest + period / 4,
                "{burst} {count}: {period} {jitter} {smallest}"
            );
        }
    }

    #[test]
    fn a_rate_that_rises_leaves_no_jitter_of_the_slow_time() {
        let times = at_distances(1000, |number| if number < 300 { 1_000_000 } else { 1_000 });
        let (period, jitter) = arrived(&times).unwrap();
        assert_eq!(period, 1_000);
        assert!(jitter <= 20_000, "{jitter}");
        assert!(jitter >= smallest_jitter(&times, period));
    }

    #[test]
    fn no_arrivals_are_closer_than_period_and_jitter_whatever_their_pattern() {
        for seed in 1_u64..200 {
            let noise = |number: u64| {
                let mixed = (number + seed * 1000).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (mixed >> 40) % (1 + seed * 10)
            };
            let is_pause = |number: u64| noise(number / 7).is_multiple_of(3);
            let times = at_distances(50 + seed * 3, |number| {
                noise(number) + if is_pause(number) { 5_000 } else { 0 }
            });
            let (period, jitter) = arrived(&times).unwrap();
            assert!(jitter >= smallest_jitter(&times, period), "{seed}");
        }
    }

    #[test]
    fn arrivals_that_overtake_one_another_are_put_in_order() {
        let ordered = at_distances(200, |number| 100 + number % 3);
        for swapped in 1..ordered.len() {
            let mut times = ordered.clone();
            times.swap(swapped - 1, swapped);
            let (period, jitter) = arrived(&times).unwrap();
            assert!(
                period <= 101 && jitter >= smallest_jitter(&ordered, period),
                "{swapped}"
            );
            assert!(jitter <= 210, "{swapped}: {jitter}");
        }
    }

    #[test]
    fn a_block_that_another_thread_looks_at_is_added_with_the_next() {
        let all = ArrivalTimes::new();
        let times = at_distances(300, |number| if number < 130 { 10 } else { 1_000 });
        for (time, number) in times.iter().zip(0..) {
            let busy = (number < 190).then(|| all.bursts.lock().unwrap());
            all.add(*time);
            drop(busy);
        }
        let all = all.all(Scale::NANOS).unwrap();
        assert_eq!(all.period, Duration::from_nanos(10));
    }

    #[test]
    fn a_time_that_is_counted_and_not_stored_yet_is_looked_at_later() {
        let all = ArrivalTimes::new();
        let times = at_distances(2_050, |_| 100);
        let mut late = None;
        for (time, number) in times.iter().zip(0..) {
            let place = &all.ring[number % RING];
            let before = place.load(Ordering::Relaxed);
            all.add(*time);
            if number % 100 == 62 {
                // As if another thread had not come further.
                place.store(before, Ordering::Relaxed);
                late = Some((place, *time, number));
            }
            if let Some(found) = all.all(Scale::NANOS) {
                let exact = [100, 0].map(Duration::from_nanos);
                assert_eq!([found.period, found.jitter], exact, "{number}");
            }
            if let Some((place, time, _)) = late.take_if(|(.., since)| *since + 70 == number) {
                place.store(time, Ordering::Relaxed);
            }
        }
        assert_eq!(all.bursts.lock().unwrap().number, 2_048, "none is lost");
    }

    #[test]
    fn reading_between_two_arrivals_changes_nothing() {
        // The first two are a burst, and have a short mean distance.
        let times = at_distances(300, |number| if number < 2 { 1 } else { 1_000 });
        let all = ArrivalTimes::new();
        for time in &times {
            all.add(*time);
            all.all(Scale::NANOS);
        }
        let all = all.all(Scale::NANOS).unwrap();
        let read = [all.period, all.jitter].map(|time| time.as_nanos());
        let (period, jitter) = arrived(&times).unwrap();
        assert_eq!(read, [period, jitter].map(u128::from));
        assert_eq!(period, 62_001 / 63);
    }

    #[test]
    fn an_overtaken_arrival_has_no_distance() {
        let all = ArrivalTimes::new();
        let distances = [5, 9, 7, 10].map(|at| all.add(at).min(NO_DISTANCE));
        assert_eq!(distances, [NO_DISTANCE, 4, NO_DISTANCE, 3]);
        assert_eq!(all.span(), 5);
        assert_eq!(ArrivalTimes::new().span(), 0);
    }
}
