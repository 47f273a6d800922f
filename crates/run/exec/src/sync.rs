//! Atomics, locks and parking of what is modelled, through one module: in `tests/models` others take their
//! place, which explore every order in which threads may meet.

pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
pub(crate) use std::sync::{Arc, Mutex};
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

/// Takes a lock; what a thread that panicked left behind is as good as before it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Parks one thread until another unparks it. An `unpark` that comes before the `park` is not lost.
#[derive(Debug)]
pub(crate) struct Parker {
    thread: std::thread::Thread,
}

impl Parker {
    /// The calling thread's.
    pub(crate) fn own() -> Self {
        Self {
            thread: std::thread::current(),
        }
    }

    /// Parks the thread that made this, which must be the calling one. May return for no reason.
    pub(crate) fn park(&self, left: Option<Duration>) {
        match left {
            None => std::thread::park(),
            Some(left) => std::thread::park_timeout(left),
        }
    }

    /// Ends that `park`, or the next one.
    pub(crate) fn unpark(&self) {
        self.thread.unpark();
    }
}
