//! State of a channel's record in the store.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, MutexGuard};

/// State of the record.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// Held while a change is made, one at a time.
    order: Mutex<()>,
    is_there: AtomicBool,
}

impl Record {
    /// Keeps changes from being made until the guard is dropped.
    pub(super) fn order(&self) -> MutexGuard<'_, ()> {
        self.order.lock()
    }

    /// Returns whether the store has the channel.
    pub(super) fn is_there(&self) -> bool {
        self.is_there.load(Ordering::SeqCst)
    }

    pub(super) fn note(&self, is_there: bool) {
        self.is_there.store(is_there, Ordering::SeqCst);
    }
}
