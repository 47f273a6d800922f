//! State of one reader in memory.

use std::collections::BTreeSet;
use std::fmt;

use super::layout::ReaderRecord;
use super::ranges::Ranges;
use crate::contract::Wake;

/// Number of ranges up to which a reader's acknowledgements are written with each commit of its
/// log.
const SHORT: usize = 64;

/// Acknowledgements of a reader, and what was handed out to it.
pub(super) struct ReaderState {
    /// Position of the first event that was appended after the reader had been added.
    pub(super) start: u64,
    /// Positions of events that the reader does not wait for.
    acknowledged: Ranges,
    /// Number of events that the reader waits for.
    pub(super) waiting: u64,
    /// Position from which on no event was handed out since the reader was opened.
    pub(super) cursor: u64,
    /// Position below which events may have been handed out before that.
    pub(super) seen: u64,
    /// Positions of events that were given back.
    pub(super) returned: BTreeSet<u64>,
    pub(super) is_open: bool,
    pub(super) wake: Option<Wake>,
    /// True if the reader has found no event since its function was called.
    pub(super) awaits_events: bool,
    /// Number of changes to what is stored of the reader, and the number of those that are stored.
    changes: u64,
    stored: u64,
}

impl fmt::Debug for ReaderState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a reader that waits for {} events", self.waiting)
    }
}

impl ReaderState {
    /// Returns the state of a reader that is added at this position.
    pub(super) fn added_at(start: u64) -> Self {
        let acknowledged = Ranges::below(start);
        Self::of(ReaderRecord {
            seen: start,
            acknowledged,
        })
    }

    /// Returns the state of a reader that was stored.
    pub(super) fn of(record: ReaderRecord) -> Self {
        let start = record.acknowledged.iter().next();
        let start = start.map_or(0, |(start, end)| if start == 0 { end } else { 0 });
        Self {
            start,
            acknowledged: record.acknowledged,
            waiting: 0,
            cursor: start,
            seen: record.seen,
            returned: BTreeSet::new(),
            is_open: false,
            wake: None,
            awaits_events: true,
            changes: 0,
            stored: 0,
        }
    }

    pub(super) fn waits_for(&self, position: u64) -> bool {
        !self.acknowledged.contains(position)
    }

    /// Notes that the reader no longer waits for an event. Returns false if it did not.
    pub(super) fn acknowledge(&mut self, position: u64) -> bool {
        if !self.acknowledged.insert(position) {
            return false;
        }
        self.returned.remove(&position);
        self.waiting = self.waiting.saturating_sub(1);
        self.changes += 1;
        true
    }

    /// Notes that there is no event below this position.
    pub(super) fn prune_below(&mut self, position: u64) {
        self.acknowledged.fill_below(position);
    }

    /// Closes the reader: what it has not acknowledged is handed out again to the next one.
    pub(super) fn close(&mut self) {
        self.is_open = false;
        self.wake = None;
        self.awaits_events = true;
        self.seen = self.seen.max(self.cursor);
        self.cursor = self.start;
        self.returned.clear();
    }

    /// Returns true if there are acknowledgements that are not stored.
    pub(super) fn has_unstored(&self) -> bool {
        self.changes > self.stored
    }

    /// Returns true if storing the acknowledgements costs little beside what they are.
    pub(super) fn is_cheap_to_store(&self) -> bool {
        let (ranges, unstored) = (self.acknowledged.len(), self.changes - self.stored);
        ranges <= SHORT || unstored >= ranges as u64
    }

    /// Returns what is to be stored of the reader, and the number of changes that it contains.
    pub(super) fn record(&self) -> (ReaderRecord, u64) {
        let record = ReaderRecord {
            seen: self.seen.max(self.cursor),
            acknowledged: self.acknowledged.clone(),
        };
        (record, self.changes)
    }

    /// Notes that so many changes are stored.
    pub(super) fn note_stored(&mut self, changes: u64) {
        self.stored = self.stored.max(changes);
    }
}
