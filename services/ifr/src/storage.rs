//! Definitions in a file: a record for each, by its number.

use std::path::Path;

#[cfg(feature = "faults")]
use punctual_host::store::Faults;
use punctual_host::store::{Cdr, Records, StoreError, StoreFile, StoreKind};

use crate::store::{Definition, Number};

const DEFINITIONS: Records<Number, Cdr<Definition>> = Records::named("definitions");

/// Name and format of the store. Files of version 0.1 name neither.
const KIND: StoreKind = StoreKind {
    known_by: Some("definitions"),
    ..StoreKind::new("ifr", 1)
};

/// Store file with the definitions of an Interface Repository.
#[derive(Debug)]
pub(crate) struct Storage(StoreFile);

type Result<T> = std::result::Result<T, StoreError>;

impl Storage {
    /// Opens a file, which is created if need be.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Ok(Self(StoreFile::open(path, KIND)?))
    }

    /// Opens a file on a disk with injected faults.
    #[cfg(feature = "faults")]
    pub(crate) fn open_with_faults(path: &Path, faults: Faults) -> Result<Self> {
        Ok(Self(StoreFile::open_with_faults(path, KIND, faults)?))
    }

    /// Reads all definitions, in the order of their numbers.
    pub(crate) fn read(&self) -> Result<Vec<(Number, Definition)>> {
        let mut definitions = Vec::new();
        self.0.read(|transaction| {
            DEFINITIONS.read(transaction, |number, Cdr(definition)| {
                definitions.push((number, definition));
                Ok(())
            })
        })?;
        Ok(definitions)
    }

    /// Writes the new values of definitions, all or nothing; `None` for removed ones.
    pub(crate) fn write(&self, changed: Vec<(Number, Option<Definition>)>) -> Result<()> {
        self.0.commit(|batch| {
            let mut table = batch.records(DEFINITIONS)?;
            for (number, definition) in changed {
                match definition {
                    Some(definition) => table.put(number, &Cdr(definition))?,
                    None => table.remove(number)?,
                }
            }
            Ok(())
        })
    }

    /// Returns the length of the store file in bytes.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.0.bytes()
    }

    /// Returns unused pages of the file to the file system.
    pub(crate) fn compact(&self) -> Result<bool> {
        self.0.compact()
    }
}
