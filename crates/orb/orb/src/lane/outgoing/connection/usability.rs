//! State of a connection with regard to new calls.

use crate::config::Timeouts;
use punctual_sys::clock::coarse_nanos;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// State that decides on new calls, and when the last one began.
#[derive(Debug)]
pub(in crate::lane::outgoing) struct Usability {
    /// Cleared for good when the connection breaks off or is retired.
    is_open: AtomicBool,
    /// True if one call has the connection for itself.
    is_claimed: AtomicBool,
    /// When the last call began, in nanoseconds of the coarse clock.
    last_used: AtomicU64,
    /// A connection that was not used for so many nanoseconds is looked at before it is used again (`timeouts.quiet`).
    quiet: u64,
    /// Longest such look (`timeouts.drain`).
    pub(in crate::lane::outgoing) longest_look: Option<Duration>,
}

impl Usability {
    pub(super) fn new(timeouts: &Timeouts) -> Self {
        let quiet = timeouts.quiet.map(|quiet| quiet.as_nanos());
        Self {
            is_open: AtomicBool::new(true),
            is_claimed: AtomicBool::new(false),
            last_used: AtomicU64::new(coarse_nanos()),
            quiet: quiet.map_or(u64::MAX, |quiet| quiet.try_into().unwrap_or(u64::MAX)),
            longest_look: timeouts.drain,
        }
    }

    /// Returns whether new calls may begin.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        // Acquire pairs with the Release in `close`.
        self.is_open.load(Ordering::Acquire)
    }

    /// Lets no new call begin.
    pub(super) fn close(&self) {
        self.is_open.store(false, Ordering::Release);
    }

    /// Claims the connection for one call; `false` where another call has claimed it.
    pub(in crate::lane::outgoing) fn claim(&self) -> bool {
        // Acquire pairs with the Release in `release`: this call sees what the one before did.
        !self.is_claimed.swap(true, Ordering::Acquire)
    }

    /// Ends the claim.
    pub(in crate::lane::outgoing) fn release(&self) {
        self.is_claimed.store(false, Ordering::Release);
    }

    /// Returns whether one call has claimed the connection.
    pub(super) fn is_claimed(&self) -> bool {
        self.is_claimed.load(Ordering::Acquire)
    }

    /// Returns when the last call began, in nanoseconds of the coarse clock.
    #[inline]
    pub(super) fn last_used(&self) -> u64 {
        self.last_used.load(Ordering::Relaxed)
    }

    /// Records that a call begins at this time.
    #[inline]
    pub(super) fn record_use(&self, now: u64) {
        self.last_used.store(now, Ordering::Relaxed);
    }

    /// Returns whether a connection is to be looked at that was not used for so many nanoseconds.
    #[inline]
    pub(super) fn is_quiet(&self, nanos: u64) -> bool {
        nanos >= self.quiet
    }
}
