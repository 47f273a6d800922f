//! Requests of deferred calls that are sent in a row: one after the other, and no caller waits for
//! a reply meanwhile.
//!
//! In a long row, they are gathered like one-ways ([`super::gathering`]), as their replies are not
//! needed yet. They are sent at the latest when a caller begins to wait for a reply, or to watch for
//! it, so that a row never delays a reply that is waited for.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Number of requests in a row from which on they are gathered.
const LONG: u32 = 8;

/// Number of deferred calls whose requests were sent since a caller last waited, and whether any of
/// them may be held back.
///
/// Relaxed accesses: a thread that waits for a reply has sent the request itself, or was given the
/// call by the thread that has. The length alone may be wrong where threads use a connection at the
/// same time.
#[derive(Debug, Default)]
pub(in crate::lane::outgoing) struct Row {
    length: AtomicU32,
    holds: AtomicBool,
}

impl Row {
    /// Counts the request of one more deferred call; returns whether the row is long by now.
    pub(in crate::lane::outgoing) fn is_long_with_one_more(&self) -> bool {
        let before = self.length.load(Ordering::Relaxed);
        if before < LONG {
            self.length.store(before + 1, Ordering::Relaxed);
        }
        before >= LONG
    }

    /// Records that the transport holds back a request that was sent just now. To be called after it
    /// was sent, under the sending lock.
    pub(in crate::lane::outgoing) fn record_held_back(&self) {
        self.holds.store(true, Ordering::Relaxed);
    }

    /// Ends the row; returns whether requests may have been held back.
    #[inline]
    pub(in crate::lane::outgoing) fn end(&self) -> bool {
        if self.length.load(Ordering::Relaxed) > 0 {
            self.length.store(0, Ordering::Relaxed);
        }
        self.holds.load(Ordering::Relaxed) && self.holds.swap(false, Ordering::Relaxed)
    }
}
