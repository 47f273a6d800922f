//! Definitions in an embedded database: a record for each, by its number.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use punctual::stub::{Block, ByteOrder, Coding, Decoder, Encoder, Marshal, Unmarshal};
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

use crate::store::{Definition, Number};

const TABLE: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("definitions");

/// Where definitions are kept when the process ends.
#[derive(Debug)]
pub(crate) struct Storage {
    /// There until the end.
    database: Option<Database>,
    /// Whether the database has panicked, after which nothing is asked of it any more.
    is_broken: AtomicBool,
}

/// What may be wrong with it, in words.
type Result<T> = std::result::Result<T, String>;

impl Storage {
    /// Opens a database, which is made if need be.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let database = guarded(|| Database::create(path).map_err(in_words))?;
        Ok(Storage {
            database: Some(database),
            is_broken: AtomicBool::new(false),
        })
    }

    /// All definitions that are there, in the order of their numbers.
    pub(crate) fn read(&self) -> Result<Vec<(Number, Definition)>> {
        guarded(|| self.read_all())
    }

    fn read_all(&self) -> Result<Vec<(Number, Definition)>> {
        let transaction = self.database()?.begin_read().map_err(in_words)?;
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

    fn database(&self) -> Result<&Database> {
        self.database.as_ref().ok_or_else(|| DAMAGED.to_owned())
    }

    /// Keeps what definitions have become, all or nothing; `None` for those that are gone.
    pub(crate) fn write(&self, changed: &[(Number, Option<Definition>)]) -> Result<()> {
        if self.is_broken.load(Ordering::Relaxed) {
            return Err(DAMAGED.to_owned());
        }
        let written = guarded(|| self.write_all(changed));
        let is_broken = written.as_ref().is_err_and(|why| why == DAMAGED);
        self.is_broken.fetch_or(is_broken, Ordering::Relaxed);
        written
    }

    fn write_all(&self, changed: &[(Number, Option<Definition>)]) -> Result<()> {
        let transaction = self.database()?.begin_write().map_err(in_words)?;
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

/// The database tidies up at its end, in what may be damaged.
impl Drop for Storage {
    fn drop(&mut self) {
        let database = self.database.take();
        // Nobody is left to be told.
        let _ = guarded(|| {
            drop(database);
            Ok(())
        });
    }
}

const DAMAGED: &str = "the file is damaged";

/// The database checks what it reads in part by assertions, and a file may hold anything.
fn guarded<R>(work: impl FnOnce() -> Result<R>) -> Result<R> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(DAMAGED.to_owned()))
}

/// Records are read where they were written, or elsewhere: they are big-endian everywhere.
fn encoded(definition: &Definition) -> Result<Vec<u8>> {
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
