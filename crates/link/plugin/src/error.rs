//! Why a library was refused.

use std::io;
use std::path::PathBuf;

/// A library that was not taken, and why.
#[derive(Debug, thiserror::Error)]
#[error("the library `{}` cannot be used: {fault}", library.display())]
pub struct PluginError {
    /// The file, as it was named.
    pub library: PathBuf,
    /// What is wrong with it.
    #[source]
    pub fault: Fault,
}

/// What is wrong with a library, in the order in which it is looked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// There is no such file.
    #[error("there is no such file")]
    NotFound,
    /// The file could not be read.
    #[error("it cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    /// It is not a shared library for this machine; the text says what it is.
    #[error("it is not a shared library of this machine: {0}")]
    NotALibrary(&'static str),
    /// The dynamic linker refused it, e.g. for a symbol that is defined nowhere.
    #[error("the dynamic linker refuses it: {0}")]
    Linker(Box<str>),
    /// It does not export what a link's library exports.
    #[error("it does not export the symbol `{0}`")]
    MissingSymbol(&'static str),
    /// The exported function returned no table, or one where no table can be.
    #[error("`{entry}` returned {0} in place of a table", entry = crate::abi::ENTRY)]
    NoTable(&'static str),
    /// The table does not begin as tables do.
    #[error("its table begins with {0:#018x}, not with {ours:#018x}", ours = crate::abi::MAGIC)]
    BadMagic(u64),
    /// The library speaks another version of the ABI.
    #[error("it speaks version {theirs} of the ABI, this ORB version {ours}")]
    WrongVersion {
        /// The library's.
        theirs: u32,
        /// This crate's.
        ours: u32,
    },
    /// The table lacks functions at its end.
    #[error("its table has {theirs} octets, and a table has at least {ours}")]
    TooSmall {
        /// The size that the library states.
        theirs: u32,
        /// The size of a table.
        ours: u32,
    },
    /// The table is laid out otherwise, or its functions take other things.
    #[error("its table has the signature {theirs:#018x}, and a table of this version {ours:#018x}")]
    BadSignature {
        /// The library's.
        theirs: u64,
        /// This crate's.
        ours: u64,
    },
    /// Flags that this version does not have.
    #[error("its table has unknown flags: {0:#x}")]
    UnknownFlags(u64),
    /// A function of the table is null.
    #[error("the function `{0}` of its table is null")]
    NullFunction(&'static str),
    /// The link did not open; the library's reason.
    #[error("its link does not open: {0}")]
    NotOpened(Box<str>),
    /// The link's name is none that an address could bear.
    #[error("the name of its link is bad: {0}")]
    BadName(Box<str>),
    /// The link states guarantees that there are not.
    #[error("the guarantees of its link are bad: {0}")]
    BadGuarantees(&'static str),
}
