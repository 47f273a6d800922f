//! Locks by name, made on demand.

use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;
use std::thread::{self, ThreadId};

/// Locks by name: the names that are locked, each with the thread that holds it.
#[derive(Debug, Default)]
pub(super) struct KeyedLock {
    locked: Mutex<HashMap<Box<[u8]>, ThreadId>>,
    unlocked: Condvar,
}

/// Guard that keeps a name locked until it is dropped.
pub(super) struct KeyedGuard<'t> {
    locks: &'t KeyedLock,
    name: &'t [u8],
}

impl KeyedLock {
    /// Locks a name; returns `None` if this thread holds it already.
    pub(super) fn lock<'t>(&'t self, name: &'t [u8]) -> Option<KeyedGuard<'t>> {
        let me = thread::current().id();
        let mut locked = self.locked.lock();
        while let Some(owner) = locked.get(name) {
            if *owner == me {
                return None;
            }
            self.unlocked.wait(&mut locked);
        }
        locked.insert(name.into(), me);
        Some(KeyedGuard { locks: self, name })
    }
}

impl Drop for KeyedGuard<'_> {
    fn drop(&mut self) {
        self.locks.locked.lock().remove(self.name);
        self.locks.unlocked.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn one_thread_has_a_name_at_a_time_and_others_do_not_wait() {
        let locks = KeyedLock::default();
        let inside = AtomicU32::new(0);
        let _other = locks.lock(b"other").unwrap();
        assert!(locks.lock(b"other").is_none());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let _locked = locks.lock(b"one").unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(locks.locked.lock().len(), 1);
    }
}
