//! A mutex whose owner inherits the priority of those who wait for it, over the kernel's PI futex
//! (`futex(2)`, `FUTEX_LOCK_PI`): an urgent thread that waits for an ordinary one makes it as urgent, so
//! that threads in between cannot keep both waiting.
//!
//! Locking and unlocking are one compare-exchange each while nobody waits; only then the kernel is entered.
//! The word holds the owner's thread id, and a bit that says whether somebody waits (`raw`). Time-outs are on
//! the monotonic clock: by `FUTEX_LOCK_PI2` (Linux 5.14), or converted where the kernel has but the old call.
//!
//! **A thread that ends while it holds the lock** (which takes a guard that was leaked) leaves what it was
//! lent out for good: nobody gets at the value any more, and whoever waits or comes is told
//! ([`LockError::OwnerDied`]). A panic unlocks, and leaves the value as it was then. Locking twice on one
//! thread is refused ([`LockError::Deadlock`]).
//!
//! A process that forks must start another program in the child before it locks any of these there: thread
//! ids are remembered by threads.

#[allow(unsafe_code)]
mod guard;
mod raw;

pub use guard::{PiGuard, PiMutex};

use std::fmt;
use std::io;

/// Why a lock was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockError {
    /// Somebody held it until the time-out.
    TimedOut,
    /// The calling thread holds it already, or holds one that its owner waits for.
    Deadlock,
    /// The thread that held it has ended: it is lost.
    OwnerDied,
    /// The operating system's reason, an `errno`.
    Os(i32),
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
