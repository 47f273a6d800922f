//! Errors of stores.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

/// Server process that has a store open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Name of the service to which the server belongs, if known.
    pub service: Option<String>,
    /// Process id of the server that has the store open, if known.
    pub process: Option<u32>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("another ")?;
        if let Some(service) = &self.service {
            write!(f, "{service} ")?;
        }
        f.write_str("server")?;
        match self.process {
            Some(process) => write!(f, " (process {process})"),
            None => Ok(()),
        }
    }
}

/// Reason why a store cannot be opened, read or written.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A server has the store open; it may be one of another service.
    #[error("{0} has the store open; stop that server, or name another file")]
    InUse(Holder),
    /// The file belongs to another program or service. It was not changed.
    #[error("it is not a {service} store and was not changed ({reason}); name another file")]
    Foreign {
        /// Name of the service that was to open the store.
        service: &'static str,
        /// Reason why the file is not a store of the service.
        reason: String,
    },
    /// A later version of the service has written the store. It was not changed.
    #[error(
        "a newer version has written it: its format is {found}, and this version reads formats up to {known}; \
         it was not changed; start the newer version, or name another file"
    )]
    Newer {
        /// Format number of the store file.
        found: u64,
        /// Latest format that this version of the program reads.
        known: u64,
    },
    /// The file is a store of the service, but damaged. It was left unchanged.
    #[error("it is damaged ({0}); move it away, and start again from a copy or an export")]
    Damaged(String),
    /// The file and the records that several servers share do not belong together. Neither was changed.
    #[error(
        "{} is no copy of the shared records {shared}: {reason}; neither was changed", .file.display()
    )]
    NoCopy {
        /// File that was to be the copy.
        file: PathBuf,
        /// Name of the shared records.
        shared: String,
        /// Reason why it cannot be one.
        reason: String,
    },
    /// The store cannot be reached now. Nothing was done.
    #[error("it cannot be reached: {0}")]
    Away(String),
    /// The store did not report the result of a commit.
    #[error("the result of the commit is unknown: {0}")]
    Unknown(String),
    /// A value has no CDR that the store could keep: its text has no code set for all of its characters, or it nests too deep.
    #[error("it has no form that can be stored: {0}")]
    NotStorable(String),
    /// The store file cannot be read or written.
    #[error("{0}")]
    Io(String),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl StoreError {
    /// Returns the error for an operation that the system or the database has refused.
    pub fn io(error: impl fmt::Display) -> Self {
        StoreError::Io(error.to_string())
    }

    /// Returns the error for a store with inconsistent contents.
    pub fn damaged(what: impl Into<String>) -> Self {
        StoreError::Damaged(what.into())
    }
}
