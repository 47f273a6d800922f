//! Store in a file of this machine, which one process has open.
//!
//! | table | key | value |
//! |---|---|---|
//! | `contexts` | number of a context | that of its home |
//! | `bindings` | number of a context, component | target ([`record`](super::record)) |

use std::path::Path;

#[cfg(feature = "faults")]
use punctual_host::store::Faults;
use punctual_host::store::{
    Batch, ReadTransaction, ReadableTable, Record, Records, StoreFile, StoreKind, TableDefinition,
    TableError,
};

use super::StoreError;
use super::change::{Change, ContextId, Loading, Target};
use super::contract::Store;
use super::record::{decoded, encoded};

const CONTEXTS: TableDefinition<'static, u64, u64> = TableDefinition::new("contexts");
const BINDINGS: Records<(ContextId, &'static str), Target> = Records::named("bindings");

/// Service name and format version of naming store files.
pub(crate) const KIND: StoreKind = StoreKind::new("naming", 1);

/// Naming store in a local file.
#[derive(Debug)]
pub struct FileStore(StoreFile);

type Result<T> = std::result::Result<T, StoreError>;

impl Record for Target {
    fn encode(&self, out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(&encoded(self));
        Ok(())
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        decoded(bytes)
    }
}

impl FileStore {
    /// Opens a file, which is created if need be.
    ///
    /// # Errors
    /// The file is in use, damaged, newer, of another kind, or cannot be read or written. It is
    /// left unchanged.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self(StoreFile::open(path, KIND)?))
    }

    /// Opens a file as [`open`](Self::open) does, on a disk with injected faults.
    ///
    /// # Errors
    /// As of [`open`](Self::open).
    #[cfg(feature = "faults")]
    pub fn open_with_faults(path: &Path, faults: Faults) -> Result<Self> {
        Ok(Self(StoreFile::open_with_faults(path, KIND, faults)?))
    }

    /// Returns unused pages of the file to the file system. Takes time in proportion to the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn compact(&self) -> Result<bool> {
        self.0.compact()
    }
}

impl Store for FileStore {
    fn identity(&self) -> u64 {
        self.0.identity()
    }

    fn bytes(&self) -> Option<u64> {
        self.0.bytes()
    }

    fn load(&self, loading: &mut dyn Loading) -> Result<()> {
        self.0.read(|transaction| {
            load_contexts(transaction, loading)?;
            load_bindings(transaction, loading)
        })
    }

    fn commit(&self, changes: &[Change]) -> Result<()> {
        self.0.commit(|batch| write(batch, changes))
    }
}

fn load_contexts(transaction: &ReadTransaction, loading: &mut dyn Loading) -> Result<()> {
    let contexts = match transaction.open_table(CONTEXTS) {
        Ok(contexts) => contexts,
        Err(TableError::TableDoesNotExist(_)) => return Ok(()),
        Err(error) => return Err(StoreError::io(error)),
    };
    for record in contexts.iter().map_err(StoreError::io)? {
        let (context, home) = record.map_err(StoreError::io)?;
        loading.context(context.value(), home.value());
    }
    Ok(())
}

fn load_bindings(transaction: &ReadTransaction, loading: &mut dyn Loading) -> Result<()> {
    BINDINGS.read(transaction, |(context, key), target| {
        loading.binding(context, key, target);
        Ok(())
    })
}

fn write(batch: &Batch<'_>, changes: &[Change]) -> Result<()> {
    let mut contexts = batch.table(CONTEXTS)?;
    let mut bindings = batch.records(BINDINGS)?;
    for change in changes {
        match change {
            Change::Create { context, home } => contexts.insert(*context, *home)?,
            Change::Destroy(context) => {
                contexts.remove(*context)?;
                // Only a group has bindings left.
                bindings.remove_while((*context, ""), |(of, _)| of == context)?;
            }
            Change::Bind {
                context,
                key,
                target,
            } => bindings.put((*context, &**key), target)?,
            Change::Unbind { context, key } => bindings.remove((*context, &**key))?,
        }
    }
    Ok(())
}
