//! Mutexes and condition variables.

use loom::sync::atomic::{AtomicBool, Ordering};
use std::ops::{Deref, DerefMut};

pub use loom::sync::Condvar;

/// Mutex for which a failed `try_lock` does not synchronise, as with a real mutex: its state is
/// read by a load that may see an old value. Loom's own mutex always shows the latest.
#[derive(Debug)]
pub struct Mutex<T> {
    /// Set while the mutex is held by [`try_lock`]. A mutex in a model is used either by `lock` or
    /// by `try_lock`, never by both.
    taken: AtomicBool,
    inner: loom::sync::Mutex<T>,
}

/// Guard that holds a mutex locked until it is dropped.
#[derive(Debug)]
pub struct MutexGuard<'m, T> {
    taken: Option<&'m AtomicBool>,
    /// Loom's guard; `None` only while the thread waits for a notification.
    inner: Option<loom::sync::MutexGuard<'m, T>>,
}

impl<T> Mutex<T> {
    /// Makes an unlocked mutex with this content.
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

/// Locks the mutex, and waits while another thread holds it.
///
/// # Panics
/// If another thread of the model has panicked.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    MutexGuard {
        taken: None,
        inner: Some(mutex.inner.lock().unwrap()),
    }
}

/// Locks the mutex, unless it appears to be held by another thread.
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

/// Releases the mutex, waits for a notification, and locks the mutex again.
///
/// # Panics
/// If another thread of the model has panicked.
pub fn wait<'m, T>(condvar: &Condvar, mut guard: MutexGuard<'m, T>) -> MutexGuard<'m, T> {
    let inner = guard.inner.take().unwrap();
    guard.inner = Some(condvar.wait(inner).unwrap());
    guard
}
