//! Replacement of `src/object_map/sync.rs`: the same names, of which loom explores every order.

pub(crate) use loom::cell::UnsafeCell;
use loom::sync::atomic::fence;
pub(crate) use loom::sync::atomic::{AtomicUsize, Ordering};
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
use std::hash::{BuildHasher, Hasher};
use std::ops::Deref;

/// Number of slots or buckets of the smallest segment.
pub(crate) const FIRST: u32 = 2;

/// Treats `SeqCst`, which loom takes for `AcqRel` except for fences: each such load gets a fence
/// before it, and each such exchange one behind it, as on processors with weak memory.
fn ordered<V>(order: Ordering, access: impl FnOnce() -> V) -> V {
    if order == Ordering::SeqCst {
        fence(Ordering::SeqCst);
    }
    access()
}

/// Atomic with stores as exchanges. Loom lets an exchange and a plain store beside it each come
/// last, for different threads, which no memory does. Of exchanges it knows one order, so a store
/// is made as one; loads still see old values.
#[derive(Debug)]
pub(crate) struct AtomicU32(loom::sync::atomic::AtomicU32);

impl AtomicU32 {
    pub(crate) fn new(value: u32) -> Self {
        Self(loom::sync::atomic::AtomicU32::new(value))
    }

    pub(crate) fn load(&self, order: Ordering) -> u32 {
        ordered(order, || self.0.load(order))
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

    pub(crate) fn store(&self, value: u64, order: Ordering) {
        self.0.swap(value, order);
    }

    pub(crate) fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        let exchanged = self.0.compare_exchange(current, new, success, failure);
        if success == Ordering::SeqCst {
            fence(Ordering::SeqCst);
        }
        exchanged
    }

    pub(crate) fn compare_exchange_weak(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        self.compare_exchange(current, new, success, failure)
    }
}

impl Deref for AtomicU64 {
    type Target = loom::sync::atomic::AtomicU64;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// Value that is made once. A thread that finds it sees all that made it, and nothing else orders
/// it.
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

    /// No two threads make the same value: each is made under the map's mutex.
    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        if self.get().is_none() {
            assert!(self.value.set(make()).is_ok(), "two make one value");
            self.is_there.store(true, Ordering::Release);
        }
        self.value.get().unwrap()
    }
}

/// Hasher that returns an id's last octet, so that a model chooses the collisions.
#[derive(Debug)]
pub(crate) struct RandomState;

impl RandomState {
    pub(crate) fn new() -> Self {
        Self
    }
}

impl BuildHasher for RandomState {
    type Hasher = Last;

    fn build_hasher(&self) -> Last {
        Last(0)
    }
}

pub(crate) struct Last(u64);

impl Hasher for Last {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, octets: &[u8]) {
        self.0 = octets.last().map_or(0, |&last| u64::from(last));
    }
}
