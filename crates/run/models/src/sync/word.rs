//! Sleeping on a word, and parking. No time passes in a model.

use super::atomics::AtomicU32;
use loom::sync::atomic::Ordering;
use loom::sync::{Condvar, Mutex};
use std::time::Duration;

/// A word that one thread sleeps on.
#[derive(Debug)]
pub struct Word {
    value: AtomicU32,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Word {
    /// Makes one with this value.
    #[must_use]
    pub fn new(value: u32) -> Self {
        Self {
            value: AtomicU32::new(value),
            lock: Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    /// Returns the word itself.
    #[must_use]
    pub fn atomic(&self) -> &AtomicU32 {
        &self.value
    }

    /// Sleeps while the word is `value`. As the futex it compares under a lock that a thread that wakes takes. If the time
    /// is limited, it is over.
    ///
    /// # Panics
    /// Where another thread of the model has panicked.
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

    /// Wakes the thread that sleeps here.
    ///
    /// # Panics
    /// Where another thread of the model has panicked.
    pub fn wake(&self) {
        drop(self.lock.lock().unwrap());
        self.changed.notify_one();
    }
}

/// Parks one thread until another unparks it.
#[derive(Debug)]
pub struct Parker {
    thread: loom::thread::Thread,
}

impl Parker {
    /// Returns that of the calling thread.
    #[must_use]
    pub fn own() -> Self {
        Self {
            thread: loom::thread::current(),
        }
    }

    /// Parks the calling thread until it is unparked, however long.
    pub fn park(&self, _left: Option<Duration>) {
        loom::thread::park();
    }

    /// Ends that `park`, or the next one.
    pub fn unpark(&self) {
        self.thread.unpark();
    }
}
