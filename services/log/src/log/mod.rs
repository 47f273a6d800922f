//! Logs: their attributes, and their records. Contents of records are in the file; ids, times and sizes are in memory,
//! too.
//!
//! ```text
//! index, state               records by id and time; size, what makes a log full or disabled
//! duty, capacity             schedules; thresholds
//! writing, removing          records that are added and deleted
//! attributes                 attributes of records
//! telling                    events of the log itself
//! ```

mod attributes;
mod capacity;
mod duty;
mod index;
mod removing;
mod state;
mod telling;
mod writing;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Condvar, Mutex, MutexGuard, RwLock};
use punctual_notification::cos_notify_filter::Filter;

use crate::common::Common;
use crate::ds_log_admin::{AvailabilityStatus, LogId, RecordId};
use crate::kept;
use crate::notices::Tell;
use crate::record::Entry;
use crate::refusal::Refusal;
use crate::storage::Change;

pub(crate) use duty::{BadSchedule, check_interval, check_week_mask};
use state::{Fullness, State};

/// Log.
pub(crate) struct Log {
    pub(crate) common: Arc<Common>,
    /// Number of the log in the store, and of its object.
    number: u64,
    settings: RwLock<kept::Log>,
    /// Held while attributes of the log or of a record change.
    changing: Mutex<()>,
    state: Mutex<State>,
    /// Signals that a write has been stored, or has failed.
    written: Condvar,
    /// Greatest record id that was given.
    last: Arc<AtomicU64>,
    /// Receiver of the log's own events, if its factory has one.
    notices: Option<Arc<dyn Tell>>,
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl Log {
    /// Makes a log with the records that the store has kept of it.
    pub(crate) fn new(
        (common, notices): (Arc<Common>, Option<Arc<dyn Tell>>),
        number: u64,
        settings: kept::Log,
        (last, entries): (u64, Vec<(RecordId, Entry)>),
    ) -> Self {
        let greatest = entries.last().map_or(0, |(id, _)| *id);
        let state = State::new(&settings, entries);
        common.usage.add(state.count(), state.bytes());
        Self {
            common,
            number,
            settings: RwLock::new(settings),
            changing: Mutex::default(),
            state: Mutex::new(state),
            written: Condvar::new(),
            last: Arc::new(AtomicU64::new(last.max(greatest))),
            notices,
        }
    }

    /// Returns the greatest record id that was given.
    pub(crate) fn last(&self) -> RecordId {
        // Relaxed: records that are written meanwhile are part of a result or not.
        self.last.load(Ordering::Relaxed)
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn id(&self) -> LogId {
        self.settings.read().id
    }

    /// Returns the attributes of the log.
    pub(crate) fn settings(&self) -> kept::Log {
        self.settings.read().clone()
    }

    /// Returns whether consumers get the events that the log takes.
    pub(crate) fn forwards(&self) -> bool {
        self.settings.read().forwards
    }

    /// Changes attributes of the log, durably.
    ///
    /// # Errors
    /// The peer may not; the change cannot be stored; the log does not exist any more.
    pub(crate) fn change(&self, edit: impl FnOnce(&mut kept::Log)) -> Result<(), Refusal> {
        self.common.check_access()?;
        let _changing = self.changing.lock();
        let mut settings = self.settings();
        edit(&mut settings);
        self.check_exists()?;
        let change = Change::Log(self.number, Some(settings.clone()));
        self.common.storage.change(change)?;
        self.state.lock().follow(&settings);
        let before = std::mem::replace(&mut *self.settings.write(), settings.clone());
        self.tell_changes(&before, &settings);
        Ok(())
    }

    /// Changes the filter of a notify log: stores its number, and then applies it, which returns the references before and
    /// after.
    ///
    /// # Errors
    /// As of [`change`](Self::change).
    pub(crate) fn change_filter(
        &self,
        change: kept::NotifyLog,
        apply: impl FnOnce() -> (Option<Filter>, Option<Filter>),
    ) -> Result<(), Refusal> {
        self.common.check_access()?;
        let _changing = self.changing.lock();
        self.check_exists()?;
        let change = Change::NotifyLog(self.number, change);
        self.common.storage.change(change)?;
        let (before, after) = apply();
        self.tell_filter(before, after);
        Ok(())
    }

    fn check_exists(&self) -> Result<(), Refusal> {
        match self.state.lock().is_destroyed {
            true => Err(Refusal::Destroyed("log")),
            false => Ok(()),
        }
    }

    /// Locks the records, without those whose lives have ended.
    fn current(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock();
        let expired = state.expire(self.common.clock.now());
        if !expired.is_empty() {
            let bytes = expired.iter().map(|(_, entry)| entry.bytes).sum();
            self.common.usage.give_back(expired.len() as u64, bytes);
            self.common.metrics.expired.add(expired.len());
            self.discard(&expired);
        }
        state
    }

    /// Leaves records that the log has given up to be removed from the file.
    fn discard(&self, records: &[(RecordId, Entry)]) {
        let ids = records.iter().map(|(id, _)| *id);
        self.common.discarded.add(self.number, ids);
    }

    /// Gives up the records whose lives have ended.
    pub(crate) fn expire(&self) {
        drop(self.current());
        self.tell_alarms();
    }

    /// Returns the number of records, and their octets.
    pub(crate) fn size(&self) -> (u64, u64) {
        let state = self.current();
        (state.count(), state.bytes())
    }

    /// Returns whether the last write has failed for the store's sake.
    pub(crate) fn is_disabled(&self) -> bool {
        self.state.lock().is_disabled
    }

    pub(crate) fn availability(&self) -> AvailabilityStatus {
        let settings = self.settings.read();
        let now = self.common.clock.now();
        let is_on_duty = duty::is_on(&settings.interval, &settings.week_mask, now);
        drop(settings);
        AvailabilityStatus {
            off_duty: !is_on_duty,
            log_full: self.current().fullness != Fullness::HasRoom,
        }
    }

    /// Returns up to `most` ids and sizes of records from an id on, upwards or downwards, that `is_wanted` accepts by their
    /// times.
    ///
    /// # Errors
    /// The log does not exist any more.
    pub(crate) fn entries(
        &self,
        from: RecordId,
        is_upwards: bool,
        is_wanted: impl Fn(&Entry) -> bool,
        most: usize,
    ) -> Result<Vec<(RecordId, u64)>, Refusal> {
        let state = self.current();
        if state.is_destroyed {
            return Err(Refusal::Destroyed("log"));
        }
        Ok(state.records().from(from, is_upwards, is_wanted, most))
    }

    /// Ends the log if `remove` has removed it from the store, and leaves its records to be removed from the file.
    ///
    /// # Errors
    /// That of `remove`.
    pub(crate) fn end_with(
        &self,
        remove: impl FnOnce() -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        // No change of the log's attributes may bring it back.
        let _changing = self.changing.lock();
        remove()?;
        let (records, bytes) = self.state.lock().end();
        self.common.usage.give_back(records.len() as u64, bytes);
        self.common.discarded.add(self.number, records);
        Ok(())
    }
}
