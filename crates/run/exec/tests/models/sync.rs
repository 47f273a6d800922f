//! Replacement for `src/sync.rs`: the same names, whose orders loom explores.

use loom::sync::MutexGuard;
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
pub(crate) use loom::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

pub(crate) struct Parker {
    thread: loom::thread::Thread,
}

impl Parker {
    pub(crate) fn own() -> Self {
        Self {
            thread: loom::thread::current(),
        }
    }

    /// Parks the thread until it is unparked: no time passes in a model.
    pub(crate) fn park(&self, _left: Option<Duration>) {
        loom::thread::park();
    }

    pub(crate) fn unpark(&self) {
        self.thread.unpark();
    }
}
