//! Opening of a database: format and owner of a file.
//!
//! | table | key | value |
//! |---|---|---|
//! | the service's name | `format`, `identity` | numbers |
//! | | `alone` | 1 once the store was written as one of its own, and not as a copy of shared records |

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use redb::{
    Builder, Database, DatabaseError, ReadTransaction, ReadableDatabase, StorageError,
    TableDefinition, TableHandle, WriteTransaction,
};

use super::StoreError;
use super::lock::unknown_holder;

/// Size of the database's page cache, in bytes. It is small, as services keep their records in
/// memory, and read the file only once.
const CACHE_BYTES: usize = 16 << 20;

/// Key of the note that a store is no copy of shared records.
const ALONE: &str = "alone";

type Result<T> = std::result::Result<T, StoreError>;

/// Service that a store belongs to, and the form of its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreKind {
    /// Name of the service, and of the table that identifies its stores.
    pub service: &'static str,
    /// The latest format that this version writes and reads.
    pub format: u64,
    /// Table that identifies the stores written before files contained their service's name. Such a
    /// file is converted.
    pub known_by: Option<&'static str>,
}

impl StoreKind {
    /// Creates the description of a service's stores: the service's name and latest format.
    #[must_use]
    pub const fn new(service: &'static str, format: u64) -> Self {
        Self {
            service,
            format,
            known_by: None,
        }
    }

    /// Returns the error for a file that is not a store of this kind.
    pub fn foreign(&self, reason: impl std::fmt::Display) -> StoreError {
        StoreError::Foreign {
            service: self.service,
            reason: reason.to_string(),
        }
    }

    /// Checks that this version reads a format.
    pub(super) fn check_format(&self, found: u64) -> Result<()> {
        if found > self.format {
            return Err(StoreError::Newer {
                found,
                known: self.format,
            });
        }
        Ok(())
    }

    /// Writes the table that identifies a store.
    pub(super) fn identify(&self, transaction: &WriteTransaction, identity: u64) -> Result<()> {
        let about = transaction.open_table(self.about());
        let mut about = about.map_err(StoreError::io)?;
        let mut put = |key, value| about.insert(key, value).map(drop).map_err(StoreError::io);
        put("format", self.format)?;
        put("identity", identity)
    }

    /// Notes that the store is one of its own from now on.
    pub(super) fn note_alone(&self, transaction: &WriteTransaction) -> Result<()> {
        let about = transaction.open_table(self.about());
        let mut about = about.map_err(StoreError::io)?;
        let noted = about.insert(ALONE, 1);
        noted.map(drop).map_err(StoreError::io)
    }

    /// Notes that the store is a copy of shared records, or becomes one.
    pub(super) fn note_shared(&self, transaction: &WriteTransaction) -> Result<()> {
        let about = transaction.open_table(self.about());
        let mut about = about.map_err(StoreError::io)?;
        let noted = about.remove(ALONE);
        noted.map(drop).map_err(StoreError::io)
    }

    fn about(&self) -> TableDefinition<'static, &'static str, u64> {
        TableDefinition::new(self.service)
    }
}

pub(super) fn builder() -> Builder {
    let mut builder = Builder::new();
    builder
        .set_cache_size(CACHE_BYTES)
        .set_check_integrity_on_open(true);
    builder
}

/// Opens the database in a file, which is created if necessary.
pub(super) fn opened(
    path: &Path,
    kind: &StoreKind,
    open: impl Fn(&Path) -> std::result::Result<Database, DatabaseError>,
) -> Result<Database> {
    guarded(|| {
        open(path).map_err(|error| match error {
            DatabaseError::DatabaseAlreadyOpen | DatabaseError::LockProtocolMismatch => {
                StoreError::InUse(unknown_holder())
            }
            DatabaseError::UpgradeRequired(_) => kind.foreign(error),
            DatabaseError::Storage(StorageError::Corrupted(what)) => StoreError::Damaged(what),
            // The database's error for a file that does not begin as its own do.
            DatabaseError::Storage(StorageError::Io(error))
                if error.kind() == std::io::ErrorKind::InvalidData =>
            {
                kind.foreign(error)
            }
            error => StoreError::io(error),
        })
    })
}

/// Returns the identity of a store of this kind; an empty database first becomes one.
pub(super) fn identified(database: &Database, kind: &StoreKind) -> Result<u64> {
    let transaction = database.begin_read().map_err(StoreError::io)?;
    let tables = transaction.list_tables().map_err(StoreError::io)?;
    let tables: Vec<String> = tables.map(|table| table.name().to_owned()).collect();
    let has = |name: &str| tables.iter().any(|table| table == name);
    if has(kind.service) {
        return known(&transaction, kind);
    }
    if tables.is_empty() || kind.known_by.is_some_and(has) {
        return founded(database, kind);
    }
    Err(kind.foreign("it is a database of another program or service"))
}

/// Checks the format of a store and returns the store's identity number.
fn known(transaction: &ReadTransaction, kind: &StoreKind) -> Result<u64> {
    let about = transaction.open_table(kind.about());
    let about = about.map_err(StoreError::io)?;
    let number = |key: &str| -> Result<u64> {
        let found = about.get(key).map_err(StoreError::io)?;
        let found = found.map(|found| found.value());
        found.ok_or_else(|| StoreError::damaged("it lacks its format or identity"))
    };
    kind.check_format(number("format")?)?;
    number("identity")
}

/// Returns whether a store was written as one of its own, and not as a copy of shared records.
pub(super) fn is_alone(transaction: &ReadTransaction, kind: &StoreKind) -> Result<bool> {
    let about = transaction.open_table(kind.about());
    let about = about.map_err(StoreError::io)?;
    let noted = about.get(ALONE).map_err(StoreError::io)?;
    Ok(noted.is_some())
}

/// Turns an empty database into a store of this kind.
fn founded(database: &Database, kind: &StoreKind) -> Result<u64> {
    let identity = getrandom::u64().map_err(StoreError::io)?;
    let transaction = database.begin_write().map_err(StoreError::io)?;
    kind.identify(&transaction, identity)?;
    transaction.commit().map_err(StoreError::io)?;
    Ok(identity)
}

/// Runs work on the database, and returns an error where that panics.
pub(super) fn guarded<R>(work: impl FnOnce() -> Result<R>) -> Result<R> {
    let done = catch_unwind(AssertUnwindSafe(work));
    done.unwrap_or_else(|_| Err(StoreError::damaged("the database cannot read the file")))
}
