//! Records that the servers of a cluster share, of which one has the right to write.
//!
//! That server has a copy of them in a file, as any store has. A commit is written to the shared records first: what a
//! client was told has happened is there when another server takes over.
//!
//! Shared records count when they have a format and an identity. Those that are made of a server's file get these last,
//! and a mark first:
//!
//! | table | number | value |
//! |---|---|---|
//! | the service's name | 0 | format |
//! | | 1 | identity of the store |
//! | | 2 | identity of the store of which they are being made; not there when they are complete |

use std::fmt::Debug;
use std::sync::Arc;

use redb::{
    ReadTransaction, ReadableTable, TableDefinition, TableError, TableHandle, WriteTransaction,
};

use super::{StoreError, StoreKind};

type Result<T> = std::result::Result<T, StoreError>;

/// Keys of the records that identify a store, in the table with the service's name.
const FORMAT: u64 = 0;
const IDENTITY: u64 = 1;
const BEGUN: u64 = 2;

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
    /// Returns the name of the records, for people.
    fn name(&self) -> String;

    /// Reads the value of a record; `None` if there is none. Needs no right to the records. Blocks.
    ///
    /// # Errors
    /// They cannot be reached.
    fn find(&self, table: &str, number: u64) -> Result<Option<Vec<u8>>>;

    /// Reads all records. Blocks.
    ///
    /// # Errors
    /// They cannot be reached; this process has lost the right to them.
    fn read(&self) -> Result<Vec<SharedRecord>>;

    /// Returns the number of records that one write writes whole or not at all. Default: any.
    fn most_at_once(&self) -> usize {
        usize::MAX
    }

    /// Writes records, in their order, and returns when they are durable. Blocks. More than
    /// [`most_at_once`](Self::most_at_once) are written in parts, of which the first ones stay if a later one fails.
    ///
    /// # Errors
    /// They cannot be reached, or did not say whether the records were written; this process has lost the right to them.
    fn write(&self, records: &[SharedRecord]) -> Result<()>;
}

/// Source of records that several servers share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SharedFrom {
    /// The shared records count. A file with others is refused.
    #[default]
    Records,
    /// The records of the file become the shared ones, which have to be empty, or the records of the file already.
    File,
}

/// Contents of a store that is shared.
pub(super) struct Contents {
    pub(super) identity: u64,
    pub(super) records: Vec<SharedRecord>,
}

/// Shared records, by those that identify them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    /// No server has written anything yet.
    Nothing,
    /// A server has begun to make them of its file.
    Begun,
    /// They are complete, and those of a store with this identity.
    Complete(u64),
}

/// File that is to be a copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    pub(super) identity: u64,
    pub(super) has_records: bool,
    /// True if it was written as a store of its own since it was a copy.
    pub(super) is_alone: bool,
}

/// Step that makes a file and shared records the same.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// The shared records are identified as those of the file; neither has any.
    Create,
    /// The records of the file become the shared ones.
    Publish,
    /// The shared records replace those of the file.
    Copy,
}

/// Returns the step that makes a file and shared records the same, or the reason why there is none.
pub(super) fn step(
    found: Found,
    own: Own,
    from: SharedFrom,
) -> std::result::Result<Step, &'static str> {
    match (found, from) {
        (Found::Complete(identity), _) => {
            match own.has_records && (identity != own.identity || own.is_alone) {
                false => Ok(Step::Copy),
                true if identity == own.identity => {
                    Err("the file was served without them since, and they are not empty")
                }
                true => Err("they are those of another store, and the file has records of its own"),
            }
        }
        (Found::Nothing, SharedFrom::Records) if own.has_records => {
            Err("it has records, and they are empty and not to be made of it")
        }
        (Found::Nothing, SharedFrom::Records) => Ok(Step::Create),
        (Found::Begun, SharedFrom::Records) => Err(
            "a server has begun to make them of its file, and has not ended: start that server again",
        ),
        (Found::Nothing | Found::Begun, SharedFrom::File) => match own.has_records {
            true => Ok(Step::Publish),
            false => Err("they are to be made of the file, which has no records"),
        },
    }
}

impl Found {
    fn of_values(
        kind: &StoreKind,
        mut value: impl FnMut(u64) -> Result<Option<Vec<u8>>>,
    ) -> Result<Option<Self>> {
        let mut number = |key: u64| -> Result<Option<u64>> {
            let bytes = value(key)?.and_then(|bytes| <[u8; 8]>::try_from(bytes).ok());
            Ok(bytes.map(u64::from_be_bytes))
        };
        if number(BEGUN)?.is_some() {
            return Ok(Some(Self::Begun));
        }
        let (Some(format), Some(identity)) = (number(FORMAT)?, number(IDENTITY)?) else {
            return Ok(None);
        };
        kind.check_format(format)?;
        Ok(Some(Self::Complete(identity)))
    }

    /// Returns what the shared records are.
    ///
    /// # Errors
    /// They are of a newer format, or lack a part.
    pub(super) fn of(all: &[SharedRecord], kind: &StoreKind) -> Result<Self> {
        let about = |number: u64| {
            let is_it = |one: &&SharedRecord| *one.table == *kind.service && one.number == number;
            let found = all.iter().find(is_it);
            Ok(found.and_then(|record| record.value.clone()))
        };
        match Self::of_values(kind, about)? {
            Some(found) => Ok(found),
            None if all.is_empty() => Ok(Self::Nothing),
            None => Err(StoreError::damaged(
                "the shared records lack their format or identity",
            )),
        }
    }
}

/// Finds out what the shared records are, without the right to them.
pub(super) fn find(shared: &dyn SharedRecords, kind: &StoreKind) -> Result<Found> {
    let found = Found::of_values(kind, |number| shared.find(kind.service, number))?;
    Ok(found.unwrap_or(Found::Nothing))
}

/// Returns the contents of shared records that are complete.
pub(super) fn contents(all: Vec<SharedRecord>, kind: &StoreKind) -> Result<Contents> {
    let Found::Complete(identity) = Found::of(&all, kind)? else {
        return Err(StoreError::damaged("the shared records are not complete"));
    };
    let records = all.into_iter();
    let records = records.filter(|record| *record.table != *kind.service);
    Ok(Contents {
        identity,
        records: records.collect(),
    })
}

/// Returns one of the records that identify a store.
fn about(kind: &StoreKind, number: u64, value: Option<u64>) -> SharedRecord {
    SharedRecord {
        table: kind.service.into(),
        number,
        value: value.map(|value| value.to_be_bytes().to_vec()),
    }
}

/// Writes what identifies a store of this kind to shared records that are empty.
pub(super) fn create(shared: &dyn SharedRecords, kind: &StoreKind, identity: u64) -> Result<()> {
    shared.write(&[
        about(kind, FORMAT, Some(kind.format)),
        about(kind, IDENTITY, Some(identity)),
    ])
}

/// Writes contents to shared records that are empty, but for those that another server may have begun to write. They count
/// when all are written.
pub(super) fn publish(
    shared: &dyn SharedRecords,
    kind: &StoreKind,
    contents: &Contents,
    begun: Vec<SharedRecord>,
) -> Result<()> {
    let is_own = |record: &SharedRecord| *record.table == *kind.service;
    let removals = begun.into_iter().filter(|record| !is_own(record));
    let removals = removals.map(|record| SharedRecord {
        value: None,
        ..record
    });
    let mut all = vec![about(kind, BEGUN, Some(contents.identity))];
    all.extend(removals);
    all.extend(contents.records.iter().cloned());
    shared.write(&all)?;
    shared.write(&[
        about(kind, FORMAT, Some(kind.format)),
        about(kind, IDENTITY, Some(contents.identity)),
        about(kind, BEGUN, None),
    ])
}

/// Reads the records of a file that can be shared: those of all tables whose keys are numbers.
pub(super) fn records(
    transaction: &ReadTransaction,
    kind: &StoreKind,
) -> Result<Vec<SharedRecord>> {
    let mut records = Vec::new();
    let tables = transaction.list_tables().map_err(StoreError::io)?;
    for handle in tables.filter(|table| table.name() != kind.service) {
        let name: Arc<str> = handle.name().into();
        let table = match transaction.open_table(TableDefinition::<u64, &[u8]>::new(&name)) {
            Ok(table) => table,
            Err(TableError::TableTypeMismatch { .. }) => continue,
            Err(error) => return Err(StoreError::io(error)),
        };
        for entry in table.iter().map_err(StoreError::io)? {
            let (number, value) = entry.map_err(StoreError::io)?;
            records.push(SharedRecord {
                table: name.clone(),
                number: number.value(),
                value: Some(value.value().to_vec()),
            });
        }
    }
    Ok(records)
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
