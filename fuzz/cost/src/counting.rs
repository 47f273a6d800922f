//! Counting allocator, with counts for each thread.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static NOW: Cell<Counts> = const { Cell::new(Counts { total: 0, held: 0, peak: 0 }) };
}

#[derive(Clone, Copy)]
struct Counts {
    total: usize,
    held: isize,
    peak: isize,
}

/// Memory that a piece of code allocated, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocated {
    /// Sum of all allocations, whether or not they were freed again.
    pub total: usize,
    /// Largest amount of memory held at any one time, in bytes.
    pub peak: usize,
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn changed(more: usize, less: usize) {
    // Outside of a thread's lifetime nothing is counted.
    let _ = NOW.try_with(|now| {
        let counts = now.get();
        let held = counts.held + more.cast_signed() - less.cast_signed();
        now.set(Counts {
            total: counts.total + more,
            held,
            peak: counts.peak.max(held),
        });
    });
}

// SAFETY: every call is passed on unchanged to the system's allocator; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        changed(layout.size(), 0);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        changed(layout.size(), 0);
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Growing a block counts only the added bytes as allocated.
        changed(
            size.saturating_sub(layout.size()),
            layout.size().saturating_sub(size),
        );
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        changed(0, layout.size());
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Runs `work` and returns how much memory the calling thread allocated during it.
pub fn allocated_by(work: impl FnOnce()) -> Allocated {
    let zero = Counts {
        total: 0,
        held: 0,
        peak: 0,
    };
    NOW.set(zero);
    work();
    let counts = NOW.get();
    Allocated {
        total: counts.total,
        peak: counts.peak.max(0).cast_unsigned(),
    }
}
