//! Atomics, locks and sleeping on a word: those of `punctual_exec`, which models replace
//! (`tests/models`).

pub(crate) use punctual_exec::sync::{
    AtomicBool, AtomicU32, AtomicU64, Condvar, Mutex, MutexGuard, OnceLock, Ordering, Word, fence,
    lock, try_lock,
};
