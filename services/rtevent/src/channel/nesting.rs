//! Nesting: pushes within pushes on one thread.

use std::cell::Cell;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Push in progress on this thread.
pub(super) struct Nested(());

impl Nested {
    /// Begins a push; `None` if the maximum number of nested pushes is in progress on the thread, counted over all
    /// channels.
    #[inline]
    pub(super) fn enter(most: usize) -> Option<Self> {
        let depth = DEPTH.get();
        if depth >= most {
            return None;
        }
        DEPTH.set(depth + 1);
        Some(Self(()))
    }
}

impl Drop for Nested {
    #[inline]
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}
