//! Names as the tree has them: the key of a component.

use std::borrow::Cow;

use crate::cos_naming::{Name, NameComponent};
use crate::limits::Limits;
use crate::refusal::Refusal;

/// What stands between id and kind in a key. IDL's text cannot hold it.
const BETWEEN: char = '\0';

/// A component as the key of a binding: its id, a NUL, and its kind if it has one. Keys are equal when components
/// are, and in the order of ids.
pub(crate) fn key(component: &NameComponent) -> Cow<'_, str> {
    let NameComponent { id, kind } = component;
    if kind.is_empty() {
        return id.into();
    }
    let mut key = String::with_capacity(id.len() + 1 + kind.len());
    key.push_str(id);
    key.push(BETWEEN);
    key.push_str(kind);
    key.into()
}

/// The component that a key stands for.
pub(crate) fn component(key: &str) -> NameComponent {
    let (id, kind) = key.split_once(BETWEEN).unwrap_or((key, ""));
    NameComponent {
        id: id.to_owned(),
        kind: kind.to_owned(),
    }
}

/// Refuses names that are empty, too deep, or have a component that is too long.
pub(crate) fn check(name: &[NameComponent], limits: &Limits) -> Result<(), Refusal> {
    if name.is_empty() {
        return Err(Refusal::InvalidName("it has no component"));
    }
    if name.len() > limits.name_components {
        return Err(Refusal::InvalidName("it has too many components"));
    }
    for NameComponent { id, kind } in name {
        if id.len() + kind.len() > limits.component_bytes {
            return Err(Refusal::InvalidName("a component is too long"));
        }
        // A caller within this process may have it.
        if id.contains(BETWEEN) || kind.contains(BETWEEN) {
            return Err(Refusal::InvalidName("a component has a NUL"));
        }
    }
    Ok(())
}

/// A name as text.
pub(crate) fn to_text(name: &[NameComponent]) -> String {
    punctual_ior::name_to_text(name.iter().map(|one| (one.id.as_str(), one.kind.as_str())))
}

/// The name that a text stands for.
pub(crate) fn from_text(text: &str) -> Result<Name, Refusal> {
    let name = punctual_ior::name_from_text(text);
    let name = name.map_err(|_| Refusal::InvalidName("it is no stringified name"))?;
    let component = |one: punctual_ior::NameComponent| NameComponent {
        id: one.id,
        kind: one.kind,
    };
    Ok(name.into_iter().map(component).collect())
}
