//! Errors of compiling IDL in a build script.

use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Reason why IDL could not be compiled.
///
/// `Debug` prints the same as `Display`: a build script that passes the error on with `?` shows it
/// by `Debug`, and diagnostics should be readable.
#[derive(Error)]
#[non_exhaustive]
pub enum Error {
    /// The IDL is wrong, or has no form in Rust.
    #[error("the IDL does not compile\n\n{rendered}")]
    Idl {
        /// Compiler's diagnostics as text, with excerpts of the IDL source.
        rendered: String,
    },
    /// The generated code could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// File or folder that could not be written.
        path: PathBuf,
        /// Error that the operating system reported.
        source: io::Error,
    },
    /// No output folder is set, neither by `Builder::out_dir` nor by Cargo's `OUT_DIR`.
    #[error(
        "no output folder: call `Builder::out_dir`, or run in a build script, where Cargo sets OUT_DIR"
    )]
    NoOutDir,
    /// Two files of the same name would be generated into one.
    #[error("two of the files are called {stem}.idl: give each an output folder of its own")]
    SameName {
        /// Name of the two IDL files, without the extension.
        stem: String,
    },
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
