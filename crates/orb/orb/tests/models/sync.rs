//! What takes the place of `src/sync.rs`: the same names, of which loom explores every order.

use loom::sync::Condvar;
pub(crate) use loom::sync::atomic::{Ordering, fence};
use punctual_exec::Deadline;
use std::ops::{Deref, DerefMut};

/// A mutex as the real one: whether it is taken is told by a load that may see what was before, unless
/// something orders it. Loom's own always tells the latest.
#[derive(Debug)]
pub(crate) struct Mutex<T> {
    /// Looked at by who only tries; no mutex here is both tried and waited for.
    taken: loom::sync::atomic::AtomicBool,
    inner: loom::sync::Mutex<T>,
}

#[derive(Debug)]
pub(crate) struct MutexGuard<'m, T> {
    taken: Option<&'m loom::sync::atomic::AtomicBool>,
    inner: loom::sync::MutexGuard<'m, T>,
}

impl<T> Mutex<T> {
    pub(crate) fn new(content: T) -> Self {
        Self {
            taken: loom::sync::atomic::AtomicBool::new(false),
            inner: loom::sync::Mutex::new(content),
        }
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        if let Some(taken) = self.taken {
            taken.store(false, Ordering::Release);
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    MutexGuard {
        taken: None,
        inner: mutex.inner.lock().unwrap(),
    }
}

pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    if mutex.taken.load(Ordering::Relaxed) {
        return None;
    }
    let inner = mutex.inner.try_lock().ok()?;
    mutex.taken.store(true, Ordering::Relaxed);
    Some(MutexGuard {
        taken: Some(&mutex.taken),
        inner,
    })
}

/// Loom takes `SeqCst` for `AcqRel`, but for fences: so each such access has one before it, as processors
/// with weak memory have. Of two accesses in a row both need to be `SeqCst`, then, to stay in order.
fn ordered<V>(order: Ordering, access: impl FnOnce() -> V) -> V {
    if order == Ordering::SeqCst {
        fence(Ordering::SeqCst);
    }
    access()
}

/// Loom lets an exchange and a plain store beside it each come last, for different threads, which no
/// memory does. Of exchanges it knows one order, so a store is made as one; loads see old values still.
#[derive(Debug)]
pub(crate) struct AtomicU32(loom::sync::atomic::AtomicU32);

impl AtomicU32 {
    pub(crate) fn new(value: u32) -> Self {
        Self(loom::sync::atomic::AtomicU32::new(value))
    }

    pub(crate) fn store(&self, value: u32, order: Ordering) {
        self.0.swap(value, order);
    }
}

impl Deref for AtomicU32 {
    type Target = loom::sync::atomic::AtomicU32;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

#[derive(Debug)]
pub(crate) struct AtomicU64(loom::sync::atomic::AtomicU64);

impl AtomicU64 {
    pub(crate) fn new(value: u64) -> Self {
        Self(loom::sync::atomic::AtomicU64::new(value))
    }

    pub(crate) fn load(&self, order: Ordering) -> u64 {
        ordered(order, || self.0.load(order))
    }

    pub(crate) fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        ordered(order, || self.0.fetch_add(value, order))
    }

    pub(crate) fn fetch_sub(&self, value: u64, order: Ordering) -> u64 {
        ordered(order, || self.0.fetch_sub(value, order))
    }

    pub(crate) fn fetch_and(&self, value: u64, order: Ordering) -> u64 {
        ordered(order, || self.0.fetch_and(value, order))
    }

    pub(crate) fn fetch_or(&self, value: u64, order: Ordering) -> u64 {
        ordered(order, || self.0.fetch_or(value, order))
    }

    pub(crate) fn compare_exchange_weak(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        self.0.compare_exchange_weak(current, new, success, failure)
    }
}

#[derive(Debug)]
pub(crate) struct AtomicBool(loom::sync::atomic::AtomicBool);

impl AtomicBool {
    pub(crate) fn new(value: bool) -> Self {
        Self(loom::sync::atomic::AtomicBool::new(value))
    }

    pub(crate) fn load(&self, order: Ordering) -> bool {
        ordered(order, || self.0.load(order))
    }

    pub(crate) fn store(&self, value: bool, order: Ordering) {
        ordered(order, || self.0.store(value, order));
    }

    pub(crate) fn swap(&self, value: bool, order: Ordering) -> bool {
        ordered(order, || self.0.swap(value, order))
    }
}

/// A value that is made once. Who finds it there sees all that made it, and nothing else orders it.
#[derive(Debug)]
pub(crate) struct OnceLock<T> {
    value: std::sync::OnceLock<T>,
    is_there: loom::sync::atomic::AtomicBool,
}

impl<T> OnceLock<T> {
    pub(crate) fn new() -> Self {
        Self {
            value: std::sync::OnceLock::new(),
            is_there: loom::sync::atomic::AtomicBool::new(false),
        }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        let value = self.value.get()?;
        self.is_there.load(Ordering::Acquire).then_some(value)
    }

    /// No two threads come here for the same value: each is made by who has its place.
    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        if self.get().is_none() {
            assert!(self.value.set(make()).is_ok(), "two make one value");
            self.is_there.store(true, Ordering::Release);
        }
        self.value.get().unwrap()
    }
}

/// A word that one thread sleeps on.
#[derive(Debug)]
pub(crate) struct Word {
    value: AtomicU32,
    lock: loom::sync::Mutex<()>,
    changed: Condvar,
}

impl Word {
    pub(crate) fn new(value: u32) -> Self {
        Self {
            value: AtomicU32::new(value),
            lock: loom::sync::Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    pub(crate) fn atomic(&self) -> &AtomicU32 {
        &self.value
    }

    /// As the futex: compares under a lock that whoever wakes takes. No time passes in a model: a deadline
    /// that there is has passed.
    pub(crate) fn sleep_while(&self, value: u32, deadline: Deadline) -> bool {
        let mut guard = self.lock.lock().unwrap();
        while self.value.load(Ordering::Acquire) == value {
            if deadline != Deadline::NEVER {
                return false;
            }
            guard = self.changed.wait(guard).unwrap();
        }
        true
    }

    pub(crate) fn wake(&self) {
        drop(self.lock.lock().unwrap());
        self.changed.notify_one();
    }
}
