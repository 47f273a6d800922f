//! Front end of the IDL compiler: preprocessor, lexer, parser, names and scopes, repository ids,
//! diagnostics. It knows OMG IDL as CORBA 3.3 part 1, chapter 7 defines it, and no Rust.
//!
//! `compile` reads a file and returns a [`model::Specification`] in which every name is resolved to
//! its declaration, or diagnostics.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod advice;
pub mod diagnostic;
mod fixed;
pub mod implied;
mod lexer;
mod loader;
pub mod model;
mod names;
mod parse;
mod preprocess;
mod session;
pub mod source;
pub mod time;

use std::path::{Path, PathBuf};

use diagnostic::Diagnostic;
use model::Specification;
use session::Session;

pub use loader::{FileSystem, InMemory, SourceLoader};

/// Compiles a file with all its includes.
///
/// # Errors
/// The file cannot be read, or is not IDL as CORBA defines it. The diagnostics say what is wrong
/// and where. No input causes a panic or an endless compilation.
pub fn compile(path: impl AsRef<Path>, options: &Options) -> Result<Compilation, Failure> {
    compile_with(&FileSystem, path, options)
}

/// Compiles a file that a loader provides, with all its includes.
///
/// # Errors
/// As for [`compile`].
pub fn compile_with(
    loader: &dyn SourceLoader,
    path: impl AsRef<Path>,
    options: &Options,
) -> Result<Compilation, Failure> {
    let path = path.as_ref();
    let limit = options.limits.file_bytes;
    let missing = |error: Option<&std::io::Error>| Failure {
        diagnostics: vec![preprocess::main_file_error(path, error, limit)],
    };
    let bytes = match loader.load(path, limit) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err(missing(None)),
        Err(error) => return Err(missing(Some(&error))),
    };
    compile_bytes(loader, path, bytes, options)
}

/// Compiles a text in memory; its includes come from the loader. `name` stands for it in
/// diagnostics, and its folder is where `#include "…"` looks first.
///
/// # Errors
/// As for [`compile`].
pub fn compile_source(
    name: impl AsRef<Path>,
    text: impl Into<Vec<u8>>,
    options: &Options,
    loader: &dyn SourceLoader,
) -> Result<Compilation, Failure> {
    compile_bytes(loader, name.as_ref(), text.into(), options)
}

/// Compiles several files as one, each with all its includes: common declarations are made once. As
/// if a file `name` included them in this order, so that files included twice need guards.
///
/// # Errors
/// As for [`compile`].
pub fn compile_together(
    name: impl AsRef<Path>,
    files: &[impl AsRef<Path>],
    options: &Options,
) -> Result<Compilation, Failure> {
    let names: Vec<String> = files
        .iter()
        .map(|file| file.as_ref().display().to_string())
        .collect();
    let text: String = names
        .iter()
        .map(|name| format!("#include \"{name}\"\n"))
        .collect();
    // Its folder is the current one, so that paths have the caller's meaning; no file has such a
    // name.
    let name = name.as_ref().file_name().unwrap_or_default();
    let name = format!("<{}>", name.to_string_lossy());
    let mut compilation = compile_source(name, text, options, &FileSystem)?;
    // By whatever path they were found first.
    let real = |name: &str| Path::new(name).canonicalize().ok();
    let named: Vec<_> = names.iter().map(|name| real(name)).collect();
    let specification = &mut compilation.specification;
    let files = specification.files.iter();
    let is_named: Vec<bool> = files
        .map(|file| real(file.name()).is_some_and(|file| named.contains(&Some(file))))
        .collect();
    for declaration in &mut specification.declarations {
        declaration.in_main_file = is_named[declaration.location.file.index()];
    }
    Ok(compilation)
}

fn compile_bytes(
    loader: &dyn SourceLoader,
    path: &Path,
    bytes: Vec<u8>,
    options: &Options,
) -> Result<Compilation, Failure> {
    let mut session = Session::new(options);
    if bytes.len() > options.limits.file_bytes {
        let error = std::io::ErrorKind::FileTooLarge.into();
        let limit = options.limits.file_bytes;
        let diagnostics = vec![preprocess::main_file_error(path, Some(&error), limit)];
        return Err(Failure { diagnostics });
    }
    let tokens = preprocess::preprocess(&mut session, loader, options, path, bytes);
    let left_out = tokens.left_out;
    let specification = parse::parse(&mut session, tokens);
    if specification.definitions.is_empty() && !session.has_errors() {
        session.report_empty(path, left_out);
    }
    let failed = session.has_errors();
    let diagnostics = session.into_diagnostics();
    if failed {
        return Err(Failure { diagnostics });
    }
    Ok(Compilation {
        specification,
        warnings: diagnostics,
    })
}

/// Inputs of a compilation besides its main file, and its limits.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Options {
    /// Folders that `#include` searches, in order (`-I`). Default: none.
    pub include_dirs: Vec<PathBuf>,
    /// Predefined macros (`-D`); one without a value is `1`. Default: none.
    pub defines: Vec<(String, Option<String>)>,
    /// Encoding of the IDL files (`--encoding`). Default: [`Encoding::Guess`].
    pub encoding: Encoding,
    /// `true` if what the standard refuses and other compilers accept causes a warning instead of an
    /// error (`--lenient`): names that differ only in case, `default` beside labels for all values,
    /// an interface that inherits a local one. Default: false.
    pub lenient: bool,
    /// Limits against input that would exhaust memory, stack or patience.
    pub limits: Limits,
}

/// Character encoding of an IDL file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Encoding {
    /// UTF-8; a file that is not UTF-8 is read as ISO 8859-1, with a warning.
    #[default]
    Guess,
    /// UTF-8; other bytes are an error except in comments.
    Utf8,
    /// ISO 8859-1, the code set of IDL (CORBA 3.3 part 1, §7.2).
    Latin1,
}

/// Limits of one compilation. Exceeding one ends in an error diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Size of one file, in bytes. Default: 8 MiB.
    pub file_bytes: usize,
    /// Upper bound of the nesting depth of included files. Default: 64.
    pub include_depth: usize,
    /// Number of files read in all, counting a file again each time it is included. Default:
    /// 10,000.
    pub files: usize,
    /// Number of tokens of one file, and of tokens after preprocessing. Default: 4,000,000.
    pub tokens: usize,
    /// Number of tokens that macro expansion may produce. Default: 1,000,000.
    pub macro_tokens: usize,
    /// Nesting depth of modules, types, expressions and macro arguments. Default: 200.
    pub nesting: usize,
    /// Number of errors after which the compilation gives up. Default: 50.
    pub errors: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            file_bytes: 8 << 20,
            include_depth: 64,
            files: 10_000,
            tokens: 4_000_000,
            macro_tokens: 1_000_000,
            nesting: 200,
            errors: 50,
        }
    }
}

/// Result of a successful compilation of an IDL file.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// Declarations of the compiled file and its includes.
    pub specification: Specification,
    /// Warnings about the compiled file.
    pub warnings: Vec<Diagnostic>,
}

/// Failed compilation of an IDL file, with its diagnostics.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Diagnostics: errors, at least one, and warnings, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    /// Returns the number of steps that checking a text takes, and the number of names that it
    /// looks up or declares.
    fn work_of(depth: usize, operations: usize) -> (usize, usize) {
        let mut text = String::from("struct S { long x; };\ninterface I0 {};\n");
        for level in 1..depth {
            let _ = write!(text, "interface I{level} : I{} {{", level - 1);
            for operation in 0..operations {
                let _ = write!(text, "S f{level}_{operation}(in S x);");
            }
            text.push_str("};\n");
        }
        let options = Options::default();
        let mut session = Session::new(&options);
        let path = Path::new("x.idl");
        let tokens =
            preprocess::preprocess(&mut session, &FileSystem, &options, path, text.into_bytes());
        parse::parse(&mut session, tokens);
        assert!(!session.has_errors());
        (session.work(), depth * operations * 4)
    }

    #[test]
    fn what_a_name_costs_does_not_grow_with_how_much_is_inherited() {
        let (work, names) = work_of(900, 40);
        assert!(work < names * 12, "{work} steps for {names} names");
    }
}
