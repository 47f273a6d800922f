//! What a bridge has done so far.

use std::sync::atomic::{AtomicU64, Ordering};

/// Requests counted by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests whose replies were passed back, exceptions of the target's included.
    pub two_way: u64,
    /// Requests without a reply that were passed on.
    pub one_way: u64,
    /// Questions where an object is.
    pub located: u64,
    /// Requests that cannot be passed on as they are: version, code sets, byte order, alignment; and those for objects
    /// that are not reached through the bridge.
    pub refused: u64,
    /// Requests that the bridge passed on in vain: no connection, no reply, no time left.
    pub failed: u64,
    /// References in bodies that were rewritten.
    pub rewritten: u64,
    /// References in bodies that ought to have been rewritten and had too little room.
    pub not_rewritten: u64,
}

/// The same while it is counted. Relaxed throughout: the numbers order nothing.
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

/// What became of one request.
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
    /// Counts one, and says how many there were before.
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
