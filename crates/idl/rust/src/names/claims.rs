//! Names of one Rust scope, each assigned once.

use std::collections::BTreeMap;
use std::fmt;

use proc_macro2::Ident;
use punctual_idl::diagnostic::{Diagnostic, Severity};
use punctual_idl::model::{Annotation, Specification};
use punctual_idl::source::Location;

use super::case;

/// Names in use in a scope, with their claimants: a module's items, a struct's fields, a trait's
/// methods.
#[derive(Clone, Debug, Default)]
pub(crate) struct Claims {
    taken: BTreeMap<String, Option<Claimant>>,
}

/// IDL name and its source location.
#[derive(Clone, Debug)]
pub(crate) struct Claimant {
    /// Kind of the claimant, followed by a space, where the name alone may mislead: "attribute ".
    what: &'static str,
    name: String,
    location: Location,
}

impl Claimant {
    pub(crate) fn new(name: &str, location: &Location) -> Self {
        Self::called("", name, location)
    }

    /// Makes a claimant that messages call by kind and name.
    pub(crate) fn called(what: &'static str, name: &str, location: &Location) -> Self {
        Self {
            what,
            name: name.to_owned(),
            location: location.clone(),
        }
    }
}

impl fmt::Display for Claimant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}`{}`", self.what, self.name)
    }
}

impl Claims {
    /// Assigns an IDL name its Rust name: the preferred one, or with trailing underscores and a
    /// warning when another IDL name has it.
    pub(crate) fn claim(
        &mut self,
        preferred: String,
        claimant: Claimant,
        spec: &Specification,
        warnings: &mut Vec<Diagnostic>,
    ) -> String {
        let name = self.free(preferred.clone());
        if name != preferred
            && let Some(Some(first)) = self.taken.get(&preferred)
        {
            warnings.push(clash(&preferred, &name, first, &claimant, spec));
        }
        self.taken.insert(name.clone(), Some(claimant));
        name
    }

    /// Returns a name for generated code's own use; it avoids all names in use.
    pub(crate) fn fresh(&mut self, preferred: &str) -> Ident {
        let name = self.free(preferred.to_owned());
        self.taken.insert(name.clone(), None);
        case::ident(&name)
    }

    /// Reserves a name that no item may have.
    pub(crate) fn reserve(&mut self, name: &str) {
        self.taken.insert(name.to_owned(), None);
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.taken.contains_key(name)
    }

    fn free(&self, mut name: String) -> String {
        while self.taken.contains_key(&name) {
            name.push('_');
        }
        name
    }
}

/// Returns the name that `@rust_name("…")` requests. An invalid name is an error.
pub(crate) fn chosen(
    annotations: &[Annotation],
    spec: &Specification,
    errors: &mut Vec<Diagnostic>,
) -> Option<String> {
    let annotation = annotations.iter().rev().find(|a| a.name == "rust_name")?;
    let text = annotation.text().unwrap_or_default();
    if case::is_identifier(text) {
        return Some(text.to_owned());
    }
    let diagnostic = spec
        .diagnostic(
            Severity::Error,
            "`@rust_name` needs an identifier",
            &annotation.location,
            "not an identifier",
        )
        .with_help("write it as in `@rust_name(\"name\")`");
    errors.push(diagnostic);
    None
}

fn clash(
    preferred: &str,
    given: &str,
    first: &Claimant,
    second: &Claimant,
    spec: &Specification,
) -> Diagnostic {
    let message = format!("{first} and {second} are both `{preferred}` in Rust");
    let label = format!("this one becomes `{given}`");
    spec.diagnostic(Severity::Warning, message, &second.location, label)
        .with_label(
            spec.files[first.location.file.index()].clone(),
            first.location.span.clone(),
            format!("this one keeps `{preferred}`"),
        )
        .with_help("choose names with `@rust_name(\"…\")`")
}
