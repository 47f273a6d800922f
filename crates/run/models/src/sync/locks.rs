//! Mutexes and condition variables.

use loom::sync::atomic::{AtomicBool, Ordering};
use std::ops::{Deref, DerefMut};

pub use loom::sync::Condvar;

/// Mutex whose state is read as the real one's is: by a load that may see an old value, unless something orders it. Loom's
/// own mutex always shows the latest.
#[derive(Debug)]
pub struct Mutex<T> {
    /// State for threads that only try; no mutex is both tried and waited for.
    taken: AtomicBool,
    inner: loom::sync::Mutex<T>,
}

/// A mutex that is locked, until dropped.
#[derive(Debug)]
pub struct MutexGuard<'m, T> {
    taken: Option<&'m AtomicBool>,
    /// There but while it waits.
    inner: Option<loom::sync::MutexGuard<'m, T>>,
}

impl<T> Mutex<T> {
    /// Makes one with this content.
    pub fn new(content: T) -> Self {
        Self {
            taken: AtomicBool::new(false),
            inner: loom::sync::Mutex::new(content),
        }
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().unwrap()
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_mut().unwrap()
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        if let Some(taken) = self.taken {
            taken.store(false, Ordering::Release);
        }
    }
}

/// Locks.
///
/// # Panics
/// Where another thread of the model has panicked.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    MutexGuard {
        taken: None,
        inner: Some(mutex.inner.lock().unwrap()),
    }
}

/// Locks, unless another thread seems to have it locked.
pub fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    if mutex.taken.load(Ordering::Relaxed) {
        return None;
    }
    let inner = mutex.inner.try_lock().ok()?;
    mutex.taken.store(true, Ordering::Relaxed);
    Some(MutexGuard {
        taken: Some(&mutex.taken),
        inner: Some(inner),
    })
}

/// Releases the lock, waits to be notified, and locks again.
///
/// # Panics
/// Where another thread of the model has panicked.
pub fn wait<'m, T>(condvar: &Condvar, mut guard: MutexGuard<'m, T>) -> MutexGuard<'m, T> {
    let inner = guard.inner.take().unwrap();
    guard.inner = Some(condvar.wait(inner).unwrap());
    guard
}
