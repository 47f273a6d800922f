//! Bytes in small blocks of a process's heap, counted at each allocation.
//!
//! Resident memory also has what the allocator and the buffers of threads keep for later, which takes
//! minutes to reach its level. Small blocks are freed with what they belong to, so that those in use
//! when all is idle show a leak within a short run.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Size from which a block is not counted, in bytes: it may be a buffer that a thread keeps.
pub(crate) const LARGE: usize = 16 * 1024;

/// Allocator of the system, with the bytes in small blocks counted.
struct Counted;

#[global_allocator]
static ALLOCATOR: Counted = Counted;

static IN_SMALL_BLOCKS: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of bytes in small blocks that are allocated now.
pub(crate) fn in_small_blocks() -> u64 {
    // A block that one thread frees may be subtracted before another thread's is added.
    let bytes = IN_SMALL_BLOCKS.load(Ordering::Relaxed).cast_signed();
    u64::try_from(bytes).unwrap_or_default()
}

/// Counts a block that was allocated, if it was.
fn add(block: *mut u8, size: usize) {
    if size < LARGE && !block.is_null() {
        IN_SMALL_BLOCKS.fetch_add(size, Ordering::Relaxed);
    }
}

fn subtract(size: usize) {
    if size < LARGE {
        IN_SMALL_BLOCKS.fetch_sub(size, Ordering::Relaxed);
    }
}

// SAFETY: every call is passed on unchanged to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        let block = unsafe { System.alloc(layout) };
        add(block, layout.size());
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let block = unsafe { System.alloc_zeroed(layout) };
        add(block, layout.size());
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        subtract(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        let moved = unsafe { System.realloc(block, layout, size) };
        if !moved.is_null() {
            subtract(layout.size());
            add(moved, size);
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::{LARGE, in_small_blocks};

    /// Many blocks: more than the other tests allocate meanwhile.
    const BLOCKS: usize = 10_000;

    fn blocks(size: usize) -> Vec<Vec<u8>> {
        (0..BLOCKS).map(|_| vec![1; size]).collect()
    }

    #[test]
    fn small_blocks_are_counted_until_they_are_freed_or_grow() {
        let size = LARGE / 16;
        let half = (BLOCKS * size / 2) as u64;
        let before = in_small_blocks();
        let mut held = blocks(size);
        assert!(in_small_blocks() > before + half);
        for block in &mut held {
            block.reserve_exact(LARGE);
        }
        assert!(in_small_blocks() < before + half);
        for block in &mut held {
            block.shrink_to_fit();
        }
        assert!(in_small_blocks() > before + half);
        drop(held);
        assert!(in_small_blocks() < before + half);
    }
}
