//! Atomics and locks of the object map, in one place: the models (`tests/models`) replace them by a
//! model checker's, which runs every interleaving.

pub(crate) use punctual_exec::sync::{
    AtomicU32, AtomicU64, AtomicUsize, Condvar, Mutex, MutexGuard, OnceLock, Ordering, RandomState,
    UnsafeCell, lock, wait,
};

/// Number of slots or buckets in the smallest segment.
pub(crate) const FIRST: u32 = 64;
