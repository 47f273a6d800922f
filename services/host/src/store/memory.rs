//! Shared records in memory, for tests of services.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::{SharedRecord, SharedRecords, StoreError};

type Contents = BTreeMap<(Arc<str>, u64), Vec<u8>>;

/// Answer of [`MemoryRecords`] to a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// The records are written.
    #[default]
    Done,
    /// The records are not written, and an error is returned.
    Refused,
    /// The records are written, and an error is returned.
    Unknown,
    /// The first so many records are written, and an error is returned.
    Begun(usize),
}

/// Shared records in the memory of a process, for tests of a service that several servers have.
#[derive(Debug, Default)]
pub struct MemoryRecords {
    contents: Mutex<Contents>,
    answer: Mutex<Answer>,
    /// `None` for any.
    most_at_once: Mutex<Option<usize>>,
    /// Lengths of the writes.
    writes: Mutex<Vec<usize>>,
}

impl MemoryRecords {
    /// Sets the answer to the writes that follow.
    pub fn answers(&self, answer: Answer) {
        *self.answer.lock() = answer;
    }

    /// Sets the number of records that are written at once.
    pub fn set_most_at_once(&self, most: usize) {
        *self.most_at_once.lock() = Some(most);
    }

    /// Returns the numbers of records of all writes since the last call.
    #[must_use]
    pub fn take_writes(&self) -> Vec<usize> {
        std::mem::take(&mut *self.writes.lock())
    }

    /// Removes the records for which `is_kept` returns false, by their tables and numbers.
    pub fn retain(&self, is_kept: impl Fn(&str, u64) -> bool) {
        self.contents
            .lock()
            .retain(|(table, number), _| is_kept(table, *number));
    }
}

impl SharedRecords for MemoryRecords {
    fn name(&self) -> String {
        "in memory".to_owned()
    }

    fn most_at_once(&self) -> usize {
        self.most_at_once.lock().unwrap_or(usize::MAX)
    }

    fn find(&self, table: &str, number: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let contents = self.contents.lock();
        Ok(contents.get(&(table.into(), number)).cloned())
    }

    fn read(&self) -> Result<Vec<SharedRecord>, StoreError> {
        let contents = self.contents.lock();
        let records = contents
            .iter()
            .map(|((table, number), value)| SharedRecord {
                table: table.clone(),
                number: *number,
                value: Some(value.clone()),
            });
        Ok(records.collect())
    }

    fn write(&self, records: &[SharedRecord]) -> Result<(), StoreError> {
        let answer = *self.answer.lock();
        self.writes.lock().push(records.len());
        if matches!(answer, Answer::Refused) {
            return Err(StoreError::Away("no".to_owned()));
        }
        let mut contents = self.contents.lock();
        let most = match answer {
            Answer::Begun(most) => most,
            _ => usize::MAX,
        };
        for record in records.iter().take(most) {
            let key = (record.table.clone(), record.number);
            match &record.value {
                Some(value) => contents.insert(key, value.clone()),
                None => contents.remove(&key),
            };
        }
        match answer {
            Answer::Unknown | Answer::Begun(_) => Err(StoreError::Unknown("perhaps".to_owned())),
            _ => Ok(()),
        }
    }
}
