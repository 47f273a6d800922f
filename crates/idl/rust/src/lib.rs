//! Generation of Rust source from a resolved OMG IDL model: types, references, servant traits,
//! skeletons.
//!
//! [`generate`] takes the model of `punctual-idl` and returns the text of one Rust file with nested
//! modules, formatted, documented from the IDL's comments, and deterministic. The file has no inner
//! attributes, so that it may be a module's file or be included by `include!`.
//!
//! Each construct of IDL has a module of its own here, and each rule of the mapping one place:
//! `names` decides names, `types` the Rust type of each IDL type, `codec` the encoding of values,
//! `plan` what is generated at all.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod annotations;
mod asynchronous;
mod bits;
mod codec;
mod constraints;
mod consts;
mod docs;
mod enums;
mod events;
mod exceptions;
mod facts;
mod holds;
mod interface;
mod layout;
mod lints;
mod members;
mod modules;
mod names;
mod non_nil;
mod options;
mod parallel;
mod plan;
mod scope;
mod selection;
mod shared;
mod structs;
mod typed;
mod typedefs;
mod types;
mod unions;
mod valuetypes;

use std::collections::{BTreeMap, BTreeSet};

use layout::Pieces;
use proc_macro2::TokenStream;
use punctual_idl::diagnostic::{Diagnostic, Severity};
use punctual_idl::implied::Handlers;
use punctual_idl::model::{Declaration, Specification};
use quote::quote;

pub use names::is_keyword;
pub use options::{Options, Stubs};
pub use shared::{Declared, SideBySide, generate_each};

use facts::Facts;
use names::{Names, ident};
use parallel::Shared;
use plan::Plan;

/// Rust generated from a specification.
#[derive(Clone, Debug)]
pub struct Generated {
    /// Text of a Rust file.
    pub source: String,
    /// Warnings, such as names that had to be changed.
    pub warnings: Vec<Diagnostic>,
    /// Generated items of each file of the specification, by the file's name there.
    pub declared: BTreeMap<String, Declared>,
}

/// Generates Rust for a specification.
///
/// # Errors
/// A diagnostic for each place where a type that stays in its process is marshaled, for a native
/// type without a Rust type, for a `@rust_name` that is not a name, and for an option that is not a
/// path.
pub fn generate(
    specification: &Specification,
    options: &Options,
) -> Result<Generated, Vec<Diagnostic>> {
    let implied = options
        .asynchronous
        .then(|| asynchronous::implied(specification, options));
    let (specification, options, handlers) = match &implied {
        Some(implied) => (
            &implied.specification,
            &implied.options,
            implied.handlers.clone(),
        ),
        None => (specification, options, Handlers::default()),
    };
    let annotated = options
        .non_nil
        .then(|| non_nil::everywhere(specification, options));
    let specification = annotated.as_ref().unwrap_or(specification);
    let mut errors = check(options);
    let mut warnings = Vec::new();
    let names = Names::new(specification, options, &mut warnings, &mut errors);
    let generator = Generator {
        spec: specification,
        options,
        names,
        facts: Facts::new(specification),
        warnings: Shared::new(warnings),
        errors: Shared::default(),
        pieces: Pieces::default(),
        accessors: valuetypes::Known::default(),
        handlers,
    };
    let plan = Plan::new(&generator, &mut errors);
    if !errors.is_empty() {
        return Err(distinct(errors));
    }
    let tokens = modules::generate(&generator, &plan);
    let errors = generator.errors.take();
    if !errors.is_empty() {
        return Err(distinct(errors));
    }
    let source = generator
        .pieces
        .format(&header(specification, options), tokens)
        .map_err(|problem| vec![*problem])?;
    Ok(Generated {
        source,
        warnings: distinct(generator.warnings.take()),
        declared: shared::declared(&generator, &plan),
    })
}

/// Specification being converted to Rust, with all derived facts.
pub(crate) struct Generator<'a> {
    pub(crate) spec: &'a Specification,
    pub(crate) options: &'a Options,
    pub(crate) names: Names,
    pub(crate) facts: Facts,
    pub(crate) warnings: Shared<Vec<Diagnostic>>,
    pub(crate) errors: Shared<Vec<Diagnostic>>,
    pub(crate) pieces: Pieces,
    pub(crate) accessors: valuetypes::Known,
    /// Reply handlers of asynchronous calls.
    pub(crate) handlers: Handlers,
}

impl Generator<'_> {
    /// Returns the Rust type that the user named for a native type.
    pub(crate) fn native(&self, declaration: &Declaration) -> Option<&str> {
        let wanted = declaration.absolute_name();
        self.options
            .natives
            .iter()
            .rev()
            .find(|(name, _)| name.trim_start_matches("::") == &wanted[2..])
            .map(|(_, path)| path.as_str())
    }

    /// Returns `true` for a declaration that another compilation generates.
    pub(crate) fn is_extern(&self, declaration: &Declaration) -> bool {
        extern_scope(self.options, declaration).is_some() || self.elsewhere(declaration).is_some()
    }

    /// Returns the module with the Rust of the declaration's file, if another compilation generates
    /// that.
    pub(crate) fn elsewhere(&self, declaration: &Declaration) -> Option<&str> {
        if declaration.in_main_file || self.options.elsewhere.is_empty() {
            return None;
        }
        let file = self.spec.files.get(declaration.location.file.index())?;
        self.options.elsewhere.get(file.name()).map(String::as_str)
    }

    /// Returns the Rust path of the module with the code of an earlier compilation.
    pub(crate) fn extern_path(
        &self,
        declaration: &Declaration,
        scope: &[String],
    ) -> Option<TokenStream> {
        let (depth, path) = extern_scope(self.options, declaration)?;
        let path = scope::parse(&absolute(path));
        let inner = (depth..scope.len()).map(|end| {
            let module = ident(self.names.module(&scope[..=end]));
            quote!(::#module)
        });
        Some(quote!(#path #(#inner)*))
    }
}

/// Returns the longest extern scope that contains the declaration or is its own name: the depth of
/// that scope, and the Rust path that replaces it.
pub(crate) fn extern_scope<'o>(
    options: &'o Options,
    declaration: &Declaration,
) -> Option<(usize, &'o str)> {
    if declaration.in_main_file {
        return None;
    }
    let mut found: Option<(usize, &str)> = None;
    for (scope, path) in &options.extern_paths {
        let parts: Vec<&str> = scope.trim_start_matches("::").split("::").collect();
        let holds = parts.len() <= declaration.scoped_name.len()
            && parts
                .iter()
                .zip(&declaration.scoped_name)
                .all(|(a, b)| a == b);
        if holds && found.is_none_or(|(depth, _)| depth <= parts.len()) {
            let outer = declaration.scoped_name.len().saturating_sub(1);
            found = Some((parts.len().min(outer), path));
        }
    }
    found
}

/// Converts a crate's name to a path from the root; other paths stay unchanged.
fn absolute(path: &str) -> String {
    let first = path.split("::").next().unwrap_or(path);
    if matches!(first, "" | "crate" | "self" | "super") {
        path.to_owned()
    } else {
        format!("::{path}")
    }
}

/// Checks the options that must be paths.
fn check(options: &Options) -> Vec<Diagnostic> {
    let is_path = |text: &str| syn::parse_str::<syn::Path>(text).is_ok();
    let is_type = |text: &str| syn::parse_str::<syn::Type>(text).is_ok();
    let mut errors = Vec::new();
    let mut refuse = |what: &str, text: &str| {
        let message = format!("{what} `{text}` cannot be used in Rust");
        errors.push(Diagnostic::without_place(Severity::Error, message));
    };
    if !is_path(&options.runtime_path) {
        refuse("the runtime's path", &options.runtime_path);
    }
    for (scope, path) in &options.extern_paths {
        if !is_path(path) {
            refuse(&format!("the extern path of `{scope}`,"), path);
        }
    }
    for (file, path) in &options.elsewhere {
        if !is_path(path) {
            refuse(&format!("the module of `{file}`,"), path);
        }
    }
    for (name, path) in &options.natives {
        if !is_type(path) {
            refuse(&format!("the Rust type of native `{name}`,"), path);
        }
    }
    errors
}

fn header(specification: &Specification, options: &Options) -> String {
    let name = specification.files.first().map_or("", |file| file.name());
    let name = base_name(name);
    let mut text = format!(
        "// Generated by Punctual from {name}. Changes made here are lost when it is generated again.\n"
    );
    for (file, module) in &options.elsewhere {
        let file = base_name(file);
        text += &format!("// The types of {file} are in the module `{module}`.\n");
    }
    text + "\n"
}

fn base_name(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}

/// Returns each diagnostic once, in the order in which they were found.
fn distinct(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen = BTreeSet::new();
    diagnostics
        .into_iter()
        .filter(|diagnostic| seen.insert(diagnostic.to_string()))
        .collect()
}
