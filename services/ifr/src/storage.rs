//! Definitions in an embedded database: a record for each, by its number.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use punctual::stub::{Block, ByteOrder, Coding, Decoder, Encoder, Marshal, Unmarshal};
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

use crate::store::{Definition, Number};

const TABLE: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("definitions");

/// Where definitions are kept when the process ends.
#[derive(Debug)]
pub(crate) struct Storage {
    path: PathBuf,
    /// Not there after it could not be written, until it is to be written again: a database that has failed once
    /// refuses everything until it is opened anew.
    database: Mutex<Option<Database>>,
    /// Whether the database has panicked, after which nothing is asked of it any more.
    is_broken: AtomicBool,
}

/// What may be wrong with it, in words.
type Result<T> = std::result::Result<T, String>;

impl Storage {
    /// Opens a database, which is made if need be.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Ok(Storage {
            database: Mutex::new(Some(opened(path)?)),
            path: path.to_owned(),
            is_broken: AtomicBool::new(false),
        })
    }

    /// All definitions that are there, in the order of their numbers.
    pub(crate) fn read(&self) -> Result<Vec<(Number, Definition)>> {
        let database = self.database.lock();
        let database = database.as_ref().ok_or(DAMAGED)?;
        guarded(|| Self::read_all(database))
    }

    fn read_all(database: &Database) -> Result<Vec<(Number, Definition)>> {
        let transaction = database.begin_read().map_err(in_words)?;
        let table = match transaction.open_table(TABLE) {
            Ok(table) => table,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
            Err(error) => return Err(in_words(error)),
        };
        let mut definitions = Vec::new();
        for record in table.iter().map_err(in_words)? {
            let (number, octets) = record.map_err(in_words)?;
            definitions.push((number.value(), decoded(octets.value())?));
        }
        Ok(definitions)
    }

    /// Keeps what definitions have become, all or nothing; `None` for those that are gone. Where the disk is full, later
    /// ones are kept when there is room again.
    pub(crate) fn write(&self, changed: &[(Number, Option<Definition>)]) -> Result<()> {
        if self.is_broken.load(Ordering::Relaxed) {
            return Err(DAMAGED.to_owned());
        }
        let mut open = self.database.lock();
        let database = match open.take() {
            Some(database) => database,
            // A new one would have none of what is in memory.
            None if !self.path.exists() => return Err("its file is gone".to_owned()),
            None => opened(&self.path)?,
        };
        let written = guarded(|| Self::write_all(&database, changed));
        match &written {
            Ok(()) => *open = Some(database),
            Err(_) => close(database),
        }
        let is_broken = written.as_ref().is_err_and(|why| why == DAMAGED);
        self.is_broken.fetch_or(is_broken, Ordering::Relaxed);
        written
    }

    fn write_all(database: &Database, changed: &[(Number, Option<Definition>)]) -> Result<()> {
        let transaction = database.begin_write().map_err(in_words)?;
        {
            let mut table = transaction.open_table(TABLE).map_err(in_words)?;
            for (number, definition) in changed {
                match definition {
                    Some(definition) => {
                        let octets = encoded(definition)?;
                        table.insert(number, octets.as_slice()).map_err(in_words)?;
                    }
                    None => {
                        table.remove(number).map_err(in_words)?;
                    }
                }
            }
        }
        transaction.commit().map_err(in_words)
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        if let Some(database) = self.database.get_mut().take() {
            close(database);
        }
    }
}

/// A database, which is made if need be.
fn opened(path: &Path) -> Result<Database> {
    guarded(|| Database::create(path).map_err(in_words))
}

/// The database tidies up at its end, in what may be damaged.
fn close(database: Database) {
    // Nobody is to be told: what was written is kept already.
    let _ = guarded(|| {
        drop(database);
        Ok(())
    });
}

const DAMAGED: &str = "the file is damaged";

/// The database checks what it reads in part by assertions, and a file may hold anything.
fn guarded<R>(work: impl FnOnce() -> Result<R>) -> Result<R> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(DAMAGED.to_owned()))
}

/// Records are read where they were written, or elsewhere: they are big-endian everywhere.
pub(crate) fn encoded(definition: &Definition) -> Result<Vec<u8>> {
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    definition.marshal(&mut out).map_err(in_words)?;
    Ok(out.into_block().to_vec())
}

fn decoded(octets: &[u8]) -> Result<Definition> {
    let mut input = Decoder::new(octets, ByteOrder::Big, Coding::default());
    Definition::unmarshal(&mut input).map_err(in_words)
}

fn in_words(error: impl std::fmt::Display) -> String {
    error.to_string()
}
