//! Atomics, locks and sleeping on a word, in one place: under `--cfg loom` a model checker's take their
//! place, which runs every interleaving (see the `models` in [`crate::client`]).

#[cfg(loom)]
pub(crate) use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU32, AtomicU64, Ordering, fence},
};
#[cfg(not(loom))]
pub(crate) use parking_lot::{Mutex, MutexGuard};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// Locks.
#[cfg(not(loom))]
#[inline]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

/// Locks, if nobody else has it locked.
#[cfg(not(loom))]
#[inline]
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    mutex.try_lock()
}

#[cfg(loom)]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(loom)]
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    mutex.try_lock().ok()
}

pub(crate) use word::Word;

/// A word that one thread sleeps on.
#[cfg(not(loom))]
mod word {
    use super::{AtomicU32, Ordering};
    use punctual_exec::Deadline;
    use punctual_sys::futex;

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
}

#[cfg(loom)]
mod word {
    use super::{AtomicU32, Ordering};
    use loom::sync::{Condvar, Mutex};
    use punctual_exec::Deadline;

    #[derive(Debug)]
    pub(crate) struct Word {
        value: AtomicU32,
        lock: Mutex<()>,
        changed: Condvar,
    }

    impl Word {
        pub(crate) fn new(value: u32) -> Self {
            Self {
                value: AtomicU32::new(value),
                lock: Mutex::new(()),
                changed: Condvar::new(),
            }
        }

        pub(crate) fn atomic(&self) -> &AtomicU32 {
            &self.value
        }

        /// As the futex: compares under a lock that whoever wakes takes. Models have no clock, so a
        /// deadline that is there has passed.
        pub(crate) fn sleep_while(&self, value: u32, deadline: Deadline) -> bool {
            let mut guard = super::lock(&self.lock);
            while self.value.load(Ordering::Acquire) == value {
                if deadline != Deadline::NEVER {
                    return false;
                }
                guard = match self.changed.wait(guard) {
                    Ok(guard) => guard,
                    Err(poisoned) => poisoned.into_inner(),
                };
            }
            true
        }

        pub(crate) fn wake(&self) {
            drop(super::lock(&self.lock));
            self.changed.notify_one();
        }
    }
}
