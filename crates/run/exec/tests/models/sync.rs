//! What takes the place of `src/sync.rs`: the same names, of which loom explores every order.

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

    /// No time passes in a model: a thread is parked until it is unparked.
    pub(crate) fn park(&self, _left: Option<Duration>) {
        loom::thread::park();
    }

    pub(crate) fn unpark(&self) {
        self.thread.unpark();
    }
}
