//! Replacements for the types and functions of `punctual_exec::sync`, with which loom explores
//! every interleaving.

mod atomics;
mod locks;
mod once;
mod word;

pub use atomics::{AtomicBool, AtomicU32, AtomicU64};
pub use locks::{Condvar, Mutex, MutexGuard, lock, try_lock, wait};
pub use loom::cell::UnsafeCell;
pub use loom::sync::Arc;
pub use loom::sync::atomic::{AtomicUsize, Ordering, fence};
pub use once::{OnceLock, RandomState};
pub use word::{Parker, Word};
