//! State of a connection with regard to new calls.

use crate::config::Timeouts;
use punctual_sys::clock::coarse_nanos;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// State that decides whether new calls may begin, and the start of the last one.
#[derive(Debug)]
pub(in crate::lane::outgoing) struct Usability {
    /// Cleared permanently when the connection is broken off or retired.
    is_open: AtomicBool,
    /// True if one call has exclusive use of the connection.
    is_claimed: AtomicBool,
    /// Start of the last call, in nanoseconds of the coarse clock.
    last_used: AtomicU64,
    /// Time in nanoseconds after which an unused connection is checked before it is used again
    /// (`timeouts.quiet`).
    quiet: u64,
    /// Maximum duration of the check of an idle connection before its use (`timeouts.drain`).
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

    /// Returns whether new calls may use the connection.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        // Acquire pairs with the Release in `close`.
        self.is_open.load(Ordering::Acquire)
    }

    /// Marks the connection as closed to new calls.
    pub(super) fn close(&self) {
        self.is_open.store(false, Ordering::Release);
    }

    /// Claims the connection for exclusive use by one call; returns `false` if another call has
    /// claimed it.
    pub(in crate::lane::outgoing) fn claim(&self) -> bool {
        // Acquire pairs with the Release in `release`: this call sees the effects of the one
        // before.
        !self.is_claimed.swap(true, Ordering::Acquire)
    }

    /// Ends the exclusive use of the connection by one caller.
    pub(in crate::lane::outgoing) fn release(&self) {
        self.is_claimed.store(false, Ordering::Release);
    }

    /// Returns whether one call has claimed the connection for exclusive use.
    pub(super) fn is_claimed(&self) -> bool {
        self.is_claimed.load(Ordering::Acquire)
    }

    /// Returns the start of the last call, in nanoseconds of the coarse clock.
    #[inline]
    pub(super) fn last_used(&self) -> u64 {
        self.last_used.load(Ordering::Relaxed)
    }

    /// Records that a call begins at `now`, in nanoseconds of the coarse clock.
    #[inline]
    pub(super) fn record_use(&self, now: u64) {
        self.last_used.store(now, Ordering::Relaxed);
    }

    /// Returns `true` if a connection that was unused for `nanos` nanoseconds must be checked.
    #[inline]
    pub(super) fn is_quiet(&self, nanos: u64) -> bool {
        nanos >= self.quiet
    }
}
