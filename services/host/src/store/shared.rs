//! Records that the servers of a cluster share, of which one has the right to write.
//!
//! That server has a copy of them in a file, as any store has. A commit is written to the shared records first: what a
//! client was told has happened is there when another server takes over.

use std::fmt::Debug;
use std::sync::Arc;

use redb::{ReadTransaction, TableDefinition, TableHandle, WriteTransaction};

use super::{StoreError, StoreKind};

type Result<T> = std::result::Result<T, StoreError>;

/// Keys of the records that identify a store, in the table with the service's name.
const FORMAT: u64 = 0;
const IDENTITY: u64 = 1;

/// Record that several servers share: its table, its number, and its value, which is `None` for one that is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedRecord {
    /// Name of the table.
    pub table: Arc<str>,
    /// Number of the record in its table.
    pub number: u64,
    /// Value, as its table encodes it; `None` if the record is removed.
    pub value: Option<Vec<u8>>,
}

/// Records that several servers share, of which one has the right to write.
pub trait SharedRecords: Debug + Send + Sync {
    /// Reads all records. Blocks.
    ///
    /// # Errors
    /// They cannot be reached; this process has lost the right to them.
    fn read(&self) -> Result<Vec<SharedRecord>>;

    /// Writes records, in their order, and returns when they are durable. Blocks. A commit of many may be written in parts,
    /// of which the first ones stay if a later one fails.
    ///
    /// # Errors
    /// They cannot be reached, or did not say whether the records were written; this process has lost the right to them.
    fn write(&self, records: &[SharedRecord]) -> Result<()>;
}

/// Contents of a store that is shared.
pub(super) struct Contents {
    pub(super) identity: u64,
    pub(super) records: Vec<SharedRecord>,
}

/// Reads what is shared; `None` if no server has written anything yet.
pub(super) fn read(shared: &dyn SharedRecords, kind: &StoreKind) -> Result<Option<Contents>> {
    let all = shared.read()?;
    let (about, records): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|record| *record.table == *kind.service);
    let number = |key: u64| {
        let found = about.iter().find(|record| record.number == key);
        let value = found.and_then(|record| record.value.as_deref());
        value.and_then(|bytes| <[u8; 8]>::try_from(bytes).ok())
    };
    match (number(FORMAT), number(IDENTITY)) {
        (Some(format), Some(identity)) => {
            kind.check_format(u64::from_be_bytes(format))?;
            let identity = u64::from_be_bytes(identity);
            Ok(Some(Contents { identity, records }))
        }
        _ if about.is_empty() && records.is_empty() => Ok(None),
        _ => Err(StoreError::damaged(
            "the shared records lack their format or identity",
        )),
    }
}

/// Writes what identifies a store of this kind to shared records that are empty.
pub(super) fn create(shared: &dyn SharedRecords, kind: &StoreKind, identity: u64) -> Result<()> {
    let about = [(FORMAT, kind.format), (IDENTITY, identity)];
    let about = about.map(|(number, value)| SharedRecord {
        table: kind.service.into(),
        number,
        value: Some(value.to_be_bytes().to_vec()),
    });
    shared.write(&about)
}

/// Returns whether the file has records, apart from those that identify it.
pub(super) fn has_records(transaction: &ReadTransaction, kind: &StoreKind) -> Result<bool> {
    let mut tables = transaction.list_tables().map_err(StoreError::io)?;
    Ok(tables.any(|table| table.name() != kind.service))
}

/// Writes records in place of all that the file has.
pub(super) fn replace(
    transaction: &WriteTransaction,
    kind: &StoreKind,
    contents: &Contents,
) -> Result<()> {
    let tables = transaction.list_tables().map_err(StoreError::io)?;
    for table in tables.collect::<Vec<_>>() {
        transaction.delete_table(table).map_err(StoreError::io)?;
    }
    kind.identify(transaction, contents.identity)?;
    for record in &contents.records {
        let Some(value) = &record.value else {
            continue;
        };
        let table = TableDefinition::<u64, &[u8]>::new(&record.table);
        let table = transaction.open_table(table);
        let mut table = table.map_err(StoreError::io)?;
        let inserted = table.insert(record.number, value.as_slice());
        inserted.map_err(StoreError::io)?;
    }
    Ok(())
}
