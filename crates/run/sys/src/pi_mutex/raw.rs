//! Lock without the value that it protects.
//!
//! ```text
//! word   0             not locked   
//!        id            the thread of that id has it
//!        id | WAITERS  and others wait in the kernel, which hands it over
//! ```

use super::LockError;
use crate::clock;
use rustix::io::Errno;
use rustix::thread::futex::{self, Flags, OWNER_DIED};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};

const FREE: u32 = 0;
const NANOS: u64 = 1_000_000_000;

/// Set once the kernel has reported that it lacks `FUTEX_LOCK_PI2`.
pub(super) static WITHOUT_LOCK_PI2: AtomicBool = AtomicBool::new(false);

#[derive(Debug)]
pub(super) struct RawPiLock {
    word: AtomicU32,
    /// Set once a thread has ended while it held the lock; never reset. Written by later holders of
    /// the lock.
    abandoned: AtomicBool,
}

/// Id of the thread that holds the lock, kept so that unlocking need not look it up again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner(u32);

impl RawPiLock {
    pub(super) const fn new() -> Self {
        Self {
            word: AtomicU32::new(FREE),
            abandoned: AtomicBool::new(false),
        }
    }

    /// Takes the lock if it is free; returns the owner to unlock it with.
    #[inline]
    pub(super) fn try_lock(&self) -> Result<Option<Owner>, LockError> {
        let owner = Owner(own_id());
        // Acquire pairs with the Release in `unlock`.
        let taken = self
            .word
            .compare_exchange(FREE, owner.0, Ordering::Acquire, Ordering::Relaxed);
        if taken.is_err() {
            return Ok(None);
        }
        self.check(owner).map(|()| Some(owner))
    }

    /// Takes the lock, by `until` on the monotonic clock in nanoseconds, if that is given.
    #[inline]
    pub(super) fn lock(&self, until: Option<u64>) -> Result<Owner, LockError> {
        match self.try_lock()? {
            Some(owner) => Ok(owner),
            None => self.lock_in_kernel(until),
        }
    }

    /// Releases the lock. Called by the thread that holds it.
    #[inline]
    pub(super) fn unlock(&self, owner: Owner) {
        // Release pairs with the Acquire in `try_lock`.
        let freed = self
            .word
            .compare_exchange(owner.0, FREE, Ordering::Release, Ordering::Relaxed);
        if freed.is_err() {
            self.unlock_in_kernel();
        }
    }

    #[cfg(test)]
    pub(super) fn is_waited_for(&self) -> bool {
        self.word.load(Ordering::Relaxed) & futex::WAITERS != 0
    }

    #[cold]
    fn lock_in_kernel(&self, until: Option<u64>) -> Result<Owner, LockError> {
        loop {
            match self.wait(until) {
                Ok(()) => break,
                // A signal; or the owner is ending, and the kernel can soon tell how.
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(Errno::TIMEDOUT) => return Err(LockError::TimedOut),
                Err(Errno::DEADLK) => return Err(LockError::Deadlock),
                // The owner no longer exists; or it has just ended, and the first waiter, which the
                // kernel hands the lock to, has not put its id into the word yet.
                Err(Errno::SRCH | Errno::INVAL) => return Err(LockError::OwnerDied),
                Err(error) => return Err(LockError::Os(error.raw_os_error())),
            }
        }
        // Pairs with the fence in `unlock_in_kernel`, or the Release in `unlock`.
        fence(Ordering::Acquire);
        if self.word.load(Ordering::Relaxed) & OWNER_DIED != 0 {
            // Relaxed: only holders of the lock read it.
            self.abandoned.store(true, Ordering::Relaxed);
        }
        let owner = Owner(own_id());
        self.check(owner).map(|()| owner)
    }

    /// Checks, on the thread that has just taken the lock, whether the last owner released it; if
    /// not, releases it with an error.
    #[inline]
    fn check(&self, owner: Owner) -> Result<(), LockError> {
        if self.abandoned.load(Ordering::Relaxed) {
            self.unlock(owner);
            return Err(LockError::OwnerDied);
        }
        Ok(())
    }

    fn wait(&self, until: Option<u64>) -> Result<(), Errno> {
        let Some(until) = until else {
            return futex::lock_pi(&self.word, Flags::PRIVATE, None);
        };
        if !WITHOUT_LOCK_PI2.load(Ordering::Relaxed) {
            match futex::lock_pi2(&self.word, Flags::PRIVATE, Some(&timespec(until))) {
                Err(Errno::NOSYS) => WITHOUT_LOCK_PI2.store(true, Ordering::Relaxed),
                locked => return locked,
            }
        }
        // The old call's time-out is on the adjustable real-time clock.
        let now = clock_gettime(ClockId::Realtime);
        let now = now.tv_sec.cast_unsigned() * NANOS + now.tv_nsec.cast_unsigned();
        let left = until.saturating_sub(clock::nanos());
        let until = timespec(now.saturating_add(left));
        futex::lock_pi(&self.word, Flags::PRIVATE, Some(&until))
    }

    #[cold]
    fn unlock_in_kernel(&self) {
        // Pairs with the fence in `lock_in_kernel`.
        fence(Ordering::Release);
        // Fails for a thread that does not hold the lock, which no guard allows.
        while futex::unlock_pi(&self.word, Flags::PRIVATE) == Err(Errno::INTR) {}
    }
}

/// Converts a moment in nanoseconds, at most the latest that the kernel can express.
fn timespec(nanos: u64) -> Timespec {
    Timespec {
        // Less than 2^35.
        tv_sec: (nanos / NANOS).cast_signed(),
        tv_nsec: (nanos % NANOS).cast_signed(),
    }
}

/// Returns the calling thread's id. One system call for each thread.
#[inline]
fn own_id() -> u32 {
    thread_local! {
        static ID: Cell<u32> = const { Cell::new(0) };
    }
    #[cold]
    fn ask() -> u32 {
        let id = rustix::thread::gettid();
        ID.set(id.as_raw_nonzero().get().cast_unsigned());
        ID.get()
    }
    match ID.get() {
        0 => ask(),
        id => id,
    }
}
