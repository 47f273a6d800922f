//! Files that are compiled by themselves and include the same: what they share is a type in each.

use punctual_idl::diagnostic::{Diagnostic, Severity};
use punctual_idl::model::{DeclKind, Specification};
use std::collections::{BTreeMap, BTreeSet};

use crate::plan::Plan;

/// The included files that have types of their own in the Rust of a specification.
pub(crate) fn included(specification: &Specification, plan: &Plan) -> BTreeSet<String> {
    let mut included = BTreeSet::new();
    for declaration in &specification.declarations {
        let is_type = !matches!(
            declaration.kind,
            DeclKind::Module(_) | DeclKind::Const(_) | DeclKind::Annotation(_)
        );
        if is_type && !declaration.in_main_file && plan.generates(declaration.id) {
            let file = &specification.files[declaration.location.file.index()];
            included.insert(file.name().to_owned());
        }
    }
    included
}

/// A warning for each file that several others include and whose types were generated for each of them anew: what one
/// takes the other does not give. Takes the files that were compiled, each with [`Generated::included`].
///
/// [`Generated::included`]: crate::Generated::included
pub fn warn_of_shared<'a>(
    compiled: impl IntoIterator<Item = (&'a str, &'a BTreeSet<String>)>,
) -> Vec<Diagnostic> {
    let mut includers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (file, included) in compiled {
        for one in included {
            includers.entry(one).or_default().push(file);
        }
    }
    let shared = includers.into_iter().filter(|(_, by)| by.len() > 1);
    shared.map(|(file, by)| warning(file, &by)).collect()
}

fn warning(file: &str, by: &[&str]) -> Diagnostic {
    let (last, others) = by.split_last().unwrap_or((&"", &[]));
    Diagnostic {
        severity: Severity::Warning,
        message: format!(
            "the types of `{file}` are generated for each of {} and {last}, and are different types in Rust",
            others.join(", ")
        ),
        primary: None,
        secondary: Vec::new(),
        help: Some(
            "compile the files as one: `punctual idl --together NAME …`, in a build script `Builder::compile_together`; \
             or say where the types are: `--extern-path`, `Builder::extern_path`"
                .to_owned(),
        ),
    }
}
