//! Atomics, locks and parking of what is modelled, through one door: in `tests/models` others take their
//! place, which explore every order in which threads may meet.

pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
pub(crate) use std::sync::{Arc, Mutex};
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

/// Takes a lock; what a thread that panicked left behind is as good as before it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where one thread sleeps until another says so. Saying so comes first or last: it is not lost.
#[derive(Debug)]
pub(crate) struct Bed {
    thread: std::thread::Thread,
}

impl Bed {
    /// The calling thread's.
    pub(crate) fn own() -> Self {
        Self {
            thread: std::thread::current(),
        }
    }

    /// Sleeps, on the thread whose bed it is. May end for no reason.
    pub(crate) fn sleep(&self, left: Option<Duration>) {
        match left {
            None => std::thread::park(),
            Some(left) => std::thread::park_timeout(left),
        }
    }

    /// Ends that sleep, or the next one.
    pub(crate) fn wake(&self) {
        self.thread.unpark();
    }
}
