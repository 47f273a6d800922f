//! What takes the place of `src/sync.rs`: the same names, of which loom explores every order.

use loom::sync::MutexGuard;
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
pub(crate) use loom::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

pub(crate) struct Bed {
    thread: loom::thread::Thread,
}

impl Bed {
    pub(crate) fn own() -> Self {
        Self {
            thread: loom::thread::current(),
        }
    }

    /// No time passes in a model: who sleeps sleeps until it is woken.
    pub(crate) fn sleep(&self, _left: Option<Duration>) {
        loom::thread::park();
    }

    pub(crate) fn wake(&self) {
        self.thread.unpark();
    }
}
