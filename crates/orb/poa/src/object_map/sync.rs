//! Atomics and locks of the object map, in one place: the models (`tests/models`) have a model checker's
//! in their place, which runs every interleaving.

pub(crate) use std::collections::hash_map::RandomState;
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, OnceLock};

/// How many slots or buckets the smallest segment has.
pub(crate) const FIRST: u32 = 64;

/// What several threads reach, in an order that others see to.
#[derive(Debug)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(crate) fn new(content: T) -> Self {
        Self(std::cell::UnsafeCell::new(content))
    }

    /// Hands out the place, to be read.
    #[inline(always)]
    pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Hands out the place, to be written.
    #[inline(always)]
    pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}
