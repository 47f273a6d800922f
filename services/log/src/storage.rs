//! Logs and records in a file.
//!
//! | table | key | value |
//! |---|---|---|
//! | `logs` | number of the log | its attributes |
//! | `records` | number of the log, id of the record | record |
//! | `notify_logs` | number of the log | its channel and its filter; those of the factory's own channel by 0 |
//! | `last` | number of the log | greatest record id that it has given |
//! | `runs` | 0 | number of times that the service was served, and its channels |
//!
//! The file has the tables of the notification service, too, with the channels of logs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{MappedRwLockReadGuard, RwLock, RwLockReadGuard};
use punctual_host::metrics::Exposition;
use punctual_host::store::{
    Batch, Cdr, ChangeStore, ReadTransaction, Record, Records, StoreError, StoreFile, StoreKind,
    TableError,
};

use crate::ds_log_admin::RecordId;
use crate::kept;
use crate::record::{Entry, Stored};
use crate::refusal::Refusal;

const LOGS: Records<u64, Cdr<kept::Log>> = Records::named("logs");
const RECORDS: Records<(u64, u64), Stored> = Records::named("records");
/// The same table, of which only times and sizes are read.
const ENTRIES: Records<(u64, u64), Entry> = Records::named("records");
const NOTIFY_LOGS: Records<u64, Cdr<kept::NotifyLog>> = Records::named("notify_logs");
const LAST: Records<u64, Cdr<u64>> = Records::named("last");

/// Name and format of the store.
pub(crate) const KIND: StoreKind = StoreKind::new("log", 1);

/// Change of a log or of its records.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// Attributes of a log; `None` removes it, but for its records.
    Log(u64, Option<kept::Log>),
    /// Channel and filter of a log; they are removed with the log.
    NotifyLog(u64, kept::NotifyLog),
    Records(RecordsChange),
}

/// Change of the records of one log.
#[derive(Clone, Debug)]
pub(crate) struct RecordsChange {
    pub(crate) log: u64,
    /// New records, by their ids.
    pub(crate) added: Vec<(RecordId, Vec<u8>)>,
    /// Records that have changed; those that do not exist any more are left out.
    pub(crate) changed: Vec<(RecordId, Vec<u8>)>,
    pub(crate) removed: Vec<RecordId>,
    /// Greatest id that the log has given.
    pub(crate) last: Option<Arc<AtomicU64>>,
}

impl RecordsChange {
    /// Returns a change that changes nothing.
    pub(crate) const fn of(log: u64) -> Self {
        Self {
            log,
            added: Vec::new(),
            changed: Vec::new(),
            removed: Vec::new(),
            last: None,
        }
    }

    fn write(&self, batch: &Batch<'_>) -> Result<(), StoreError> {
        let mut records = batch.records(RECORDS)?;
        for (id, bytes) in &self.added {
            records.insert((self.log, *id), bytes.as_slice())?;
        }
        for (id, bytes) in &self.changed {
            if records.contains((self.log, *id))? {
                records.insert((self.log, *id), bytes.as_slice())?;
            }
        }
        for id in &self.removed {
            records.remove((self.log, *id))?;
        }
        if let Some(last) = &self.last {
            // Relaxed: the ids of this change were taken before, on the threads that wait for the commit.
            let last = last.load(Ordering::Relaxed);
            batch.put(LAST, self.log, &Cdr(last))?;
        }
        Ok(())
    }
}

impl punctual_host::store::Change for Change {
    fn write<'c>(
        mut changes: impl Iterator<Item = &'c Self>,
        batch: &Batch<'_>,
    ) -> Result<(), StoreError> {
        changes.try_for_each(|change| match change {
            Self::Log(number, Some(log)) => batch.put(LOGS, *number, &Cdr(log.clone())),
            Self::Log(number, None) => {
                batch.remove(LOGS, *number)?;
                batch.remove(NOTIFY_LOGS, *number)?;
                batch.remove(LAST, *number)
            }
            Self::NotifyLog(number, log) => batch.put(NOTIFY_LOGS, *number, &Cdr(*log)),
            Self::Records(records) => records.write(batch),
        })
    }
}

/// What a store keeps, but for the contents of records.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) logs: Vec<(u64, kept::Log)>,
    pub(crate) notify_logs: Vec<(u64, kept::NotifyLog)>,
    /// Greatest record ids that logs have given.
    pub(crate) last: Vec<(u64, u64)>,
    /// Times and sizes of records, by log and id.
    pub(crate) entries: Vec<((u64, RecordId), Entry)>,
}

/// Store of a service, until the service stops.
pub(crate) struct Storage(RwLock<Option<ChangeStore<Change>>>);

impl std::fmt::Debug for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Storage").finish_non_exhaustive()
    }
}

impl Storage {
    pub(crate) fn new(file: StoreFile) -> Self {
        Self(RwLock::new(Some(ChangeStore::new(file))))
    }

    /// Locks the store, so that it is not closed meanwhile.
    fn store(&self) -> Result<MappedRwLockReadGuard<'_, ChangeStore<Change>>, StoreError> {
        let store = RwLockReadGuard::try_map(self.0.read(), Option::as_ref);
        store.map_err(|_| StoreError::io("the service has ended"))
    }

    /// Reads everything but the contents of records.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn kept(&self) -> Result<Kept, StoreError> {
        self.store()?.file().read(|transaction| {
            let mut entries = Vec::new();
            ENTRIES.read(transaction, |key, entry| {
                entries.push((key, entry));
                Ok(())
            })?;
            Ok(Kept {
                logs: LOGS.entries(transaction)?,
                notify_logs: NOTIFY_LOGS.entries(transaction)?,
                last: LAST.entries(transaction)?,
                entries,
            })
        })
    }

    /// Returns the file, for the tables of other services.
    ///
    /// # Errors
    /// The service has ended.
    pub(crate) fn file(&self) -> Result<Arc<StoreFile>, StoreError> {
        Ok(self.store()?.file().clone())
    }

    /// Begins a run of the service; returns the store's identity, and the first number of objects of the run.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(crate) fn begin_run(&self) -> Result<(u64, u64), StoreError> {
        let store = self.store()?;
        Ok((store.file().identity(), store.begin_run()?))
    }

    /// Reads records of a log by their ids; those that do not exist are left out.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read(
        &self,
        log: u64,
        ids: &[RecordId],
    ) -> Result<Vec<(RecordId, Stored)>, StoreError> {
        let store = self.store()?;
        let read = |transaction: &ReadTransaction| read_records(transaction, log, ids);
        store.file().read(read).or_else(|error| match error {
            // After a commit that has failed the file is closed. The next one first takes back what that may have left.
            StoreError::Io(_) => {
                store.file().commit(|_| Ok(()))?;
                store.file().read(read)
            }
            error => Err(error),
        })
    }

    /// Makes a change durable, together with those of other callers. Blocks.
    ///
    /// # Errors
    /// It cannot be written; then nothing has changed.
    pub(crate) fn change(&self, change: Change) -> Result<(), Refusal> {
        self.change_all(vec![change])
    }

    /// Makes changes durable as [`change`](Self::change) does, all or none.
    ///
    /// # Errors
    /// As of [`change`](Self::change).
    pub(crate) fn change_all(&self, changes: Vec<Change>) -> Result<(), Refusal> {
        let store = self.store()?;
        // Other requests of the same connection continue, so that they get into the same commit.
        punctual::about_to_block();
        Ok(store.change(changes)?)
    }

    /// Returns unused pages of the file to the file system.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn compact(&self) -> Result<bool, StoreError> {
        self.store()?.file().compact()
    }

    pub(crate) fn write_metrics(&self, out: &mut Exposition) {
        if let Ok(store) = self.store() {
            store.write_metrics(out);
        }
    }

    /// Closes the file, once commits in progress have ended.
    pub(crate) fn close(&self) {
        let store = self.0.write().take();
        drop(store);
    }
}

fn read_records(
    transaction: &ReadTransaction,
    log: u64,
    ids: &[RecordId],
) -> Result<Vec<(RecordId, Stored)>, StoreError> {
    let table = match transaction.open_table(RECORDS.table()) {
        Ok(table) => table,
        Err(TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io(error)),
    };
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        if let Some(bytes) = table.get((log, *id)).map_err(StoreError::io)? {
            let stored = Stored::decode(bytes.value());
            let stored = stored.ok_or_else(|| StoreError::damaged("undecodable record"))?;
            found.push((*id, stored));
        }
    }
    Ok(found)
}
