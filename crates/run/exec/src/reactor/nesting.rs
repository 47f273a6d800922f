//! Number of events that a thread serves, nested.

use std::cell::Cell;

thread_local! {
    /// Set while this thread runs a reactor ([`crate::Reactor::run`]).
    static RUNS: Cell<bool> = const { Cell::new(false) };
    /// Number of reactor events that this thread is serving, one within another.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Returns the number of events that the calling thread serves, nested: 1 in a handler, more in one
/// that is served while an outer one waits ([`crate::Reactor::run_until`]).
#[must_use]
pub fn depth() -> u32 {
    DEPTH.get()
}

/// Returns whether the calling thread runs a reactor, and is in one event only: it waits for nothing else.
pub(super) fn is_in_one_event() -> bool {
    RUNS.get() && DEPTH.get() == 1
}

/// Guard that marks the calling thread as one that runs a reactor.
pub(super) struct Running;

impl Running {
    pub(super) fn new() -> Self {
        RUNS.set(true);
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNS.set(false);
    }
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
