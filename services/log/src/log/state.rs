//! Records of a log, as far as they are in memory, and its size.

use super::capacity::Gauge;
use super::index::Index;
use crate::clock::SECOND;
use crate::ds_log_admin::{RecordId, TimeT, WRAP};
use crate::kept;
use crate::notices::Crossed;
use crate::record::Entry;

/// What keeps a log that halts from taking records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fullness {
    HasRoom,
    /// Its maximum size, since it has refused a record that does not fit beside the others. None is taken until some are
    /// gone.
    AtMaximum,
    /// The limits of the service, when it was written to last.
    AtServiceLimit,
}

/// Records, and what depends on their number and size.
pub(super) struct State {
    records: Index,
    /// Octets of the records, and of those that are being written.
    bytes: u64,
    settings: kept::Log,
    gauge: Gauge,
    /// Thresholds that were crossed and are yet to be told.
    pub(super) alarms: Vec<Crossed>,
    pub(super) fullness: Fullness,
    /// Number of writes whose records are being stored.
    pub(super) writes: usize,
    /// The store has refused the last write.
    pub(super) is_disabled: bool,
    pub(super) is_destroyed: bool,
}

impl State {
    pub(super) fn new(settings: &kept::Log, entries: Vec<(RecordId, Entry)>) -> Self {
        let records = Index::new(entries);
        let bytes = records.octets();
        let mut gauge = Gauge::default();
        gauge.reset(bytes, settings.max_size);
        Self {
            records,
            bytes,
            settings: settings.clone(),
            gauge,
            alarms: Vec::new(),
            fullness: Fullness::HasRoom,
            writes: 0,
            is_disabled: false,
            is_destroyed: false,
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.records.count() as u64
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn wraps(&self) -> bool {
        self.settings.full_action == WRAP
    }

    /// Follows a change of the log's attributes.
    pub(super) fn follow(&mut self, settings: &kept::Log) {
        let is_other = settings.max_size != self.settings.max_size
            || settings.full_action != self.settings.full_action;
        self.settings = settings.clone();
        if is_other {
            self.fullness = Fullness::HasRoom;
            self.gauge.reset(self.bytes, settings.max_size);
        }
    }

    /// Returns whether octets fit below the maximum size beside the records.
    pub(super) fn fits(&self, bytes: u64) -> bool {
        self.settings.max_size == 0 || self.bytes.saturating_add(bytes) <= self.settings.max_size
    }

    /// Returns whether octets fit below the maximum size if there are no other records.
    pub(super) fn fits_alone(&self, bytes: u64) -> bool {
        self.settings.max_size == 0 || bytes <= self.settings.max_size
    }

    /// Notes that there is no room for a record.
    pub(super) fn note_refused(&mut self, bytes: u64) {
        let is_larger_than_the_log = !self.fits_alone(bytes);
        if self.wraps() || is_larger_than_the_log || self.fullness == Fullness::AtMaximum {
            return;
        }
        self.fullness = match self.fits(bytes) {
            true => Fullness::AtServiceLimit,
            false => Fullness::AtMaximum,
        };
    }

    /// Removes the records whose lives have ended, and returns them.
    pub(super) fn expire(&mut self, now: TimeT) -> Vec<(RecordId, Entry)> {
        let life = u64::from(self.settings.max_record_life) * SECOND;
        if life == 0 {
            return Vec::new();
        }
        let next = || {
            self.records
                .pop_earliest(|time| time.saturating_add(life) <= now)
        };
        let expired: Vec<_> = std::iter::from_fn(next).collect();
        if !expired.is_empty() {
            self.free(expired.iter().map(|(_, entry)| entry.bytes).sum());
        }
        expired
    }

    pub(super) fn entry(&self, id: RecordId) -> Option<&Entry> {
        self.records.get(id)
    }

    pub(super) fn records(&self) -> &Index {
        &self.records
    }

    /// Takes room for a record that is being written.
    pub(super) fn reserve(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Gives back room, and notes that the log is not full any more.
    pub(super) fn free(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
        self.fullness = Fullness::HasRoom;
        self.measure();
    }

    /// Removes the oldest record, to make room; it stays reserved until [`free`](Self::free).
    pub(super) fn pop_oldest(&mut self) -> Option<(RecordId, Entry)> {
        self.records.pop_first()
    }

    /// Puts records back, whose bytes are reserved.
    pub(super) fn put_back(&mut self, records: &[(RecordId, Entry)]) {
        self.records.add(records);
    }

    /// Adds records that were written, for which room was reserved.
    pub(super) fn add(&mut self, records: &[(RecordId, Entry)]) {
        self.records.add(records);
        let bytes = records.iter().map(|(_, entry)| entry.bytes).sum();
        if self.wraps() {
            let (most, thresholds) = (self.settings.max_size, &self.settings.thresholds);
            self.alarms
                .extend(self.gauge.written(bytes, most, thresholds));
        }
        self.measure();
    }

    /// Removes a record, if it exists, and returns its octets.
    pub(super) fn remove(&mut self, id: RecordId) -> Option<u64> {
        let removed = self.records.remove(id)?;
        self.free(removed.bytes);
        Some(removed.bytes)
    }

    /// Notes the new size of a record, and returns the one before; `None` if it does not exist any more.
    pub(super) fn resize(&mut self, id: RecordId, bytes: u64) -> Option<u64> {
        self.records.resize(id, bytes)
    }

    /// Removes all records; returns their ids and their octets.
    pub(super) fn end(&mut self) -> (Vec<RecordId>, u64) {
        self.is_destroyed = true;
        let records = std::mem::take(&mut self.records);
        let bytes = records.octets();
        (records.into_ids(), bytes)
    }

    /// Notes the thresholds that the size of a log that halts has crossed.
    pub(super) fn measure(&mut self) {
        if self.wraps() {
            return;
        }
        let (most, thresholds) = (self.settings.max_size, &self.settings.thresholds);
        let alarms = self.gauge.filled(self.bytes, most, thresholds);
        self.alarms.extend(alarms);
    }
}
