//! Requests of deferred calls that are sent in a row: one after the other, and no caller waits for
//! a reply meanwhile.
//!
//! In a long row, they are gathered like one-ways ([`super::gathering`]), as their replies are not
//! needed yet. They are sent at the latest when a caller begins to wait for a reply, or to watch for
//! it, so that a row never delays a reply that is waited for.

use std::sync::atomic::{AtomicU32, Ordering};

/// Number of requests in a row from which on they are gathered.
const LONG: u32 = 8;

/// Number of deferred calls whose requests were sent since a caller last waited.
///
/// Relaxed accesses, and not one step of counting: threads that use a connection at the same time may
/// lose the end of a row. A request that is held back then leaves with the next one, or by the
/// flusher.
#[derive(Debug, Default)]
pub(in crate::lane::outgoing) struct Row(AtomicU32);

impl Row {
    /// Counts the request of one more deferred call; returns whether the row is long by now.
    pub(in crate::lane::outgoing) fn is_long_with_one_more(&self) -> bool {
        let before = self.0.load(Ordering::Relaxed);
        if before < LONG {
            self.0.store(before + 1, Ordering::Relaxed);
        }
        before >= LONG
    }

    /// Ends the row; returns whether requests may have been held back.
    #[inline]
    pub(in crate::lane::outgoing) fn end(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0 && self.0.swap(0, Ordering::Relaxed) >= LONG
    }
}
