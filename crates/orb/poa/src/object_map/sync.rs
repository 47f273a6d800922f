//! Atomics and locks of the object map: those of `punctual_exec`, which models replace (`tests/models`).

pub(crate) use punctual_exec::sync::{
    AtomicU32, AtomicU64, AtomicUsize, Condvar, Mutex, MutexGuard, OnceLock, Ordering, RandomState,
    UnsafeCell, lock, wait,
};

/// Slots or buckets of the smallest segment.
pub(crate) const FIRST: u32 = 64;
