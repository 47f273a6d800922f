//! Ids, times and sizes of a log's records.

use std::collections::{BTreeMap, BTreeSet};

use crate::ds_log_admin::{RecordId, TimeT};
use crate::record::Entry;

/// Records by their ids, and by their times: those are in another order where the clock was set back.
#[derive(Debug, Default)]
pub(super) struct Index {
    by_id: BTreeMap<RecordId, Entry>,
    by_time: BTreeSet<(TimeT, RecordId)>,
}

impl Index {
    pub(super) fn new(entries: Vec<(RecordId, Entry)>) -> Self {
        Self {
            by_time: entries
                .iter()
                .map(|(id, entry)| (entry.time, *id))
                .collect(),
            by_id: entries.into_iter().collect(),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn get(&self, id: RecordId) -> Option<&Entry> {
        self.by_id.get(&id)
    }

    pub(super) fn add(&mut self, entries: &[(RecordId, Entry)]) {
        let times = entries.iter().map(|(id, entry)| (entry.time, *id));
        self.by_time.extend(times);
        self.by_id.extend(entries.iter().copied());
    }

    pub(super) fn remove(&mut self, id: RecordId) -> Option<Entry> {
        let entry = self.by_id.remove(&id)?;
        self.by_time.remove(&(entry.time, id));
        Some(entry)
    }

    /// Removes the record with the least id.
    pub(super) fn pop_first(&mut self) -> Option<(RecordId, Entry)> {
        let (id, entry) = self.by_id.pop_first()?;
        self.by_time.remove(&(entry.time, id));
        Some((id, entry))
    }

    /// Removes the record with the least time, if `is_over` accepts that.
    pub(super) fn pop_earliest(
        &mut self,
        is_over: impl FnOnce(TimeT) -> bool,
    ) -> Option<(RecordId, Entry)> {
        let (time, id) = *self.by_time.first()?;
        if !is_over(time) {
            return None;
        }
        Some((id, self.remove(id)?))
    }

    /// Sets the size of a record, and returns the one before.
    pub(super) fn resize(&mut self, id: RecordId, bytes: u64) -> Option<u64> {
        let entry = self.by_id.get_mut(&id)?;
        Some(std::mem::replace(&mut entry.bytes, bytes))
    }

    /// Returns up to `most` ids and sizes of records from an id on, upwards or downwards, that `is_wanted` accepts.
    pub(super) fn from(
        &self,
        id: RecordId,
        is_upwards: bool,
        is_wanted: impl Fn(&Entry) -> bool,
        most: usize,
    ) -> Vec<(RecordId, u64)> {
        let wanted =
            |(id, entry): (&RecordId, &Entry)| is_wanted(entry).then_some((*id, entry.bytes));
        match is_upwards {
            true => self
                .by_id
                .range(id..)
                .filter_map(wanted)
                .take(most)
                .collect(),
            false => {
                let downwards = self.by_id.range(..=id).rev();
                downwards.filter_map(wanted).take(most).collect()
            }
        }
    }

    /// Returns the octets of all records.
    pub(super) fn octets(&self) -> u64 {
        self.by_id.values().map(|entry| entry.bytes).sum()
    }

    pub(super) fn into_ids(self) -> Vec<RecordId> {
        self.by_id.into_keys().collect()
    }
}
