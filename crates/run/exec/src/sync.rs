//! Atomics, locks, parking and sleeping on a word, in one place for all crates whose lock-free code is modelled.
//!
//! Modelled files name these through a module `sync` of their crate. In the models (`tests/models`) the module of the same
//! name in `punctual-models` takes its place, which runs every interleaving. For crates of this workspace; not stable.

use punctual_sys::futex;
use std::time::Duration;

pub use parking_lot::{Condvar, Mutex, MutexGuard};
pub use std::collections::hash_map::RandomState;
pub use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
pub use std::sync::{Arc, OnceLock};

/// Takes a lock. A thread that panicked with it leaves the value as it is.
#[inline]
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

/// Locks the mutex, unless it is already locked.
#[inline]
pub fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    mutex.try_lock()
}

/// Releases the lock, waits for a notification, and takes the lock again. May return spuriously.
pub fn wait<'m, T>(condvar: &Condvar, mut guard: MutexGuard<'m, T>) -> MutexGuard<'m, T> {
    condvar.wait(&mut guard);
    guard
}

/// Futex word on which one thread sleeps until another wakes it.
#[derive(Debug)]
pub struct Word(AtomicU32);

impl Word {
    /// Makes a futex word with this initial value.
    #[must_use]
    pub fn new(value: u32) -> Self {
        Self(AtomicU32::new(value))
    }

    /// Returns the atomic integer that holds the value of the word.
    #[inline]
    #[must_use]
    pub fn atomic(&self) -> &AtomicU32 {
        &self.0
    }

    /// Sleeps while the word is `value`. `left` returns the time left, `None` for no bound.
    /// Returns `false` once no time is left.
    #[must_use]
    pub fn sleep_while(&self, value: u32, left: impl Fn() -> Option<Duration>) -> bool {
        while self.0.load(Ordering::Acquire) == value {
            let left = left();
            if left.is_some_and(|left| left.is_zero()) {
                return false;
            }
            futex::wait(&self.0, value, left);
        }
        true
    }

    /// Wakes the thread that sleeps on the word, after the word was changed.
    pub fn wake(&self) {
        futex::wake(&self.0);
    }
}

/// Parks one thread until another unparks it. An `unpark` that precedes the `park` is not lost.
#[derive(Debug)]
pub struct Parker {
    thread: std::thread::Thread,
}

impl Parker {
    /// Makes a parker for the calling thread.
    #[must_use]
    pub fn own() -> Self {
        Self {
            thread: std::thread::current(),
        }
    }

    /// Parks the thread that made this, which must be the calling one. May return spuriously.
    pub fn park(&self, left: Option<Duration>) {
        match left {
            None => std::thread::park(),
            Some(left) => std::thread::park_timeout(left),
        }
    }

    /// Ends the current or next `park` of the parker's thread.
    pub fn unpark(&self) {
        self.thread.unpark();
    }
}

/// Cell that several threads access; the callers order the accesses by other means.
#[derive(Debug)]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// Makes a cell with this content.
    pub fn new(content: T) -> Self {
        Self(std::cell::UnsafeCell::new(content))
    }

    /// Calls `read` with a pointer to the content, for reading.
    #[inline(always)]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Calls `write` with a pointer to the content, for writing.
    #[inline(always)]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}
