//! Names as text.

use crate::call::Problem;
use punctual_naming::cos_naming::{Name, NameComponent};

pub(super) const ON_NAMES: &str = "a name is id.kind components with slashes between, and a backslash before a dot or slash that is part of one";

/// Parses a name.
pub(super) fn parsed(name: &str) -> Result<Name, Problem> {
    let parts = punctual_ior::name_from_text(name);
    let parts = parts.map_err(|error| Problem::usage(format!("`{name}`: {error}"), ON_NAMES))?;
    let component = |one: punctual_ior::NameComponent| NameComponent {
        id: one.id,
        kind: one.kind,
    };
    Ok(parts.into_iter().map(component).collect())
}

/// Returns a name as text.
pub(super) fn text(name: &[NameComponent]) -> String {
    punctual_ior::name_to_text(name.iter().map(|one| (one.id.as_str(), one.kind.as_str())))
}

/// Returns the name of a component below the name of its context.
pub(super) fn below(path: &str, component: &NameComponent) -> String {
    let component = text(std::slice::from_ref(component));
    match path {
        "" => component,
        path => format!("{path}/{component}"),
    }
}
