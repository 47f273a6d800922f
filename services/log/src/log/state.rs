//! Records of a log, as far as they are in memory, and its size.

use std::collections::BTreeMap;

use super::capacity::Gauge;
use crate::clock::SECOND;
use crate::ds_log_admin::{RecordId, TimeT, WRAP};
use crate::kept;
use crate::notices::Crossed;
use crate::record::Entry;

/// Records, and what depends on their number and size.
pub(super) struct State {
    records: BTreeMap<RecordId, Entry>,
    /// Octets of the records, and of those that are being written.
    bytes: u64,
    settings: kept::Log,
    gauge: Gauge,
    /// Thresholds that were crossed and are yet to be told.
    pub(super) alarms: Vec<Crossed>,
    /// A log that halts has refused a record, and nothing was deleted since.
    pub(super) is_full: bool,
    /// The store has refused the last write.
    pub(super) is_disabled: bool,
    pub(super) is_destroyed: bool,
}

impl State {
    pub(super) fn new(settings: &kept::Log, entries: Vec<(RecordId, Entry)>) -> Self {
        let bytes = entries.iter().map(|(_, entry)| entry.bytes).sum();
        let mut gauge = Gauge::default();
        gauge.reset(bytes, settings.max_size);
        Self {
            records: entries.into_iter().collect(),
            bytes,
            settings: settings.clone(),
            gauge,
            alarms: Vec::new(),
            is_full: false,
            is_disabled: false,
            is_destroyed: false,
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.records.len() as u64
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
            self.is_full = false;
            self.gauge.reset(self.bytes, settings.max_size);
        }
    }

    /// Returns whether octets fit below the maximum size, beside the records, or were these removed.
    pub(super) fn fits(&self, bytes: u64, is_beside: bool) -> bool {
        let others = if is_beside { self.bytes } else { 0 };
        self.settings.max_size == 0 || others.saturating_add(bytes) <= self.settings.max_size
    }

    /// Removes the oldest records whose lives have ended, and returns them.
    pub(super) fn expire(&mut self, now: TimeT) -> Vec<(RecordId, Entry)> {
        let life = u64::from(self.settings.max_record_life) * SECOND;
        let mut expired = Vec::new();
        while life > 0
            && let Some(first) = self.records.first_entry()
            && first.get().time.saturating_add(life) <= now
        {
            expired.push(first.remove_entry());
        }
        let bytes = expired.iter().map(|(_, entry)| entry.bytes).sum();
        if !expired.is_empty() {
            self.free(bytes);
        }
        expired
    }

    pub(super) fn entry(&self, id: RecordId) -> Option<&Entry> {
        self.records.get(&id)
    }

    pub(super) fn entries(
        &self,
        from: RecordId,
        is_upwards: bool,
        is_wanted: impl Fn(&Entry) -> bool,
        most: usize,
    ) -> Vec<(RecordId, u64)> {
        let wanted =
            |(id, entry): (&RecordId, &Entry)| is_wanted(entry).then_some((*id, entry.bytes));
        match is_upwards {
            true => self
                .records
                .range(from..)
                .filter_map(wanted)
                .take(most)
                .collect(),
            false => {
                let downwards = self.records.range(..=from).rev();
                downwards.filter_map(wanted).take(most).collect()
            }
        }
    }

    /// Takes room for a record that is being written.
    pub(super) fn reserve(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Gives back room, and notes that the log is not full any more.
    pub(super) fn free(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
        self.is_full = false;
        if !self.wraps() {
            self.measure();
        }
    }

    /// Removes the oldest record, to make room; it stays reserved until [`free`](Self::free).
    pub(super) fn pop_oldest(&mut self) -> Option<(RecordId, Entry)> {
        self.records.pop_first()
    }

    /// Puts records back, whose bytes are reserved.
    pub(super) fn put_back(&mut self, records: Vec<(RecordId, Entry)>) {
        self.records.extend(records);
    }

    /// Adds records that were written, for which room was reserved.
    pub(super) fn add(&mut self, records: &[(RecordId, Entry)]) {
        self.records.extend(records.iter().copied());
        let bytes = records.iter().map(|(_, entry)| entry.bytes).sum();
        if self.wraps() {
            let (most, thresholds) = (self.settings.max_size, &self.settings.thresholds);
            self.alarms
                .extend(self.gauge.written(bytes, most, thresholds));
        } else {
            self.measure();
        }
    }

    /// Removes a record, if it exists, and returns its octets.
    pub(super) fn remove(&mut self, id: RecordId) -> Option<u64> {
        let removed = self.records.remove(&id)?;
        self.free(removed.bytes);
        Some(removed.bytes)
    }

    /// Notes the new size of a record, and returns the one before; `None` if it does not exist any more.
    pub(super) fn resize(&mut self, id: RecordId, bytes: u64) -> Option<u64> {
        let entry = self.records.get_mut(&id)?;
        Some(std::mem::replace(&mut entry.bytes, bytes))
    }

    /// Removes all records; returns their ids and their octets.
    pub(super) fn end(&mut self) -> (Vec<RecordId>, u64) {
        self.is_destroyed = true;
        let records = std::mem::take(&mut self.records);
        let bytes = records.values().map(|entry| entry.bytes).sum();
        (records.into_keys().collect(), bytes)
    }

    fn measure(&mut self) {
        let (most, thresholds) = (self.settings.max_size, &self.settings.thresholds);
        let alarms = self.gauge.filled(self.bytes, most, thresholds);
        self.alarms.extend(alarms);
    }
}
