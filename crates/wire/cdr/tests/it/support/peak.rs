//! Allocator that measures the peak of memory held by a piece of code.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn changed(more: usize, less: usize) {
    // Nothing is counted outside of a thread's life.
    let _ = HELD.try_with(|held| {
        held.set(held.get().wrapping_add(more).wrapping_sub(less));
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
}

// SAFETY: every call is passed on to the system's allocator unchanged; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        changed(layout.size(), 0);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        changed(0, layout.size());
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Returns the most memory that this thread held during `work`, beyond what it held before.
pub(crate) fn peak_of<R>(work: impl FnOnce() -> R) -> usize {
    HELD.set(usize::MAX / 2);
    PEAK.set(usize::MAX / 2);
    drop(work());
    PEAK.get() - usize::MAX / 2
}
