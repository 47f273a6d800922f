//! Store of a service: an embedded database (redb) in one file, which one process has open.
//!
//! - It is **locked**: a second server is refused with the name and the process of the first.
//! - It is **versioned**: a table of its own names the format; a file of another service or of a
//!   later version is refused and left unchanged.
//! - It is **guarded**: the database checks some of what it reads only by assertions, and a file
//!   may have any contents, so a panic in the database is converted to an error. After that nothing
//!   is written any more.
//! - Its commits are **settled**: a commit that has failed may still be on the disk; the next one
//!   first writes the former values of its records.
//!
//! The file may be the copy of records that several servers share ([`SharedRecords`]), of which one has the right to write.
//!
//! A commit is one transaction with one `fsync`. Every page has a checksum; all are compared when the file is opened.

mod batch;
mod changes;
mod error;
#[cfg(feature = "faults")]
mod faults;
mod file;
mod lock;
#[cfg(feature = "faults")]
mod memory;
mod opening;
mod records;
mod shared;

pub use batch::{Batch, Table};
pub use changes::{Change, ChangeStore};
pub use error::{Holder, StoreError};
#[cfg(feature = "faults")]
pub use faults::Faults;
pub use file::StoreFile;
#[cfg(feature = "faults")]
pub use memory::{Answer, MemoryRecords};
pub use opening::StoreKind;
pub use records::{Cdr, Record, Records, to_cdr};
pub use redb::{ReadTransaction, ReadableTable, TableDefinition, TableError};
pub use shared::{SharedFrom, SharedRecord, SharedRecords};
