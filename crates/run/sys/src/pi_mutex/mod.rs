//! Mutex whose owner inherits the priority of its waiters, over the kernel's PI futex (`futex(2)`,
//! `FUTEX_LOCK_PI`): an urgent thread that waits for an ordinary one makes it as urgent, so that
//! threads in between cannot keep both waiting.
//!
//! Locking and unlocking are one compare-exchange each while there are no waiters; the kernel is
//! entered only to wait or to hand over. The word holds the owner's thread id, and a bit for the
//! presence of waiters (`raw`). Time-outs are on the monotonic clock: by `FUTEX_LOCK_PI2` (Linux
//! 5.14), or converted where the kernel has only the old call.
//!
//! **A thread that ends while it holds the lock** (which takes a leaked guard) makes the value
//! inaccessible permanently: current and later waiters get [`LockError::OwnerDied`]. A panic unlocks,
//! and leaves the value as it was then. Locking twice on one thread is refused
//! ([`LockError::Deadlock`]).
//!
//! A process that forks must start another program in the child before it locks any of these there:
//! each thread caches its thread id.

#[allow(unsafe_code)]
mod guard;
mod raw;

pub use guard::{PiGuard, PiMutex};

use std::fmt;
use std::io;

/// Reason why a priority-inheritance mutex could not be locked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum LockError {
    /// Another thread held the mutex until the time-out.
    TimedOut,
    /// The calling thread holds the lock already, or holds one that its owner waits for.
    Deadlock,
    /// The thread that held the lock has ended: the lock is lost.
    OwnerDied,
    /// Error number (`errno`) from the operating system.
    Os(i32),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("the lock was held until the time-out"),
            Self::Deadlock => f.write_str("the lock is held by the thread that wants it"),
            Self::OwnerDied => f.write_str("the thread that held the lock has ended"),
            Self::Os(errno) => write!(f, "the lock: {}", io::Error::from_raw_os_error(*errno)),
        }
    }
}

impl std::error::Error for LockError {}

#[cfg(test)]
mod tests;
