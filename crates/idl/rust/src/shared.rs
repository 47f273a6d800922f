//! Files that are compiled together with common includes: their types are generated once, in the
//! module of one of them.

use punctual_idl::diagnostic::{Diagnostic, Severity};
use punctual_idl::model::{DeclKind, Declaration, Specification};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::names::{ident, snake};
use crate::plan::Plan;
use crate::{Generated, Generator, Options, generate};

/// Result of compiling several files together.
#[derive(Debug)]
pub struct SideBySide {
    /// Result of each file, in their order: its code or its diagnostics.
    pub each: Vec<Result<Generated, Vec<Diagnostic>>>,
    /// Warnings about more than one file.
    pub warnings: Vec<Diagnostic>,
}

/// Generates Rust for each of several files that were compiled by themselves. Types of a file that
/// several of them include are generated for one of them alone, as they are one type: for that
/// file, where it is among them, or for the first that includes it. The others refer to that
/// module, which has its file's name in `snake_case` and stands beside theirs
/// ([`Options::modules`]), unless [`Options::separate`] gives each types of its own.
///
/// A file whose declarations depend on where it is included (by macros) is not shared; a warning
/// reports it.
pub fn generate_each(files: &[(&Path, &Specification)], options: &Options) -> SideBySide {
    let mut each: Vec<_> = files
        .iter()
        .map(|(_, specification)| generate(specification, options))
        .collect();
    if options.separate {
        return SideBySide {
            each,
            warnings: Vec::new(),
        };
    }
    let sharing = {
        let generated = files.iter().zip(&each).enumerate();
        let right = generated.filter_map(|(index, ((file, specification), generated))| {
            let generated = generated.as_ref().ok()?;
            Some(Compiled {
                index,
                file,
                specification,
                generated,
            })
        });
        share(&right.collect::<Vec<_>>(), &options.modules)
    };
    for (index, elsewhere) in sharing.elsewhere {
        let mut options = options.clone();
        options.elsewhere.extend(elsewhere);
        each[index] = generate(files[index].1, &options);
    }
    SideBySide {
        each,
        warnings: sharing.warnings,
    }
}

/// Generated items of one of a specification's files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// Types, constants and operations, each by its name in IDL and in Rust, and its line.
    items: Vec<String>,
    /// `true` if there is a type among the file's items.
    has_types: bool,
}

/// File for which Rust was generated as if there were no others.
#[derive(Clone, Copy)]
struct Compiled<'a> {
    /// Index among all files.
    index: usize,
    file: &'a Path,
    specification: &'a Specification,
    generated: &'a Generated,
}

/// Result of comparing the files: their common parts.
#[derive(Default)]
struct Sharing {
    /// [`Options::elsewhere`] for each file that has types of another one.
    elsewhere: BTreeMap<usize, BTreeMap<String, String>>,
    warnings: Vec<Diagnostic>,
}

pub(crate) fn declared(generator: &Generator<'_>, plan: &Plan) -> BTreeMap<String, Declared> {
    let spec = generator.spec;
    let mut declared: BTreeMap<String, Declared> = BTreeMap::new();
    for declaration in &spec.declarations {
        if !plan.generates(declaration.id)
            || matches!(
                declaration.kind,
                DeclKind::Module(_) | DeclKind::Annotation(_)
            )
        {
            continue;
        }
        let file = spec.files[declaration.location.file.index()].name();
        let of_file = declared.entry(file.to_owned()).or_default();
        of_file.has_types |= !matches!(declaration.kind, DeclKind::Const(_));
        of_file.items.push(item(generator, declaration));
    }
    declared
}

fn item(generator: &Generator<'_>, declaration: &Declaration) -> String {
    format!(
        "{}:{} {} {} {}",
        declaration.location.line,
        declaration.location.column,
        declaration.kind.describe(),
        declaration.absolute_name(),
        generator.names.item(declaration.id),
    )
}

/// Finds the types common to several of the files, and the file that keeps them.
fn share(compiled: &[Compiled<'_>], modules: &str) -> Sharing {
    let mut sharing = Sharing::default();
    for (path, holders) in holders(compiled) {
        let [first, _, ..] = holders.as_slice() else {
            continue;
        };
        let itself = holders
            .iter()
            .find(|holder| canonical(holder.compiled.file) == path);
        let owner = itself.unwrap_or(first);
        let text = owner.text();
        let is_same = |other: &Holder<'_>| {
            other.compiled.index == owner.compiled.index
                || (other.declared == owner.declared && other.text() == text)
        };
        if !holders.iter().all(is_same) {
            sharing.warnings.push(differs(owner.name, &holders));
            continue;
        }
        let module = format!("{modules}::{}", module_of(owner.compiled.file));
        for holder in &holders {
            if holder.compiled.index != owner.compiled.index {
                let elsewhere = sharing.elsewhere.entry(holder.compiled.index);
                elsewhere
                    .or_default()
                    .insert(holder.name.to_owned(), module.clone());
            }
        }
    }
    sharing
}

/// Returns the module that a file's Rust is expected in: `plant_types` for `PlantTypes.idl`.
fn module_of(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let letters = stem.chars().map(|c| match c {
        c if c.is_ascii_alphanumeric() => c,
        _ => '_',
    });
    let name = snake(&letters.collect::<String>());
    match name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
        true => format!("_{name}"),
        false => ident(&name).to_string(),
    }
}

/// Compilation that has the Rust of a file.
struct Holder<'a> {
    compiled: Compiled<'a>,
    /// Name that the file has in the specification of the compilation.
    name: &'a str,
    declared: &'a Declared,
}

impl Holder<'_> {
    /// Returns all declarations of the file as text, with names in place of ids that differ between
    /// compilations.
    fn text(&self) -> String {
        let specification = self.compiled.specification;
        let of_file = specification.declarations.iter().filter(|declaration| {
            specification.file(declaration.location.file).name() == self.name
                && !matches!(declaration.kind, DeclKind::Module(_))
        });
        let mut text = String::new();
        for declaration in of_file {
            let shown = format!("{:?} {:?}\n", declaration.annotations, declaration.kind);
            let mut parts = shown.split("DeclId(");
            text.extend(parts.next());
            for part in parts {
                let (number, rest) = part.split_once(')').unwrap_or((part, ""));
                let named = number
                    .parse()
                    .ok()
                    .and_then(|n: usize| specification.declarations.get(n));
                text += &named.map_or_else(String::new, Declaration::absolute_name);
                text += rest;
            }
        }
        without_file_ids(&text)
    }
}

/// Removes the file numbers of source positions from a text, as they differ between compilations.
fn without_file_ids(text: &str) -> String {
    let mut parts = text.split("FileId(");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + part.split_once(')').map_or(part, |(_, rest)| rest)
    })
}

/// Returns each file with types, and the compilations that generated them, in their order.
fn holders<'a>(compiled: &[Compiled<'a>]) -> BTreeMap<PathBuf, Vec<Holder<'a>>> {
    let mut holders: BTreeMap<PathBuf, Vec<Holder<'a>>> = BTreeMap::new();
    let mut given = BTreeSet::new();
    for one in compiled {
        if !given.insert(canonical(one.file)) {
            continue;
        }
        for (name, declared) in &one.generated.declared {
            if declared.has_types {
                let of_file = holders.entry(canonical(Path::new(name))).or_default();
                of_file.push(Holder {
                    compiled: *one,
                    name,
                    declared,
                });
            }
        }
    }
    holders
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn differs(file: &str, holders: &[Holder<'_>]) -> Diagnostic {
    let by = holders
        .iter()
        .map(|it| it.compiled.file.display().to_string());
    let by = by.collect::<Vec<_>>().join(", ");
    Diagnostic {
        severity: Severity::Warning,
        message: format!(
            "`{file}` does not declare the same wherever it is included: its types are different types in Rust for each of {by}"
        ),
        primary: None,
        secondary: Vec::new(),
        help: Some(
            "define the same macros before it is included, or say where its types are: `--extern-path`, `Builder::extern_path`"
                .to_owned(),
        ),
    }
}
