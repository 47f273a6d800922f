//! Selected records of a log, one after the other.

use std::collections::{HashMap, VecDeque};

use punctual_constraint::Budget;

use super::selection::Selection;
use crate::ds_log_admin::{LogRecord, RecordId};
use crate::log::Log;
use crate::record::{Seen, Stored};
use crate::refusal::Refusal;

/// Records that are read from the file at a time, at first and at most. The file is locked meanwhile.
const READ: (usize, usize) = (16, 256);

/// Octets of records that are read at a time.
const READ_BYTES: u64 = 4 << 20;

/// Scan of a log. Records that are written or deleted meanwhile may be part of it or not.
pub(crate) struct Scan<'l> {
    log: &'l Log,
    selection: &'l Selection,
    /// Id from which on records are yet to be read; `None` at the end.
    next: Option<RecordId>,
    /// Last id, upwards.
    last: RecordId,
    read: VecDeque<(RecordId, u64, Stored)>,
    size: usize,
    budget: Budget,
}

/// Record that is selected, and its octets in the store.
pub(crate) struct Found {
    pub(crate) record: LogRecord,
    pub(crate) bytes: u64,
}

impl<'l> Scan<'l> {
    /// Begins at an id; upwards it ends at `last`.
    pub(crate) fn new(
        log: &'l Log,
        selection: &'l Selection,
        from: RecordId,
        last: RecordId,
    ) -> Self {
        Self {
            log,
            selection,
            next: Some(from),
            last,
            read: VecDeque::new(),
            size: READ.0,
            budget: Budget::new(log.common.limits.steps),
        }
    }

    /// Reads all records that there are now.
    pub(crate) fn up_to_now(log: &'l Log, selection: &'l Selection) -> Self {
        Self::new(log, selection, first(selection), log.last())
    }

    /// Returns the next record; `None` at the end. Blocks for the file.
    ///
    /// # Errors
    /// The constraint takes too many steps; the file cannot be read; the log does not exist any more.
    pub(crate) fn next(&mut self) -> Result<Option<Found>, Refusal> {
        let now = self.log.common.clock.now();
        loop {
            let Some((id, bytes, stored)) = self.read.pop_front() else {
                match self.next {
                    Some(from) => self.read_on(from)?,
                    None => return Ok(None),
                }
                continue;
            };
            let record = stored.into_record(id);
            let is_included = self
                .selection
                .includes(&Seen::new(&record, now), &mut self.budget);
            if self.budget.left() == 0 {
                return Err(Refusal::TooMuchWork(self.log.common.limits.steps));
            }
            if is_included {
                return Ok(Some(Found { record, bytes }));
            }
        }
    }

    /// Reads the next records from the file.
    fn read_on(&mut self, from: RecordId) -> Result<(), Refusal> {
        let is_upwards = self.selection.is_upwards();
        let wanted = |entry: &_| self.selection.may_include(entry);
        let mut entries = self.log.entries(from, is_upwards, wanted, self.size)?;
        self.size = (self.size * 2).min(READ.1);
        let mut octets = 0;
        entries.retain(|(id, bytes)| {
            let is_first = octets == 0;
            octets += bytes;
            (is_first || octets <= READ_BYTES) && (!is_upwards || *id <= self.last)
        });
        self.next = match entries.last() {
            Some((id, _)) if is_upwards => id.checked_add(1),
            Some((id, _)) => id.checked_sub(1),
            None => None,
        };
        let ids: Vec<_> = entries.iter().map(|(id, _)| *id).collect();
        let stored = self.log.common.storage.read(self.log.number(), &ids)?;
        let mut stored: HashMap<_, _> = stored.into_iter().collect();
        let read = entries
            .into_iter()
            .filter_map(|(id, bytes)| Some((id, bytes, stored.remove(&id)?)));
        self.read = read.collect();
        Ok(())
    }
}

/// Returns the id at which a selection begins.
pub(super) const fn first(selection: &Selection) -> RecordId {
    match selection.is_upwards() {
        true => 0,
        false => RecordId::MAX,
    }
}
