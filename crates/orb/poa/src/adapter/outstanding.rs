//! Requests in progress that are counted at an adapter and not at an object: those served by
//! default servants and servant managers, and those whose object has not been found yet.

use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Count of an adapter's outstanding requests, on which threads can wait until it is 0.
#[derive(Debug, Default)]
pub(super) struct OutstandingRequests {
    count: AtomicUsize,
    waiting: AtomicUsize,
    lock: Mutex<()>,
    ended: Condvar,
}

/// Guard that counts a request as outstanding until it is dropped.
pub(super) struct OutstandingRequest<'g>(&'g OutstandingRequests);

impl OutstandingRequests {
    /// Counts a request, before it checks whether it may be served ([`crate::manager`]); the
    /// returned guard ends the count.
    pub(super) fn enter(&self) -> OutstandingRequest<'_> {
        self.count_in();
        OutstandingRequest(self)
    }

    /// Counts a request without a guard: the caller has to [end the count](Self::count_out).
    pub(super) fn count_in(&self) {
        self.count.fetch_add(1, Ordering::SeqCst);
    }

    /// Counts one outstanding request as ended.
    pub(super) fn count_out(&self) {
        let was_last = self.count.fetch_sub(1, Ordering::SeqCst) == 1;
        if was_last && self.waiting.load(Ordering::SeqCst) > 0 {
            self.wake();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count.load(Ordering::SeqCst) == 0
    }

    /// Waits until no request is outstanding, or until `useless` returns `true`. A thread that
    /// changes the result of `useless` calls [`OutstandingRequests::wake`].
    pub(super) fn wait_until_empty_or(&self, useless: &dyn Fn() -> bool) {
        // The number of waiters is raised before the count is read, as leaving threads change the
        // count before they read that number.
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let mut lock = self.lock.lock();
        while !self.is_empty() && !useless() {
            self.ended.wait(&mut lock);
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    /// Wakes the threads that wait for outstanding requests, so that they re-check their condition.
    pub(super) fn wake(&self) {
        // A waiter checks under the lock, and so either has seen the change or is waiting.
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
