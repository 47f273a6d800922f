//! Loaded plug-in library, with the table of functions that it exports, which has been validated.

use super::file;
use crate::abi::{ENTRY, Functions, MAGIC, RESIDENT, SIGNATURE, Table, VERSION};
use crate::{Fault, PluginError};
use libloading::os::unix::{Library as Mapped, RTLD_LOCAL, RTLD_NOW};
use std::mem::{self, ManuallyDrop};
use std::path::{Path, PathBuf};

/// Type of the entry function that a library exports under [`ENTRY`].
type Entry = unsafe extern "C" fn() -> *const Table;

/// Library with a valid table. Mapped as long as this lives, and permanently if its flags say so.
#[derive(Debug)]
pub(super) struct Library {
    pub(super) functions: Functions,
    resident: bool,
    mapped: ManuallyDrop<Option<Mapped>>,
    path: PathBuf,
}

impl Library {
    /// Loads a link library into memory, and checks its table of functions.
    pub(super) fn map(path: &Path) -> Result<Self, PluginError> {
        let refused = |fault| PluginError {
            library: path.to_owned(),
            fault,
        };
        let full = file::shared_library(path).map_err(refused)?;
        // SAFETY: initialisers of the library run here, and only the person that configured it can
        // vouch for them: see the module's section on trust. RTLD_NOW has undefined symbols refused
        // here rather than end the process later.
        let mapped = unsafe { Mapped::open(Some(&full), RTLD_NOW | RTLD_LOCAL) };
        let mapped = mapped.map_err(|error| refused(linker_fault(&error)))?;
        let table = entry(&mapped).map_err(refused)?;
        // SAFETY: the table lies in the library, which stays mapped while `mapped` lives, and the
        // function of this name returns a pointer to a table, or to the first fields of one of
        // another version.
        unsafe { Self::with_table(path, table, Some(mapped)) }
    }

    /// Makes the library of the table at `table`; `mapped` keeps it there.
    ///
    /// # Safety
    /// `table` is null, or points to memory that begins as a [`Table`] does and has its stated
    /// length, and stays there as long as `mapped` does, or permanently.
    pub(super) unsafe fn with_table(
        path: &Path,
        table: *const Table,
        mapped: Option<Mapped>,
    ) -> Result<Self, PluginError> {
        // SAFETY: as this function's own.
        let checked = unsafe { check(table) };
        match checked {
            Ok((functions, flags)) => Ok(Self {
                functions,
                resident: flags & RESIDENT != 0,
                mapped: ManuallyDrop::new(mapped),
                path: path.to_owned(),
            }),
            Err(fault) => Err(PluginError {
                library: path.to_owned(),
                fault,
            }),
        }
    }

    /// Returns the path of the library's file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        if !self.resident {
            // SAFETY: dropped here only, and not used after.
            drop(unsafe { ManuallyDrop::take(&mut self.mapped) });
        }
    }
}

fn entry(mapped: &Mapped) -> Result<*const Table, Fault> {
    // SAFETY: the type is that of the one function that has this name (`punctual_link.h`).
    let symbol = unsafe { mapped.get::<Option<Entry>>(ENTRY.as_bytes()) };
    let entry = symbol
        .ok()
        .and_then(|symbol| *symbol)
        .ok_or(Fault::MissingSymbol(ENTRY))?;
    // SAFETY: it takes no parameters, and the library is mapped.
    Ok(unsafe { entry() })
}

/// Checks a table and returns its functions and flags.
///
/// # Safety
/// As [`Library::with_table`].
unsafe fn check(table: *const Table) -> Result<(Functions, u64), Fault> {
    if table.is_null() {
        return Err(Fault::NoTable("null"));
    }
    if !table.is_aligned() {
        return Err(Fault::NoTable("a pointer that is not aligned"));
    }
    // The fields that all versions have, one by one: a table of another version may end here.
    // SAFETY: these fields are there in every version, and aligned as the table is.
    let (magic, version, size) = unsafe { ((*table).magic, (*table).version, (*table).size) };
    if magic != MAGIC {
        return Err(Fault::BadMagic(magic));
    }
    if version != VERSION {
        return Err(Fault::WrongVersion {
            theirs: version,
            ours: VERSION,
        });
    }
    let ours = u32::try_from(mem::size_of::<Table>()).unwrap_or(u32::MAX);
    if size < ours {
        return Err(Fault::TooSmall { theirs: size, ours });
    }
    // SAFETY: it states the length of a table, and every bit pattern is a table's.
    let table = unsafe { *table };
    if table.signature != SIGNATURE {
        return Err(Fault::BadSignature {
            theirs: table.signature,
            ours: SIGNATURE,
        });
    }
    if table.flags & !RESIDENT != 0 {
        return Err(Fault::UnknownFlags(table.flags));
    }
    let functions = Functions::of(&table).map_err(Fault::NullFunction)?;
    Ok((functions, table.flags))
}

fn linker_fault(error: &libloading::Error) -> Fault {
    let reason = match error {
        libloading::Error::DlOpen { source } => source.to_string(),
        other => other.to_string(),
    };
    Fault::Linker(reason.into())
}
