//! Ring buffer of one thread's stamps, which the thread writes while other threads may read.
//!
//! A stamp is one word, so it is always read as a whole. The writer stores a word, overwriting the
//! oldest, and then publishes it by incrementing a count. The reader copies the words below the
//! count, and then reads the count again: words that the writer may have overwritten in between are
//! discarded.

use super::point::Point;
use crate::sync::{AtomicU64, Ordering};

/// Number of stamps that a thread keeps, enough for about two thousand calls.
pub const CAPACITY: usize = 1 << 15;

/// Bits of the counter that are replaced by the point. At 3 GHz, the remaining bits wrap around
/// once in 278 days.
const POINT_BITS: u32 = 8;
const TICKS: u64 = u64::MAX >> POINT_BITS;

/// Time stamp of a point that a call has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Point of the call at which the stamp was recorded and a stage begins.
    pub point: Point,
    /// Value of the processor's counter, without its uppermost byte.
    pub ticks: u64,
}

impl Stamp {
    /// Creates a time stamp from a value of the processor's counter.
    #[must_use]
    pub const fn new(point: Point, counter: u64) -> Self {
        let ticks = counter & TICKS;
        Self { point, ticks }
    }

    /// Returns the ticks from the earlier stamp `other` to this one.
    #[must_use]
    pub const fn since(self, other: Self) -> u64 {
        self.ticks.wrapping_sub(other.ticks) & TICKS
    }

    /// Returns the stamp as one number, for other processes.
    #[must_use]
    pub const fn to_word(self) -> u64 {
        (self.ticks << POINT_BITS) | self.point.number() as u64
    }

    /// Converts back from [`Stamp::to_word`]; returns `None` if the number is not a stamp.
    #[must_use]
    pub fn from_word(word: u64) -> Option<Self> {
        let [number, ..] = word.to_le_bytes();
        let ticks = word >> POINT_BITS;
        Point::of(number).map(|point| Self { point, ticks })
    }
}

/// Ring buffer of stamps, in which the oldest are overwritten.
#[derive(Debug)]
pub(super) struct Ring {
    words: Box<[AtomicU64]>,
    /// Number of time stamps that were ever written to the ring buffer.
    written: AtomicU64,
}

/// Stamps of a ring buffer since it was last read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) stamps: Vec<Stamp>,
    /// Number of stamps that were overwritten before they were read.
    pub(super) lost: u64,
    /// Number of the stamp at which the next read begins.
    pub(super) end: u64,
}

impl Ring {
    /// Creates a ring buffer for `capacity` stamps, a power of two.
    pub(super) fn new(capacity: usize) -> Self {
        debug_assert!(capacity.is_power_of_two());
        Self {
            words: (0..capacity).map(|_| AtomicU64::new(0)).collect(),
            written: AtomicU64::new(0),
        }
    }

    /// Adds a stamp. May be called only by the thread that owns the ring buffer.
    #[inline]
    pub(super) fn push(&self, stamp: Stamp) {
        // Relaxed: this thread is the only writer.
        let number = self.written.load(Ordering::Relaxed);
        if let Some(word) = self.words.get(self.place(number)) {
            // Release pairs with the Acquire in `read`: a reader that sees this word sees the count
            // ahead of it.
            word.store(stamp.to_word(), Ordering::Release);
        }
        // Release pairs with the first Acquire in `read`: a reader that sees the count sees the
        // words below it.
        self.written.store(number + 1, Ordering::Release);
    }

    /// Returns the stamps from number `begin` on, as far as they have not been overwritten.
    pub(super) fn read(&self, begin: u64) -> Read {
        let capacity = self.words.len() as u64;
        let end = self.written.load(Ordering::Acquire);
        let oldest = begin.max(end.saturating_sub(capacity));
        let word = |number| {
            let word = self.words.get(self.place(number));
            // Acquire: a word of the next round makes the count visible by which `kept` excludes
            // it.
            word.map_or(0, |word| word.load(Ordering::Acquire))
        };
        let words: Vec<u64> = (oldest..end).map(word).collect();
        // The writer may be writing the word of this very number.
        let now = self.written.load(Ordering::Acquire);
        let kept = oldest.max((now + 1).saturating_sub(capacity)).min(end);
        let overwritten = usize::try_from(kept - oldest).unwrap_or(usize::MAX);
        let stamps: Vec<Stamp> = words
            .into_iter()
            .skip(overwritten)
            .filter_map(Stamp::from_word)
            .collect();
        Read {
            lost: kept - begin,
            stamps,
            end,
        }
    }

    #[inline]
    fn place(&self, number: u64) -> usize {
        // A ring is far smaller than the range of `usize`, and its length a power of two.
        #[allow(clippy::cast_possible_truncation)]
        let number = number as usize;
        number & (self.words.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(ticks: u64) -> Stamp {
        Stamp::new(Point::ClientMarshal, ticks)
    }

    fn ticks(read: &Read) -> Vec<u64> {
        read.stamps.iter().map(|stamp| stamp.ticks).collect()
    }

    #[test]
    fn stamps_are_read_once_and_in_their_order() {
        let ring = Ring::new(8);
        (0..3).for_each(|ticks| ring.push(stamp(ticks)));
        let read = ring.read(0);
        assert_eq!((ticks(&read), read.lost), (vec![0, 1, 2], 0));
        ring.push(stamp(3));
        let next = ring.read(read.end);
        assert_eq!((ticks(&next), next.lost), (vec![3], 0));
        assert_eq!(ring.read(next.end).stamps, []);
    }

    #[test]
    fn the_oldest_are_overwritten_and_counted_as_lost() {
        let ring = Ring::new(8);
        (0..21).for_each(|ticks| ring.push(stamp(ticks)));
        let read = ring.read(2);
        // One less than there is room for: the writer might have been writing the oldest.
        assert_eq!(ticks(&read), (14..21).collect::<Vec<_>>());
        assert_eq!(read.lost, 12);
    }

    #[test]
    fn a_reader_beside_the_writer_gets_every_stamp_whole_and_in_order_or_counts_it_as_lost() {
        const STAMPS: u64 = 200_000;
        let ring = Ring::new(64);
        std::thread::scope(|scope| {
            scope.spawn(|| (0..STAMPS).for_each(|ticks| ring.push(stamp(ticks))));
            let mut at = 0;
            while at < STAMPS {
                let read = ring.read(at);
                let first = at + read.lost;
                assert_eq!(ticks(&read), (first..read.end).collect::<Vec<_>>());
                at = read.end;
            }
        });
    }

    #[test]
    fn time_goes_on_where_the_counter_goes_round() {
        let (before, after) = (stamp(u64::MAX), stamp(u64::MAX.wrapping_add(10)));
        assert_eq!(after.since(before), 10);
    }

    #[test]
    fn a_stamp_is_the_same_behind_its_number_and_other_numbers_are_none() {
        for &point in Point::ALL {
            let stamp = Stamp::new(point, 0x0012_3456_789a_bcde);
            assert_eq!(Stamp::from_word(stamp.to_word()), Some(stamp));
        }
        assert_eq!(Stamp::from_word(u64::MAX), None);
    }
}
