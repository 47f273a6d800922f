//! Life cycle of an ORB: it serves and makes calls, then only makes calls, then has ended (CORBA
//! 3.3 part 1, §8.2.3).

use punctual_exec::Deadline;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

const RUNNING: u8 = 0;
const SHUTTING_DOWN: u8 = 1;
const OVER: u8 = 2;

/// Stage of an ORB's life, read by every call and changed twice.
#[derive(Debug, Default)]
pub(crate) struct Life {
    stage: AtomicU8,
    /// True once the shutdown is complete and waiting threads have been notified.
    told: Mutex<bool>,
    changed: Condvar,
}

impl Life {
    /// Begins the shutdown; returns `false` if it has begun already.
    pub(crate) fn begin_shutdown(&self) -> bool {
        let begun = self.stage.compare_exchange(
            RUNNING,
            SHUTTING_DOWN,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        begun.is_ok()
    }

    /// Ends the ORB's life: it makes no more calls.
    pub(crate) fn end(&self) {
        self.stage.store(OVER, Ordering::Release);
    }

    /// Records that the shutdown is complete, and wakes the threads that wait for it.
    pub(crate) fn notify_end(&self) {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits until the ORB has ended, but not beyond the deadline; returns `true` if it has ended.
    pub(crate) fn wait_until_over_or(&self, until: Deadline) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        while !*told {
            let Some(left) = until.remaining() else {
                drop(told);
                self.wait_until_over();
                return true;
            };
            if left.is_zero() {
                return false;
            }
            let waited = self.changed.wait_timeout(told, left);
            told = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Waits until the ORB has shut down completely.
    pub(crate) fn wait_until_over(&self) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        while !*told {
            told = self
                .changed
                .wait(told)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    // Acquire pairs with the Releases above: a thread that sees a stage sees the changes that led
    // to it.

    /// Returns `true` if the ORB currently serves requests.
    #[inline]
    pub(crate) fn serves(&self) -> bool {
        self.stage.load(Ordering::Acquire) == RUNNING
    }

    /// Returns `true` if calls may be made. They may during a shutdown, as requests in progress may
    /// still need further calls.
    #[inline]
    pub(crate) fn calls(&self) -> bool {
        self.stage.load(Ordering::Acquire) != OVER
    }
}
