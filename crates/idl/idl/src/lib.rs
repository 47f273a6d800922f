//! The front end of the IDL compiler: preprocessor, lexer, parser, names and scopes, repository
//! ids, diagnostics. It knows OMG IDL as CORBA 3.3 part 1, chapter 7 defines it, and no Rust.
//!
//! `compile` reads a file and yields a [`model::Specification`] in which every name has found its
//! declaration, or diagnostics that say what is wrong.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod diagnostic;
pub mod model;
pub mod source;

use std::path::PathBuf;

use diagnostic::Diagnostic;
use model::Specification;

/// What a compilation reads besides its main file, and what it may spend.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Options {
    /// Folders that `#include` searches, in order (`-I`). Default: none.
    pub include_dirs: Vec<PathBuf>,
    /// Macros that are defined from the start (`-D`); one without a value is `1`. Default: none.
    pub defines: Vec<(String, Option<String>)>,
    /// Guards against input that would exhaust memory, stack or patience.
    pub limits: Limits,
}

/// Bounds on what one compilation may take. Going over one ends in an error diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one file. Default: 16 MiB.
    pub file_bytes: usize,
    /// Files that include one another, one inside the other. Default: 64.
    pub include_depth: usize,
    /// Files that are read in all, counting one again each time it is included. Default: 10,000.
    pub files: usize,
    /// Tokens after preprocessing. Default: 20,000,000.
    pub tokens: usize,
    /// Tokens that macro expansion may produce. Default: 1,000,000.
    pub macro_tokens: usize,
    /// Modules, types, expressions and conditional groups, one inside the other. Default: 200.
    pub nesting: usize,
    /// Errors after which the compilation gives up. Default: 50.
    pub errors: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            file_bytes: 16 << 20,
            include_depth: 64,
            files: 10_000,
            tokens: 20_000_000,
            macro_tokens: 1_000_000,
            nesting: 200,
            errors: 50,
        }
    }
}

/// A successful compilation.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// What the file declares.
    pub specification: Specification,
    /// Diagnostics that are not errors.
    pub warnings: Vec<Diagnostic>,
}

/// A compilation that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Errors, at least one, and warnings, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
}
