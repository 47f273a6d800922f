//! Mutex and guard: the value that the lock protects.

use super::LockError;
use super::raw::{Owner, RawPiLock};
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Value behind a lock whose owner inherits the priority of its waiters; see the module.
pub struct PiMutex<T> {
    lock: RawPiLock,
    value: UnsafeCell<T>,
}

// SAFETY: a shared mutex gives its value to one thread at a time, by `&mut` or to move it out, which is what
// `Send` allows; never to two at once, as `PiGuard` shows.
unsafe impl<T: Send> Sync for PiMutex<T> {}

/// Guard that gives access to the value while the lock is held. Stays on its thread, to which the
/// lock belongs.
#[must_use = "the lock is given back when the guard is dropped"]
pub struct PiGuard<'m, T> {
    mutex: &'m PiMutex<T>,
    owner: Owner,
    /// Marker: not `Send`, as the kernel lets only the thread that took the lock release it.
    on_its_thread: PhantomData<*const ()>,
}

impl<T> PiMutex<T> {
    /// Makes an unlocked priority-inheritance mutex that contains the value.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self {
            lock: RawPiLock::new(),
            value: UnsafeCell::new(value),
        }
    }

    /// Locks, and waits while another thread holds the lock. Enters the kernel only to wait.
    ///
    /// # Errors
    /// [`LockError::Deadlock`], [`LockError::OwnerDied`], [`LockError::Os`].
    #[inline]
    pub fn lock(&self) -> Result<PiGuard<'_, T>, LockError> {
        let owner = self.lock.lock(None)?;
        Ok(self.guard(owner))
    }

    /// Locks as [`PiMutex::lock`] does, by `until` at the latest: nanoseconds of
    /// [`crate::clock::nanos`].
    ///
    /// # Errors
    /// Those of [`PiMutex::lock`], and [`LockError::TimedOut`].
    #[inline]
    pub fn lock_until(&self, until: u64) -> Result<PiGuard<'_, T>, LockError> {
        let owner = self.lock.lock(Some(until))?;
        Ok(self.guard(owner))
    }

    /// Locks if the lock is free; returns `None` otherwise. Never enters the kernel.
    ///
    /// # Errors
    /// [`LockError::OwnerDied`].
    #[inline]
    pub fn try_lock(&self) -> Result<Option<PiGuard<'_, T>>, LockError> {
        let locked = self.lock.try_lock()?;
        Ok(locked.map(|owner| self.guard(owner)))
    }

    /// Returns whether another thread waits for the mutex in the kernel.
    #[cfg(test)]
    pub(super) fn is_waited_for(&self) -> bool {
        self.lock.is_waited_for()
    }

    /// Makes the guard for the thread that has just taken the lock.
    #[inline]
    fn guard(&self, owner: Owner) -> PiGuard<'_, T> {
        PiGuard {
            mutex: self,
            owner,
            on_its_thread: PhantomData,
        }
    }
}

impl<T> Deref for PiGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard's thread has taken the lock and releases it when the guard is dropped;
        // while it holds the lock no other guard exists. Should the thread end before that, none is
        // ever made (`RawPiLock::check`).
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T> DerefMut for PiGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; and the guard is borrowed exclusively.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T> Drop for PiGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.mutex.lock.unlock(self.owner);
    }
}

impl<T: Default> Default for PiMutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: fmt::Debug> fmt::Debug for PiMutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("PiMutex");
        match self.try_lock() {
            Ok(Some(value)) => shown.field("value", &*value),
            Ok(None) | Err(_) => shown.field("value", &format_args!("<locked>")),
        };
        shown.finish()
    }
}

impl<T: fmt::Debug> fmt::Debug for PiGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
