//! Number of events that a thread serves, nested.

use std::cell::Cell;

thread_local! {
    /// Number of reactor events that this thread is serving, one within another.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Returns the number of events that the calling thread serves, nested: 1 in a handler, more in one
/// that is served while an outer one waits ([`crate::Reactor::run_until`]).
#[must_use]
pub fn depth() -> u32 {
    DEPTH.get()
}

/// Guard that counts an event while it is served.
pub(super) struct Nesting;

impl Nesting {
    pub(super) fn new() -> Self {
        DEPTH.set(DEPTH.get() + 1);
        Self
    }
}

impl Drop for Nesting {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}
