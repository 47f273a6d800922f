//! Allocator that counts, for tests of memory: a program that uses a function of this crate allocates by it.
//!
//! | counted | of | |
//! |---|---|---|
//! | allocations, and the bytes of a piece of code | the calling thread | [`allocations`], [`allocations_of`], [`bytes_of`] |
//! | bytes that are in use | the process | [`in_use`], [`in_small_blocks`] |
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Size from which a block is not counted by [`in_small_blocks`], in bytes.
pub const LARGE: usize = 16 * 1024;

/// Memory that a piece of code allocated, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes {
    /// Sum of all allocations, whether or not they were freed again. A block that grows counts with the bytes that it gained.
    pub total: usize,
    /// Largest amount of memory that was held at any one time, beyond what was held before.
    pub peak: usize,
}

/// Returns the number of allocations that the calling thread has made so far.
pub fn allocations() -> u64 {
    THREAD.get().allocations
}

/// Returns the number of allocations that the calling thread makes in an action.
pub fn allocations_of(action: impl FnOnce()) -> u64 {
    let before = allocations();
    action();
    allocations() - before
}

/// Returns the bytes that the calling thread allocates in an action. What the action returns is dropped before it ends.
pub fn bytes_of<R>(action: impl FnOnce() -> R) -> Bytes {
    let before = THREAD.get();
    THREAD.set(Counts {
        peak: before.held,
        ..before
    });
    drop(action());
    let counts = THREAD.get();
    THREAD.set(Counts {
        peak: counts.peak.max(before.peak),
        ..counts
    });
    Bytes {
        total: counts.total - before.total,
        peak: (counts.peak - before.held).max(0).cast_unsigned(),
    }
}

/// Returns the number of bytes that the process has allocated and not freed.
pub fn in_use() -> isize {
    IN_USE.load(Ordering::Relaxed).cast_signed()
}

/// Returns the number of bytes of the process in blocks that are smaller than [`LARGE`]. These are freed with what they belong to,
/// and are no buffers that threads keep, so that those in use when all is idle show a leak within a short run.
pub fn in_small_blocks() -> isize {
    IN_SMALL_BLOCKS.load(Ordering::Relaxed).cast_signed()
}

#[derive(Clone, Copy)]
struct Counts {
    allocations: u64,
    total: usize,
    held: isize,
    peak: isize,
}

thread_local! {
    static THREAD: Cell<Counts> = const {
        Cell::new(Counts { allocations: 0, total: 0, held: 0, peak: 0 })
    };
}

// One thread may subtract a block before another has added it, so that both wrap.
static IN_USE: AtomicUsize = AtomicUsize::new(0);
static IN_SMALL_BLOCKS: AtomicUsize = AtomicUsize::new(0);

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Counts a block that has become `after` bytes long and was `before`; 0 is none.
fn changed(before: usize, after: usize) {
    IN_USE.fetch_add(after.wrapping_sub(before), Ordering::Relaxed);
    let small = |size: usize| if size < LARGE { size } else { 0 };
    let (small_before, small_after) = (small(before), small(after));
    if small_before != small_after {
        IN_SMALL_BLOCKS.fetch_add(small_after.wrapping_sub(small_before), Ordering::Relaxed);
    }
    // A thread that is ending has no counts any more.
    let _ = THREAD.try_with(|thread| {
        let counts = thread.get();
        let held = counts.held + after.cast_signed() - before.cast_signed();
        thread.set(Counts {
            allocations: counts.allocations + u64::from(after > 0),
            total: counts.total + after.saturating_sub(before),
            held,
            peak: counts.peak.max(held),
        });
    });
}

// SAFETY: every call is passed on unchanged to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        changed(0, layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        changed(0, layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        changed(layout.size(), 0);
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        changed(layout.size(), size);
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Many blocks: more than the other tests allocate meanwhile.
    const BLOCKS: usize = 10_000;

    #[test]
    fn small_blocks_are_counted_until_they_are_freed_or_grow() {
        let size = LARGE / 16;
        let half = isize::try_from(BLOCKS * size / 2).unwrap_or_default();
        let before = in_small_blocks();
        let mut held: Vec<Vec<u8>> = (0..BLOCKS).map(|_| vec![1; size]).collect();
        assert!(in_small_blocks() > before + half);
        for block in &mut held {
            block.reserve_exact(LARGE);
        }
        assert!(in_small_blocks() < before + half);
        assert!(in_use() > half);
        for block in &mut held {
            block.shrink_to_fit();
        }
        assert!(in_small_blocks() > before + half);
        drop(held);
        assert!(in_small_blocks() < before + half);
    }

    #[test]
    fn a_threads_allocations_are_its_own_with_their_largest_sum() {
        let work = || {
            let mut first = Vec::<u8>::with_capacity(100);
            first.reserve_exact(150);
            drop(Vec::<u8>::with_capacity(1_000));
            first
        };
        assert_eq!(allocations_of(|| drop(work())), 3);
        let outer = bytes_of(|| {
            drop(Vec::<u8>::with_capacity(5_000));
            let inner = bytes_of(work);
            let expected = Bytes {
                total: 1_150,
                peak: 1_150,
            };
            assert_eq!(inner, expected);
        });
        assert_eq!((outer.total, outer.peak), (6_150, 5_000));
    }
}
