//! Slots by number, in segments that never move: a lookup takes no lock, and growing copies
//! nothing.
//!
//! The first segments double in size, from [`FIRST`] slots up to 32 Ki; all later ones have 64 Ki
//! slots each, and are listed in a table that is made with the first of them. Segments are never
//! removed.

use super::slot::Slot;
use super::sync::{AtomicU32, FIRST, OnceLock, Ordering};
use std::fmt;

/// Number of slots of each segment after the doubling ones.
const LARGE: u32 = 1 << 16;
/// Number of segments of doubling size: 64, 128 … 32 Ki slots.
const DOUBLING: usize = (LARGE / FIRST).ilog2() as usize;
/// Number of slots in all segments of doubling size together.
const DOUBLED: u32 = LARGE - FIRST;
/// Number of large segments: with them there are 2^28 slots in all.
const LARGE_SEGMENTS: usize = 4095;
type Segment<E> = OnceLock<Box<[Slot<E>]>>;

/// Slots, made on demand, a segment at a time.
pub(crate) struct Slots<E> {
    doubling: [Segment<E>; DOUBLING],
    large: OnceLock<Box<[Segment<E>]>>,
    /// Number of slots of the active object map that are in use.
    count: AtomicU32,
}

impl<E> Slots<E> {
    pub(crate) fn new() -> Self {
        Self {
            doubling: std::array::from_fn(|_| OnceLock::new()),
            large: OnceLock::new(),
            count: AtomicU32::new(0),
        }
    }

    /// Returns the number of slots that are or were in use: all with smaller indices.
    pub(crate) fn count(&self) -> u32 {
        self.count.load(Ordering::Acquire)
    }

    /// Adds a slot, and its segment with the first of its slots; returns its index, or `None` if
    /// there are too many. Allocates. Called by one thread at a time.
    pub(crate) fn add(&self) -> Option<u32> {
        let index = self.count.load(Ordering::Relaxed);
        self.make(index)?;
        // Release: a reader of the number finds the slot.
        self.count.store(index + 1, Ordering::Release);
        Some(index)
    }

    /// Returns a slot; `None` if it was never made.
    #[inline]
    pub(crate) fn slot(&self, index: u32) -> Option<&Slot<E>> {
        if index < DOUBLED {
            let (segment, offset) = doubling(index);
            self.doubling.get(segment)?.get()?.get(offset)
        } else {
            let (segment, offset) = large(index);
            self.large.get()?.get(segment)?.get()?.get(offset)
        }
    }

    fn make(&self, index: u32) -> Option<&Slot<E>> {
        if index < DOUBLED {
            let (segment, offset) = doubling(index);
            let size = FIRST << segment;
            self.doubling
                .get(segment)?
                .get_or_init(|| slots(size))
                .get(offset)
        } else {
            let (segment, offset) = large(index);
            self.large
                .get_or_init(|| (0..LARGE_SEGMENTS).map(|_| OnceLock::new()).collect())
                .get(segment)?
                .get_or_init(|| slots(LARGE))
                .get(offset)
        }
    }
}

fn slots<E>(count: u32) -> Box<[Slot<E>]> {
    (0..count).map(|_| Slot::new()).collect()
}

/// Returns the segment of a slot among the doubling ones, and the position in the segment: the
/// highest bit of the index counted from [`FIRST`], and the other bits.
#[inline]
fn doubling(index: u32) -> (usize, usize) {
    let from_first = index + FIRST;
    let highest = from_first.ilog2();
    let segment = highest - FIRST.ilog2();
    (segment as usize, (from_first - (1 << highest)) as usize)
}

/// Returns the segment of a slot among the large ones, and the position in the segment.
#[inline]
fn large(index: u32) -> (usize, usize) {
    let behind = index - DOUBLED;
    ((behind / LARGE) as usize, (behind % LARGE) as usize)
}

impl<E> fmt::Debug for Slots<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots").finish_non_exhaustive()
    }
}
