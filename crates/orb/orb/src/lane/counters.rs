//! Counters of a lane.

use super::by_priority::ByPriority;
use crate::priority::Priority;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Relaxed throughout: each is a number by itself. None of what a call does as a rule, but for requests of objects with a
/// priority model: they count what happens now and then.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Messages on connections that have gone.
    gone_messages: AtomicU64,
    refused: AtomicU64,
    handed_over: AtomicU64,
    borrowed: AtomicU64,
    unanswered: AtomicU64,
    worst_wait: AtomicU64,
    by_priority: ByPriority,
}

impl Counters {
    /// A connection has gone, on which so many messages had come.
    pub(crate) fn record_leaving(&self, messages: u64) {
        self.gone_messages.fetch_add(messages, Ordering::Relaxed);
    }

    pub(super) fn gone_messages(&self) -> u64 {
        self.gone_messages.load(Ordering::Relaxed)
    }

    /// A request was refused, as no thread could serve it.
    pub(crate) fn count_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// A connection was handed over to another thread.
    pub(crate) fn count_handed_over(&self) {
        self.handed_over.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn handed_over(&self) -> u64 {
        self.handed_over.load(Ordering::Relaxed)
    }

    /// A request that was to be answered later was not answered in time.
    pub(crate) fn record_timed_out(&self) {
        self.unanswered.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn unanswered(&self) -> u64 {
        self.unanswered.load(Ordering::Relaxed)
    }

    /// A thread of another lane was asked for.
    pub(super) fn record_borrowed(&self) {
        self.borrowed.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn borrowed(&self) -> u64 {
        self.borrowed.load(Ordering::Relaxed)
    }

    /// The upcall of a request has been given this priority.
    #[inline]
    pub(crate) fn record_served_at(&self, priority: Priority) {
        self.by_priority.count(priority);
    }

    /// How many were at each, and at those that are not counted by themselves.
    pub(super) fn by_priority(&self) -> (Vec<(Priority, u64)>, u64) {
        self.by_priority.counted()
    }

    /// A request has waited so many nanoseconds for its upcall.
    pub(crate) fn record_wait(&self, nanos: u64) {
        self.worst_wait.fetch_max(nanos, Ordering::Relaxed);
    }

    pub(super) fn worst_wait(&self) -> Duration {
        Duration::from_nanos(self.worst_wait.load(Ordering::Relaxed))
    }
}
