//! Settings of a compilation in a build script.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use punctual_idl::diagnostic::{Diagnostic, render};
use punctual_idl::{Compilation, Encoding};
use punctual_idl_rust::{Generated, SideBySide, Stubs, generate, generate_each};

use crate::error::Error;

/// Settings for the compilation of IDL files.
#[derive(Clone, Debug)]
#[must_use = "nothing happens before `compile`"]
pub struct Builder {
    front: punctual_idl::Options,
    rust: punctual_idl_rust::Options,
    out_dir: Option<PathBuf>,
    speaks_to_cargo: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Builder::new()
    }
}

impl Builder {
    /// Makes settings without include folders, macros and mapped types; output to `OUT_DIR`.
    pub fn new() -> Self {
        Builder {
            front: punctual_idl::Options::default(),
            rust: punctual_idl_rust::Options::default(),
            out_dir: None,
            speaks_to_cargo: env::var_os("CARGO_MANIFEST_DIR").is_some()
                && env::var_os("OUT_DIR").is_some(),
        }
    }

    /// Adds a folder in which `#include` looks for files, after those added before.
    pub fn include_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.front.include_dirs.push(dir.into());
        self
    }

    /// Defines a macro of the preprocessor without a text, like `#define NAME`.
    pub fn define(mut self, name: impl Into<String>) -> Self {
        self.front.defines.push((name.into(), None));
        self
    }

    /// Defines a macro of the preprocessor, like `#define NAME value`.
    pub fn define_as(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.front.defines.push((name.into(), Some(value.into())));
        self
    }

    /// Sets the encoding of the IDL files. Default: [`Encoding::Guess`].
    pub fn encoding(mut self, encoding: Encoding) -> Self {
        self.front.encoding = encoding;
        self
    }

    /// Sets whether what the standard refuses and other IDL compilers accept causes a warning instead
    /// of an error: names that differ only in case, `default` beside labels for all values, an
    /// interface that inherits a local one. Default: false.
    pub fn lenient(mut self, lenient: bool) -> Self {
        self.front.lenient = lenient;
        self
    }

    /// Sets the Rust path of an included IDL scope that another crate compiled:
    /// `extern_path("::CosNaming", "punctual_naming")`. Nothing is generated for it.
    pub fn extern_path(mut self, scope: impl Into<String>, path: impl Into<String>) -> Self {
        self.rust.extern_paths.push((scope.into(), path.into()));
        self
    }

    /// Makes references non-nil where the IDL does not say `@non_nil(FALSE)`: they are `I` instead
    /// of `Option<I>`, and nil is refused. Elements of sequences and the state of valuetypes may
    /// still be nil.
    pub fn non_nil(mut self) -> Self {
        self.rust.non_nil = true;
        self
    }

    /// Sets the Rust type that stands for a `native` type. A type that is raised must support
    /// cloning, comparison and display.
    pub fn native(mut self, name: impl Into<String>, rust_type: impl Into<String>) -> Self {
        self.rust.natives.push((name.into(), rust_type.into()));
        self
    }

    /// Sets whether references get a method for each operation. Default: true.
    pub fn client(mut self, client: bool) -> Self {
        self.rust.client = client;
        self
    }

    /// Sets whether interfaces get a servant trait and a skeleton. Default: true.
    pub fn server(mut self, server: bool) -> Self {
        self.rust.server = server;
        self
    }

    /// Sets whether types have TypeCodes, and so can be in an `any`. Default: true.
    pub fn type_codes(mut self, type_codes: bool) -> Self {
        self.rust.type_codes = type_codes;
        self
    }

    /// Sets whether references have `sendp_`, `sendc_` and `_async` methods for asynchronous calls.
    /// Default: false.
    pub fn asynchronous(mut self, asynchronous: bool) -> Self {
        self.rust.asynchronous = asynchronous;
        self
    }

    /// Sets whether interfaces get a trait for servants that answer later (asynchronous method
    /// handling). Default: false.
    pub fn amh(mut self, amh: bool) -> Self {
        self.rust.amh = amh;
        self
    }

    /// Sets whether interfaces get a trait for servants whose operations are `async`. Default:
    /// false.
    pub fn async_servants(mut self, async_servants: bool) -> Self {
        self.rust.async_servants = async_servants;
        self
    }

    /// Sets how references make their calls, unless `@interpreted` overrides it. Default: compiled.
    pub fn stubs(mut self, stubs: Stubs) -> Self {
        self.rust.stubs = stubs;
        self
    }

    /// Sets the path of the runtime in generated code, for a crate that has it under another name.
    /// Default: `::punctual`.
    pub fn runtime_path(mut self, path: impl Into<String>) -> Self {
        self.rust.runtime_path = path.into();
        self
    }

    /// Sets the folder of the generated files. Default: Cargo's `OUT_DIR`.
    pub fn out_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(dir.into());
        self
    }

    /// Sets the Rust path of the module that holds the modules of the files compiled together, each
    /// with its file's name. Default: `super`, the module around the one that includes a generated
    /// file.
    pub fn modules(mut self, path: impl Into<String>) -> Self {
        self.rust.modules = path.into();
        self
    }

    /// Sets whether each of several files compiled together gets its own copy of the types of files
    /// that they all include. Default: false.
    pub fn separate(mut self, separate: bool) -> Self {
        self.rust.separate = separate;
        self
    }

    /// Compiles IDL files to `<name>.rs` each, in the output folder. An unchanged file is not
    /// rewritten. Warnings are passed on to Cargo.
    ///
    /// Types of a file that several of them include are generated once: for that file, where it is
    /// among them, or for the first that includes it. The Rust of the others refers to that module,
    /// which has its file's name, and stands beside theirs:
    ///
    /// ```
    /// # let text = r#"
    /// mod pumps { include!(concat!(env!("OUT_DIR"), "/pumps.rs")); }
    /// mod tanks { include!(concat!(env!("OUT_DIR"), "/tanks.rs")); }   // refers to super::pumps for what both include
    /// # "#;
    /// ```
    /// [`Builder::modules`] sets another place for the modules, [`Builder::separate`] gives each
    /// its own types.
    ///
    /// # Errors
    /// [`Error::Idl`] with the diagnostics of all files when one of them is wrong, or has no form
    /// in Rust; then nothing is written. [`Error::Write`] when a generated file cannot be written,
    /// [`Error::NoOutDir`] when there is no output folder, [`Error::SameName`] when two files would
    /// be generated into one.
    pub fn compile(&self, files: &[impl AsRef<Path>]) -> Result<(), Error> {
        let out_dir = self.place()?;
        let (mut compiled, mut problems) = (Vec::new(), Vec::new());
        let mut watched = BTreeSet::new();
        for file in files {
            let file = file.as_ref();
            watched.insert(file.to_owned());
            match punctual_idl::compile(file, &self.front) {
                Ok(compilation) => {
                    self.record_and_warn(&compilation, &mut watched);
                    compiled.push((file, compilation));
                }
                Err(failure) => problems.extend(failure.diagnostics),
            }
        }
        let specifications: Vec<_> = compiled
            .iter()
            .map(|(file, compilation)| (*file, &compilation.specification))
            .collect();
        let SideBySide { each, warnings } = generate_each(&specifications, &self.rust);
        let mut generated = Vec::new();
        for ((file, _), of_file) in compiled.iter().zip(each) {
            match of_file {
                Ok(Generated {
                    source, warnings, ..
                }) => {
                    self.warn(&warnings);
                    generated.push((stem(file), source));
                }
                Err(diagnostics) => problems.extend(diagnostics),
            }
        }
        self.watch(&watched);
        if !problems.is_empty() {
            let rendered = render(&problems, false);
            return Err(Error::Idl { rendered });
        }
        self.warn(&warnings);
        write_all(&out_dir, &generated)
    }

    /// Compiles IDL files as one, to one file, `<name>.rs`. Files that are included twice need include guards.
    ///
    /// # Errors
    /// Those of [`Builder::compile`].
    pub fn compile_together(&self, name: &str, files: &[impl AsRef<Path>]) -> Result<(), Error> {
        let out_dir = self.place()?;
        let mut watched: BTreeSet<PathBuf> =
            files.iter().map(|file| file.as_ref().to_owned()).collect();
        let generated = punctual_idl::compile_together(name, files, &self.front)
            .map_err(|failure| failure.diagnostics)
            .and_then(|compilation| {
                self.record_and_warn(&compilation, &mut watched);
                generate(&compilation.specification, &self.rust)
            });
        self.watch(&watched);
        let generated = generated.map_err(|problems| Error::Idl {
            rendered: render(&problems, false),
        })?;
        self.warn(&generated.warnings);
        write_all(&out_dir, &[(name.to_owned(), generated.source)])
    }

    fn place(&self) -> Result<PathBuf, Error> {
        let set = self.out_dir.clone();
        set.or_else(|| env::var_os("OUT_DIR").map(PathBuf::from))
            .ok_or(Error::NoOutDir)
    }

    fn watch(&self, files: &BTreeSet<PathBuf>) {
        for path in files {
            self.tell_cargo(&format!("rerun-if-changed={}", path.display()));
        }
    }

    /// Records the files that were read, for Cargo to watch, and passes the compiler's warnings on
    /// to Cargo.
    fn record_and_warn(&self, compilation: &Compilation, watched: &mut BTreeSet<PathBuf>) {
        let read = compilation.specification.files.iter();
        watched.extend(
            read.map(|f| PathBuf::from(f.name()))
                .filter(|path| path.exists()),
        );
        self.warn(&compilation.warnings);
    }

    fn warn(&self, warnings: &[Diagnostic]) {
        for warning in warnings {
            let help = warning.help.as_ref().map(|help| format!("; {help}"));
            self.tell_cargo(&format!("warning={warning}{}", help.unwrap_or_default()));
        }
    }

    fn tell_cargo(&self, directive: &str) {
        if self.speaks_to_cargo {
            println!("cargo:{directive}");
        }
    }
}

fn write_all(out_dir: &Path, generated: &[(String, String)]) -> Result<(), Error> {
    let mut stems = BTreeSet::new();
    for (stem, _) in generated {
        if !stems.insert(stem) {
            return Err(Error::SameName { stem: stem.clone() });
        }
    }
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::Write { path, source }
    };
    fs::create_dir_all(out_dir).map_err(failed(out_dir))?;
    for (stem, source) in generated {
        let path = out_dir.join(format!("{stem}.rs"));
        let is_same = fs::read_to_string(&path).is_ok_and(|before| before == *source);
        if !is_same {
            fs::write(&path, source).map_err(failed(&path))?;
        }
    }
    Ok(())
}

fn stem(file: &Path) -> String {
    file.file_stem()
        .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}
