//! Counters of a bridge.

use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers of requests by outcome, and of references rewritten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of two-way requests whose replies were passed back, including exceptions of the
    /// target.
    pub two_way: u64,
    /// Number of one-way requests that the bridge passed on.
    pub one_way: u64,
    /// Number of LocateRequests, which ask whether an object exists.
    pub located: u64,
    /// Number of requests that cannot be passed on as they are: version, code sets, byte order,
    /// alignment; and those for objects that cannot be reached through the bridge.
    pub refused: u64,
    /// Number of requests that could not be completed: no connection, no reply, or time-out.
    pub failed: u64,
    /// Number of object references rewritten in the bodies of messages.
    pub rewritten: u64,
    /// Number of references in bodies that were not rewritten because their replacement would be
    /// longer.
    pub not_rewritten: u64,
}

/// Atomic counters behind [`Counts`]. All accesses are relaxed, as no other memory depends on the
/// numbers.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    two_way: AtomicU64,
    one_way: AtomicU64,
    located: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
    rewritten: AtomicU64,
    not_rewritten: AtomicU64,
}

/// Outcome of one request to the bridge, to be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    TwoWay,
    OneWay,
    Located,
    Refused,
    Failed,
    Rewritten,
    NotRewritten,
}

impl Counters {
    /// Counts one event, and returns how many there were before.
    pub(crate) fn count(&self, event: Event) -> u64 {
        let counter = match event {
            Event::TwoWay => &self.two_way,
            Event::OneWay => &self.one_way,
            Event::Located => &self.located,
            Event::Refused => &self.refused,
            Event::Failed => &self.failed,
            Event::Rewritten => &self.rewritten,
            Event::NotRewritten => &self.not_rewritten,
        };
        counter.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn counts(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            two_way: read(&self.two_way),
            one_way: read(&self.one_way),
            located: read(&self.located),
            refused: read(&self.refused),
            failed: read(&self.failed),
            rewritten: read(&self.rewritten),
            not_rewritten: read(&self.not_rewritten),
        }
    }
}
