//! Atomics, locks and parking of the modelled code, in one module: `tests/models` replaces them by
//! versions that explore every order in which threads may meet.

pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
pub(crate) use std::sync::{Arc, Mutex};
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

/// Takes a lock, and ignores poisoning: a panicking thread leaves the value valid.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Means to park one thread until another unparks it. An `unpark` that precedes the `park` is not
/// lost.
#[derive(Debug)]
pub(crate) struct Parker {
    thread: std::thread::Thread,
}

impl Parker {
    /// Makes the parker of the calling thread.
    pub(crate) fn own() -> Self {
        Self {
            thread: std::thread::current(),
        }
    }

    /// Parks the thread that made this, which must be the calling one. May return spuriously.
    pub(crate) fn park(&self, left: Option<Duration>) {
        match left {
            None => std::thread::park(),
            Some(left) => std::thread::park_timeout(left),
        }
    }

    /// Ends the current or next `park` of the parker's thread.
    pub(crate) fn unpark(&self) {
        self.thread.unpark();
    }
}
