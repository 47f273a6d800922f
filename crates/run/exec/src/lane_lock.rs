//! Lock of a connection's send or reply path, of the kind that its lane needs.
//!
//! An ordinary lane has an ordinary mutex. A real-time lane's mutex lends its owner the priority of
//! the most urgent waiting thread ([`punctual_sys::pi_mutex`]), so that the wait is bounded by the
//! work done under the lock. The kind is fixed when the connection is made; each use costs one
//! well-predicted branch.

use crate::Deadline;
use parking_lot::{Mutex, MutexGuard};
use punctual_sys::pi_mutex::{PiGuard, PiMutex};
use std::fmt;
use std::ops::{Deref, DerefMut};

pub use punctual_sys::pi_mutex::LockError;

/// Priority protocol of a lock: with or without priority inheritance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockProtocol {
    /// No priority inheritance; waiting threads are admitted roughly in order.
    #[default]
    Plain,
    /// Priority inheritance: the owner runs at the priority of the most urgent waiting thread,
    /// which is admitted first.
    InheritPriority,
}

/// Mutex around a value, with either [`LockProtocol`].
pub enum LaneLock<T> {
    /// Mutex without priority inheritance ([`LockProtocol::Plain`]).
    Plain(Mutex<T>),
    /// Mutex with priority inheritance ([`LockProtocol::InheritPriority`]).
    Inheriting(PiMutex<T>),
}

/// Guard of a [`LaneLock`]: gives access to the value while the lock is held.
#[must_use = "the lock is given back when the guard is dropped"]
pub enum LaneGuard<'l, T> {
    /// Guard of a mutex without priority inheritance.
    Plain(MutexGuard<'l, T>),
    /// Guard of a mutex with priority inheritance.
    Inheriting(PiGuard<'l, T>),
}

impl<T> LaneLock<T> {
    /// Makes an unlocked mutex around `value`, with the given priority protocol.
    #[must_use]
    pub const fn new(protocol: LockProtocol, value: T) -> Self {
        match protocol {
            LockProtocol::Plain => Self::Plain(Mutex::new(value)),
            LockProtocol::InheritPriority => Self::Inheriting(PiMutex::new(value)),
        }
    }

    /// Returns the priority protocol of the lock.
    #[must_use]
    pub fn protocol(&self) -> LockProtocol {
        match self {
            Self::Plain(_) => LockProtocol::Plain,
            Self::Inheriting(_) => LockProtocol::InheritPriority,
        }
    }

    /// Locks, and waits while another thread holds the lock. One compare-exchange where it is free.
    ///
    /// # Errors
    /// A plain lock never fails: it waits for ever if this thread holds it already. A lock with
    /// priority inheritance then fails with [`LockError::Deadlock`]; it may also fail with
    /// [`LockError::OwnerDied`] and [`LockError::Os`].
    #[inline]
    pub fn lock(&self) -> Result<LaneGuard<'_, T>, LockError> {
        match self {
            Self::Plain(mutex) => Ok(LaneGuard::Plain(mutex.lock())),
            Self::Inheriting(mutex) => mutex.lock().map(LaneGuard::Inheriting),
        }
    }

    /// Locks if the lock is free; returns `None` otherwise.
    ///
    /// # Errors
    /// [`LockError::OwnerDied`], for a lock with priority inheritance.
    #[inline]
    pub fn try_lock(&self) -> Result<Option<LaneGuard<'_, T>>, LockError> {
        match self {
            Self::Plain(mutex) => Ok(mutex.try_lock().map(LaneGuard::Plain)),
            Self::Inheriting(mutex) => Ok(mutex.try_lock()?.map(LaneGuard::Inheriting)),
        }
    }

    /// Locks as [`LaneLock::lock`] does, and waits until `deadline` at most. Reads no clock where
    /// the lock is free.
    ///
    /// # Errors
    /// Those of [`LaneLock::lock`], and [`LockError::TimedOut`].
    #[inline]
    pub fn lock_until(&self, deadline: Deadline) -> Result<LaneGuard<'_, T>, LockError> {
        if let Some(guard) = self.try_lock()? {
            return Ok(guard);
        }
        self.wait_until(deadline)
    }

    #[cold]
    fn wait_until(&self, deadline: Deadline) -> Result<LaneGuard<'_, T>, LockError> {
        match (self, deadline.end_nanos()) {
            (_, None) => self.lock(),
            (Self::Inheriting(mutex), Some(end)) => {
                mutex.lock_until(end).map(LaneGuard::Inheriting)
            }
            (Self::Plain(mutex), Some(_)) => {
                let left = deadline.remaining().unwrap_or_default();
                let locked = mutex.try_lock_for(left).map(LaneGuard::Plain);
                locked.ok_or(LockError::TimedOut)
            }
        }
    }
}

impl<T> Deref for LaneGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match self {
            Self::Plain(guard) => guard,
            Self::Inheriting(guard) => guard,
        }
    }
}

impl<T> DerefMut for LaneGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        match self {
            Self::Plain(guard) => guard,
            Self::Inheriting(guard) => guard,
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for LaneLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(mutex) => mutex.fmt(f),
            Self::Inheriting(mutex) => mutex.fmt(f),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for LaneGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const BOTH: [LockProtocol; 2] = [LockProtocol::Plain, LockProtocol::InheritPriority];

    #[test]
    fn threads_exclude_each_other_by_either_protocol() {
        const EACH: u32 = 10_000;
        for protocol in BOTH {
            let counted = LaneLock::new(protocol, 0);
            assert_eq!(counted.protocol(), protocol);
            std::thread::scope(|scope| {
                for thread in 0..4 {
                    let counted = &counted;
                    scope.spawn(move || {
                        for _ in 0..EACH {
                            let mut count = match thread % 2 {
                                0 => counted.lock().unwrap(),
                                _ => counted.lock_until(Deadline::NEVER).unwrap(),
                            };
                            *count += 1;
                        }
                    });
                }
            });
            assert_eq!(*counted.lock().unwrap(), 4 * EACH);
        }
    }

    #[test]
    fn waiting_ends_at_the_deadline_by_either_protocol() {
        for protocol in BOTH {
            let lock = LaneLock::new(protocol, ());
            let held = lock.lock().unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    assert!(lock.try_lock().unwrap().is_none());
                    let soon = Deadline::after(Duration::from_millis(10));
                    assert_eq!(lock.lock_until(soon).err(), Some(LockError::TimedOut));
                    assert!(soon.has_passed());
                });
            });
            drop(held);
            // A free lock is taken whatever the deadline.
            assert!(lock.lock_until(Deadline::after(Duration::ZERO)).is_ok());
        }
    }
}
