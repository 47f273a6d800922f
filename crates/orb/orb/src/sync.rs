//! Atomics, locks and sleeping on a word, in one place: the models (`tests/models`) have a model checker's
//! in their place, which runs every interleaving.

pub(crate) use parking_lot::{Mutex, MutexGuard};
use punctual_exec::Deadline;
use punctual_sys::futex;
pub(crate) use std::sync::OnceLock;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};

/// Locks.
#[inline]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

/// Locks, if nobody else has it locked.
#[inline]
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    mutex.try_lock()
}

/// Tells the compiler that what calls this is rarely on a call's way, so that the rest is laid out straight: std's
/// `cold_path`, which Rust before 1.95 lacks.
#[inline]
#[cold]
pub(crate) const fn cold_path() {}

/// A word that one thread sleeps on.
#[derive(Debug)]
pub(crate) struct Word(AtomicU32);

impl Word {
    pub(crate) fn new(value: u32) -> Self {
        Self(AtomicU32::new(value))
    }

    #[inline]
    pub(crate) fn atomic(&self) -> &AtomicU32 {
        &self.0
    }

    /// Sleeps while the word is `value`; `false` when `deadline` passed first.
    pub(crate) fn sleep_while(&self, value: u32, deadline: Deadline) -> bool {
        while self.0.load(Ordering::Acquire) == value {
            let left = deadline.remaining();
            if left.is_some_and(|left| left.is_zero()) {
                return false;
            }
            futex::wait(&self.0, value, left);
        }
        true
    }

    /// Wakes who sleeps here, after the word was changed.
    pub(crate) fn wake(&self) {
        futex::wake(&self.0);
    }
}
