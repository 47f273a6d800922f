//! Counters of a lane.

use super::by_priority::ByPriority;
use crate::priority::Priority;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counters of one lane. All accesses are Relaxed: each counter is independent. They count rare
/// events only, except for requests of objects with a priority model.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Number of messages received on connections that have been closed.
    gone_messages: AtomicU64,
    refused: AtomicU64,
    handed_over: AtomicU64,
    borrowed: AtomicU64,
    unanswered: AtomicU64,
    worst_wait: AtomicU64,
    by_priority: ByPriority,
}

impl Counters {
    /// Adds the messages received on a connection that is being closed.
    pub(crate) fn record_leaving(&self, messages: u64) {
        self.gone_messages.fetch_add(messages, Ordering::Relaxed);
    }

    pub(super) fn gone_messages(&self) -> u64 {
        self.gone_messages.load(Ordering::Relaxed)
    }

    /// Counts a request that was refused, as no thread could serve it.
    pub(crate) fn count_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Counts a connection that was handed over to another thread.
    pub(crate) fn count_handed_over(&self) {
        self.handed_over.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn handed_over(&self) -> u64 {
        self.handed_over.load(Ordering::Relaxed)
    }

    /// Counts a request for which the servant's deferred reply did not come in time.
    pub(crate) fn record_timed_out(&self) {
        self.unanswered.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn unanswered(&self) -> u64 {
        self.unanswered.load(Ordering::Relaxed)
    }

    /// Counts a thread that was borrowed from another lane.
    pub(super) fn record_borrowed(&self) {
        self.borrowed.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn borrowed(&self) -> u64 {
        self.borrowed.load(Ordering::Relaxed)
    }

    /// Counts a request whose upcall runs at this priority.
    #[inline]
    pub(crate) fn record_served_at(&self, priority: Priority) {
        self.by_priority.count(priority);
    }

    /// Returns the number of requests at each priority, and that at priorities which are not
    /// counted separately.
    pub(super) fn by_priority(&self) -> (Vec<(Priority, u64)>, u64) {
        self.by_priority.counted()
    }

    /// Records that a request has waited for `nanos` nanoseconds for its upcall.
    pub(crate) fn record_wait(&self, nanos: u64) {
        self.worst_wait.fetch_max(nanos, Ordering::Relaxed);
    }

    pub(super) fn worst_wait(&self) -> Duration {
        Duration::from_nanos(self.worst_wait.load(Ordering::Relaxed))
    }
}
