//! Requests in progress at an adapter that are counted at no object: those of default servants and servant
//! managers, and those on their way to an object.

use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many there are, and who waits for their end.
#[derive(Debug, Default)]
pub(super) struct OutstandingRequests {
    count: AtomicUsize,
    waiting: AtomicUsize,
    lock: Mutex<()>,
    ended: Condvar,
}

/// One that is counted, until dropped.
pub(super) struct OutstandingRequest<'g>(&'g OutstandingRequests);

impl OutstandingRequests {
    /// Counts one in, before it asks whether it may ([`crate::manager`]).
    pub(super) fn enter(&self) -> OutstandingRequest<'_> {
        self.count_in();
        OutstandingRequest(self)
    }

    /// The same of one that is held otherwise, and [counted out](Self::count_out) by who holds it.
    pub(super) fn count_in(&self) {
        self.count.fetch_add(1, Ordering::SeqCst);
    }

    /// One less.
    pub(super) fn count_out(&self) {
        let was_last = self.count.fetch_sub(1, Ordering::SeqCst) == 1;
        if was_last && self.waiting.load(Ordering::SeqCst) > 0 {
            self.wake();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count.load(Ordering::SeqCst) == 0
    }

    /// Waits until there are none, or there is no use in it: whoever makes that so calls [`OutstandingRequests::wake`].
    pub(super) fn wait_until_empty_or(&self, useless: &dyn Fn() -> bool) {
        // Said before the count is read, as those who leave count before they read it.
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let mut lock = self.lock.lock();
        while !self.is_empty() && !useless() {
            self.ended.wait(&mut lock);
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    /// Has those who wait look again.
    pub(super) fn wake(&self) {
        // Whoever waits has looked under the lock, and so either saw this or is waiting.
        drop(self.lock.lock());
        self.ended.notify_all();
    }
}

impl Drop for OutstandingRequest<'_> {
    fn drop(&mut self) {
        self.0.count_out();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn whoever_waits_is_woken_by_the_last_that_leaves() {
        let outstanding = Arc::new(OutstandingRequests::default());
        let (first, second) = (outstanding.enter(), outstanding.enter());
        let waiter = {
            let outstanding = outstanding.clone();
            std::thread::spawn(move || outstanding.wait_until_empty_or(&|| false))
        };
        while outstanding.waiting.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        drop(first);
        assert!(!waiter.is_finished());
        drop(second);
        waiter.join().unwrap();
        assert!(outstanding.is_empty());
    }
}
