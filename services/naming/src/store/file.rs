//! An embedded database (redb) in one file, which one process has open.
//!
//! | table | key | value |
//! |---|---|---|
//! | `naming` | `format`, `identity` | numbers |
//! | `contexts` | number of a context | that of its home |
//! | `bindings` | number of a context, component | target ([`record`](super::record)) |
//!
//! A commit is one transaction with one `fsync`. Every page has a checksum; all are compared when the file is opened.

use std::ops::{Bound, RangeBounds};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use redb::{
    Builder, Database, DatabaseError, ReadTransaction, ReadableDatabase, ReadableTable,
    StorageError, TableDefinition, TableHandle, WriteTransaction,
};

use super::record::{decoded, encoded};
use super::{Change, ContextId, Loading, Store, StoreError};

const ABOUT: TableDefinition<'_, &str, u64> = TableDefinition::new("naming");
const CONTEXTS: TableDefinition<'_, u64, u64> = TableDefinition::new("contexts");
const BINDINGS: TableDefinition<'_, (u64, &str), &[u8]> = TableDefinition::new("bindings");

/// The form of the tables.
const FORMAT: u64 = 1;

/// What the database keeps of the file in memory. The tree has it all, and is read from the file once.
const CACHE_BYTES: usize = 16 << 20;

/// A store in a file.
#[derive(Debug)]
pub struct FileStore {
    path: PathBuf,
    identity: u64,
    /// Not there after it could not be written, until it is to be written again: a database that has failed once
    /// refuses everything until it is opened anew.
    database: Mutex<Option<Database>>,
    /// Whether the database has panicked, after which nothing is asked of it any more.
    is_broken: AtomicBool,
}

type Result<T> = std::result::Result<T, StoreError>;

impl FileStore {
    /// Opens a file, which is made if need be.
    ///
    /// # Errors
    /// It is in use, damaged, something else, or cannot be read or written. It is left as it is.
    pub fn open(path: &Path) -> Result<Self> {
        let database = opened(path)?;
        let identity = guarded(|| identified(&database))?;
        Ok(Self {
            path: path.to_owned(),
            identity,
            database: Mutex::new(Some(database)),
            is_broken: AtomicBool::new(false),
        })
    }
}

impl Store for FileStore {
    fn identity(&self) -> u64 {
        self.identity
    }

    fn bytes(&self) -> Option<u64> {
        let about = std::fs::metadata(&self.path);
        about.ok().map(|about| about.len())
    }

    fn load(&self, loading: &mut dyn Loading) -> Result<()> {
        let database = self.database.lock();
        let database = database.as_ref().ok_or_else(closed)?;
        guarded(|| {
            let transaction = database.begin_read().map_err(io)?;
            load_contexts(&transaction, loading)?;
            load_bindings(&transaction, loading)
        })
    }

    fn commit(&self, changes: &[Change]) -> Result<()> {
        if self.is_broken.load(Ordering::Relaxed) {
            return Err(damaged("the database has failed"));
        }
        let mut open = self.database.lock();
        let database = match open.take() {
            Some(database) => database,
            // A new one would have none of what is in memory.
            None if !self.path.exists() => return Err(StoreError::Io("its file is gone".into())),
            None => opened(&self.path)?,
        };
        let written = guarded(|| write(&database, changes));
        match &written {
            Ok(()) => *open = Some(database),
            Err(_) => close(database),
        }
        let is_broken = matches!(written, Err(StoreError::Damaged(_)));
        self.is_broken.fetch_or(is_broken, Ordering::Relaxed);
        written
    }
}

impl Drop for FileStore {
    fn drop(&mut self) {
        if let Some(database) = self.database.get_mut().take() {
            close(database);
        }
    }
}

fn opened(path: &Path) -> Result<Database> {
    guarded(|| {
        let mut builder = Builder::new();
        builder
            .set_cache_size(CACHE_BYTES)
            .set_check_integrity_on_open(true);
        builder.create(path).map_err(|error| match error {
            DatabaseError::DatabaseAlreadyOpen | DatabaseError::LockProtocolMismatch => {
                StoreError::InUse
            }
            DatabaseError::UpgradeRequired(_) => StoreError::Foreign(error.to_string()),
            DatabaseError::Storage(StorageError::Corrupted(what)) => StoreError::Damaged(what),
            // What the database says of a file that does not begin as its own do.
            DatabaseError::Storage(StorageError::Io(error))
                if error.kind() == std::io::ErrorKind::InvalidData =>
            {
                StoreError::Foreign(error.to_string())
            }
            error => io(error),
        })
    })
}

/// Makes a new file a store.
fn founded(database: &Database) -> Result<u64> {
    let identity = getrandom::u64().map_err(io)?;
    let transaction = database.begin_write().map_err(io)?;
    {
        let mut about = transaction.open_table(ABOUT).map_err(io)?;
        about.insert("format", FORMAT).map_err(io)?;
        about.insert("identity", identity).map_err(io)?;
        transaction.open_table(CONTEXTS).map_err(io)?;
        transaction.open_table(BINDINGS).map_err(io)?;
    }
    transaction.commit().map_err(io)?;
    Ok(identity)
}

/// The identity of a file that is a store, or becomes one as it is empty.
fn identified(database: &Database) -> Result<u64> {
    let transaction = database.begin_read().map_err(io)?;
    let tables: Vec<_> = transaction.list_tables().map_err(io)?.collect();
    if tables.is_empty() {
        return founded(database);
    }
    if !tables.iter().any(|table| table.name() == ABOUT.name()) {
        let what = "it is a database of another program's".to_owned();
        return Err(StoreError::Foreign(what));
    }
    let about = transaction.open_table(ABOUT).map_err(io)?;
    let number = |key: &str| -> Result<u64> {
        let found = about.get(key).map_err(io)?;
        found
            .map(|found| found.value())
            .ok_or_else(|| damaged("it lacks what it says of itself"))
    };
    match number("format")? {
        FORMAT => number("identity"),
        other => Err(StoreError::Foreign(format!("its format is {other}"))),
    }
}

fn load_contexts(transaction: &ReadTransaction, loading: &mut dyn Loading) -> Result<()> {
    let contexts = transaction.open_table(CONTEXTS).map_err(io)?;
    for record in contexts.iter().map_err(io)? {
        let (context, home) = record.map_err(io)?;
        loading.context(context.value(), home.value());
    }
    Ok(())
}

fn load_bindings(transaction: &ReadTransaction, loading: &mut dyn Loading) -> Result<()> {
    let bindings = transaction.open_table(BINDINGS).map_err(io)?;
    for record in bindings.iter().map_err(io)? {
        let (key, target) = record.map_err(io)?;
        let (context, key) = key.value();
        let target = decoded(target.value());
        let target = target.ok_or_else(|| damaged("a binding is none"))?;
        loading.binding(context, key, target);
    }
    Ok(())
}

fn write(database: &Database, changes: &[Change]) -> Result<()> {
    let transaction = database.begin_write().map_err(io)?;
    write_all(&transaction, changes)?;
    transaction.commit().map_err(io)
}

fn write_all(transaction: &WriteTransaction, changes: &[Change]) -> Result<()> {
    let mut contexts = transaction.open_table(CONTEXTS).map_err(io)?;
    let mut bindings = transaction.open_table(BINDINGS).map_err(io)?;
    for change in changes {
        match change {
            Change::Create { context, home } => {
                contexts.insert(context, home).map_err(io)?;
            }
            Change::Destroy(context) => {
                contexts.remove(context).map_err(io)?;
                // Only a group has any.
                let of_it = bindings_of(*context);
                bindings.retain_in(of_it, |_, _| false).map_err(io)?;
            }
            Change::Bind {
                context,
                key,
                target,
            } => {
                let target = encoded(target);
                let key: (ContextId, &str) = (*context, key);
                bindings.insert(key, target.as_slice()).map_err(io)?;
            }
            Change::Unbind { context, key } => {
                bindings.remove((*context, &**key)).map_err(io)?;
            }
        }
    }
    Ok(())
}

/// Where the keys of a context's bindings begin and end.
fn bindings_of(context: ContextId) -> impl RangeBounds<(ContextId, &'static str)> {
    let end = context.checked_add(1);
    let end = end.map_or(Bound::Unbounded, |next| Bound::Excluded((next, "")));
    (Bound::Included((context, "")), end)
}

/// The database tidies up at its end, in what may be damaged.
fn close(database: Database) {
    // Nobody is to be told: what was written is kept already.
    let _ = guarded(|| {
        drop(database);
        Ok(())
    });
}

/// The database checks what it reads in part by assertions, and a file may hold anything.
fn guarded<R>(work: impl FnOnce() -> Result<R>) -> Result<R> {
    let done = catch_unwind(AssertUnwindSafe(work));
    done.unwrap_or_else(|_| Err(damaged("the database cannot make sense of it")))
}

fn damaged(what: &str) -> StoreError {
    StoreError::Damaged(what.to_owned())
}

fn closed() -> StoreError {
    StoreError::Io("it is closed".to_owned())
}

fn io(error: impl std::fmt::Display) -> StoreError {
    StoreError::Io(error.to_string())
}
