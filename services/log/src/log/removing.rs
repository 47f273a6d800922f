//! Deleting records.

use super::Log;
use crate::common::SLICE;
use crate::ds_log_admin::RecordId;
use crate::refusal::Refusal;
use crate::storage::{Change, RecordsChange};

impl Log {
    /// Deletes records by their ids, and returns how many existed. Many are deleted by several commits. Blocks.
    ///
    /// # Errors
    /// The peer may not; a commit has failed: records of commits before are deleted.
    pub(crate) fn delete(&self, ids: &[RecordId]) -> Result<u32, Refusal> {
        self.common.check_access()?;
        let mut deleted = 0;
        for slice in ids.chunks(SLICE) {
            deleted += self.delete_slice(slice)?;
        }
        self.common.metrics.deleted.add(deleted);
        self.tell_alarms();
        Ok(u32::try_from(deleted).unwrap_or(u32::MAX))
    }

    fn delete_slice(&self, ids: &[RecordId]) -> Result<usize, Refusal> {
        let removed: Vec<_> = {
            let state = self.current();
            let existing = ids.iter().filter(|id| state.entry(**id).is_some());
            existing.copied().collect()
        };
        if removed.is_empty() {
            return Ok(0);
        }
        let change = RecordsChange {
            removed: removed.clone(),
            ..RecordsChange::of(self.number)
        };
        self.common.storage.change(Change::Records(change))?;
        let mut state = self.state.lock();
        let freed = removed.iter().filter_map(|id| state.remove(*id));
        let freed: Vec<_> = freed.collect();
        let bytes = freed.iter().sum();
        self.common.usage.give_back(freed.len() as u64, bytes);
        Ok(freed.len())
    }
}
