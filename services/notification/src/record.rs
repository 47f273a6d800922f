//! State of the record that the store has of a channel, an administrator or a proxy.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, MutexGuard};

/// State of a record.
#[derive(Debug, Default)]
pub(crate) struct RecordState {
    /// Held while a change is made, one at a time.
    order: Mutex<()>,
    is_there: AtomicBool,
}

impl RecordState {
    /// Keeps changes from being made until the guard is dropped.
    pub(crate) fn order(&self) -> MutexGuard<'_, ()> {
        self.order.lock()
    }

    /// Returns whether the store has the record.
    pub(crate) fn is_there(&self) -> bool {
        self.is_there.load(Ordering::SeqCst)
    }

    /// Notes whether the store has the record; returns whether it had it.
    pub(crate) fn note(&self, is_there: bool) -> bool {
        // Pairs with the same of a thread that ends the object at the same time: one of them finds the record.
        self.is_there.swap(is_there, Ordering::SeqCst)
    }
}
