//! Sleeping on a word, and parking of threads. No time passes in a model.

use super::atomics::AtomicU32;
use loom::sync::atomic::Ordering;
use loom::sync::{Condvar, Mutex};
use std::time::Duration;

/// Model of a futex word on which one thread sleeps.
#[derive(Debug)]
pub struct Word {
    value: AtomicU32,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Word {
    /// Makes a modelled futex word with this initial value.
    #[must_use]
    pub fn new(value: u32) -> Self {
        Self {
            value: AtomicU32::new(value),
            lock: Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    /// Returns the atomic integer that holds the value of the word.
    #[must_use]
    pub fn atomic(&self) -> &AtomicU32 {
        &self.value
    }

    /// Sleeps while the word is `value`. Like the futex, it compares the value under a lock, which
    /// [`Word::wake`] takes, too. A time limit counts as passed: with one, returns `false` instead
    /// of sleeping.
    ///
    /// # Panics
    /// If another thread of the model has panicked.
    #[must_use]
    pub fn sleep_while(&self, value: u32, left: impl Fn() -> Option<Duration>) -> bool {
        let mut guard = self.lock.lock().unwrap();
        while self.value.load(Ordering::Acquire) == value {
            if left().is_some() {
                return false;
            }
            guard = self.changed.wait(guard).unwrap();
        }
        true
    }

    /// Wakes the thread that sleeps on the word.
    ///
    /// # Panics
    /// If another thread of the model has panicked.
    pub fn wake(&self) {
        drop(self.lock.lock().unwrap());
        self.changed.notify_one();
    }
}

/// Parker, with which one thread blocks until another unparks it.
#[derive(Debug)]
pub struct Parker {
    thread: loom::thread::Thread,
}

impl Parker {
    /// Returns the parker of the calling thread.
    #[must_use]
    pub fn own() -> Self {
        Self {
            thread: loom::thread::current(),
        }
    }

    /// Parks the calling thread until it is unparked; the time limit is ignored.
    pub fn park(&self, _left: Option<Duration>) {
        loom::thread::park();
    }

    /// Ends the thread's current `park`, or the next one.
    pub fn unpark(&self) {
        self.thread.unpark();
    }
}
