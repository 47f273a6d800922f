//! Atomics, locks and sleeping on a word: re-exported from `punctual_exec`, or replaced by loom's
//! in model-checking tests (`tests/models`).

pub(crate) use punctual_exec::sync::{
    AtomicBool, AtomicU32, AtomicU64, Condvar, Mutex, MutexGuard, OnceLock, Ordering, Word, fence,
    lock, try_lock,
};
