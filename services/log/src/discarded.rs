//! Records that exist in the file alone: their lives have ended, or those of their logs.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::ds_log_admin::RecordId;

/// Records that are yet to be removed from the file, by their logs.
#[derive(Debug, Default)]
pub(crate) struct Discarded(Mutex<BTreeMap<u64, Vec<RecordId>>>);

impl Discarded {
    /// Adds records of a log.
    pub(crate) fn add(&self, log: u64, ids: impl IntoIterator<Item = RecordId>) {
        let mut ids = ids.into_iter().peekable();
        if ids.peek().is_some() {
            self.0.lock().entry(log).or_default().extend(ids);
        }
    }

    /// Takes up to `most` records out, of as many logs as need be.
    pub(crate) fn take(&self, most: usize) -> Vec<(u64, Vec<RecordId>)> {
        let mut left = most;
        let mut taken = Vec::new();
        let mut logs = self.0.lock();
        while left > 0
            && let Some(mut entry) = logs.first_entry()
        {
            let ids = entry.get_mut();
            let rest = ids.len().saturating_sub(left);
            let some = ids.split_off(rest);
            left -= some.len();
            let log = *entry.key();
            if rest == 0 {
                entry.remove();
            }
            taken.push((log, some));
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_many_calls_and_logs_are_taken_together_and_each_once() {
        let discarded = Discarded::default();
        for id in 0..10 {
            discarded.add(1, [id]);
            discarded.add(2, [id]);
        }
        discarded.add(3, []);
        let taken = discarded.take(12);
        assert_eq!(taken[0], (1, (0..10).collect()));
        assert_eq!(taken[1], (2, vec![8, 9]));
        assert_eq!(discarded.take(100), [(2, (0..8).collect())]);
        assert_eq!(discarded.take(100), []);
    }
}
