//! Changes of what decides who takes an event.

use std::sync::atomic::{AtomicU64, Ordering};

/// Number of changes of filters, of subscribers, and of their types.
#[derive(Debug, Default)]
pub(crate) struct Generation(AtomicU64);

impl Generation {
    /// Notes a change that has been made.
    pub(crate) fn change(&self) {
        // Pairs with the load in `now`: an event that sees the old number began before the change was acknowledged.
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns the number of changes so far.
    pub(crate) fn now(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}
