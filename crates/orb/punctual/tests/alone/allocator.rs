//! Allocator of the tests, which counts: a thread's allocations, and the bytes that are in use.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, Ordering};

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

static IN_USE: AtomicIsize = AtomicIsize::new(0);

/// Returns the number of allocations that the calling thread has made.
pub(crate) fn allocated() -> u64 {
    ALLOCATIONS.get()
}

/// Returns the number of bytes that the process has allocated and not freed.
pub(crate) fn in_use() -> isize {
    IN_USE.load(Ordering::Relaxed)
}

fn count(added: usize, freed: usize) {
    IN_USE.fetch_add(added.wrapping_sub(freed).cast_signed(), Ordering::Relaxed);
    if added > 0 {
        // A thread that is ending has no counter any more.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
    }
}

// SAFETY: every call is passed on unchanged to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
