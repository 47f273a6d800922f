//! Why a build script's IDL did not compile.

use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why IDL could not be compiled.
///
/// `Debug` prints the same as `Display`: a build script that passes the error on with `?` shows
/// it by `Debug`, and diagnostics are there to be read.
#[derive(Error)]
#[non_exhaustive]
pub enum Error {
    /// The IDL is wrong, or has no form in Rust.
    #[error("the IDL does not compile\n\n{rendered}")]
    Idl {
        /// All diagnostics, as text with excerpts of the source.
        rendered: String,
    },
    /// The generated code could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// There is no output folder: neither `Builder::out_dir` nor Cargo's `OUT_DIR` names one.
    #[error(
        "no output folder: call `Builder::out_dir`, or run in a build script, where Cargo sets OUT_DIR"
    )]
    NoOutDir,
    /// Two files of the same name would be generated into one.
    #[error("two of the files are called {stem}.idl: give each an output folder of its own")]
    SameName {
        /// The name without its extension.
        stem: String,
    },
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
