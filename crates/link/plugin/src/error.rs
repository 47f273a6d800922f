//! Reasons to refuse a library.

use std::io;
use std::path::PathBuf;

/// Error for a link library that the host refuses to load.
#[derive(thiserror::Error)]
#[error("the library `{}` cannot be used: {fault}", library.display())]
pub struct PluginError {
    /// File of the library, as named by the user.
    pub library: PathBuf,
    /// Fault because of which the library is refused.
    #[source]
    pub fault: Fault,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for PluginError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Fault of a library, in the order of the checks.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The file does not exist.
    #[error("the file does not exist")]
    NotFound,
    /// The file could not be read.
    #[error("it cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    /// The file is not a shared library for this machine; the text says what it is.
    #[error("it is not a shared library of this machine: {0}")]
    NotALibrary(&'static str),
    /// The dynamic linker refused it, e.g. for an undefined symbol.
    #[error("the dynamic linker refuses it: {0}")]
    Linker(Box<str>),
    /// The library does not export the entry function of a link.
    #[error("it does not export the symbol `{0}`")]
    MissingSymbol(&'static str),
    /// The exported function returned no table, or an impossible address.
    #[error("`{entry}` returned {0} instead of a table of functions", entry = crate::abi::ENTRY)]
    NoTable(&'static str),
    /// The library's table of functions does not begin with the magic number.
    #[error("its table begins with {0:#018x}, not with {ours:#018x}", ours = crate::abi::MAGIC)]
    BadMagic(u64),
    /// The library uses another version of the ABI.
    #[error("it speaks version {theirs} of the ABI, this ORB version {ours}")]
    WrongVersion {
        /// ABI version that the library states.
        theirs: u32,
        /// ABI version that the host uses.
        ours: u32,
    },
    /// The library's table of functions lacks entries at the end.
    #[error("its table has {theirs} octets, and a table has at least {ours}")]
    TooSmall {
        /// Size of the table that the library states, in bytes.
        theirs: u32,
        /// Size of the table that the host expects, in bytes.
        ours: u32,
    },
    /// The layout of the table, or the parameters of its functions, differ.
    #[error("its table has the signature {theirs:#018x}, and a table of this version {ours:#018x}")]
    BadSignature {
        /// Table signature that the library states.
        theirs: u64,
        /// Table signature that the host expects.
        ours: u64,
    },
    /// The table sets flags that this version of the ABI does not define.
    #[error("its table has unknown flags: {0:#x}")]
    UnknownFlags(u64),
    /// A function pointer in the library's table is null.
    #[error("the function `{0}` of its table is null")]
    NullFunction(&'static str),
    /// The link did not open; the text is the library's reason.
    #[error("its link does not open: {0}")]
    NotOpened(Box<str>),
    /// The name of the library's link is not valid in an address.
    #[error("the name of its link is invalid: {0}")]
    BadName(Box<str>),
    /// The library's link states invalid transport guarantees.
    #[error("the guarantees of its link are invalid: {0}")]
    BadGuarantees(&'static str),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
