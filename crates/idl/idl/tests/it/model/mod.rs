//! Tests of the resolved model of valid IDL.
#![allow(clippy::unwrap_used)]

mod built_in;
mod definitions;
mod events;
mod names;
mod timing;

use punctual_idl::model::{ConstValue, DeclKind, Declaration, Specification};
use punctual_idl::{Compilation, InMemory, Options, compile_source};

pub(super) fn compiled(text: &str, loader: &InMemory) -> Compilation {
    let options = Options {
        include_dirs: vec!["inc".into()],
        ..Options::default()
    };
    match compile_source("dir/main.idl", text, &options, loader) {
        Ok(compilation) => compilation,
        Err(failure) => {
            panic!(
                "{}",
                punctual_idl::diagnostic::render(&failure.diagnostics, false)
            )
        }
    }
}

pub(super) fn model(text: &str) -> Specification {
    compiled(text, &InMemory::new()).specification
}

pub(super) fn find<'a>(spec: &'a Specification, name: &str) -> &'a Declaration {
    spec.find(name).unwrap_or_else(|| panic!("no {name}"))
}

pub(super) fn value(spec: &Specification, name: &str) -> ConstValue {
    match &find(spec, name).kind {
        DeclKind::Const(constant) => constant.value.clone(),
        other => panic!("{name} is a {}", other.describe()),
    }
}

pub(super) fn ids(text: &str, loader: &InMemory) -> Vec<String> {
    let spec = compiled(text, loader).specification;
    spec.declarations
        .iter()
        .map(|d| format!("{} {}", d.absolute_name(), d.repository_id))
        .collect()
}
