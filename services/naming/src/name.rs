//! Names in the tree: the keys of components.

use std::borrow::Cow;

use crate::cos_naming::{Name, NameComponent};
use crate::limits::Limits;
use crate::refusal::Refusal;

/// Separator of id and kind in a key. It cannot occur in IDL strings.
const BETWEEN: char = '\0';

/// Returns the key under which a context stores a component: its id, a NUL, and its kind if it has
/// one. Keys are equal if components are, and are ordered by ids.
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

/// Converts the stored key of a binding to a name component.
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
        // A caller within this process may pass one.
        if id.contains(BETWEEN) || kind.contains(BETWEEN) {
            return Err(Refusal::InvalidName("a component has a NUL"));
        }
    }
    Ok(())
}

/// Returns a name in its stringified form.
pub(crate) fn to_text(name: &[NameComponent]) -> String {
    punctual_ior::name_to_text(name.iter().map(|one| (one.id.as_str(), one.kind.as_str())))
}

/// Parses a client's text as a name within the limits. A text that exceeds them is refused before
/// it is split, as a component of one letter takes two bytes of text, but some forty times as many
/// in memory.
pub(crate) fn from_text_within(text: &str, limits: &Limits) -> Result<Name, Refusal> {
    check_text(text, limits)?;
    let name = from_text(text)?;
    check(&name, limits)?;
    Ok(name)
}

/// Refuses a text that is longer than any name may be, or has more components.
fn check_text(text: &str, limits: &Limits) -> Result<(), Refusal> {
    // Each byte may have a backslash before it; there is a dot within the component, and a slash
    // behind it.
    let component = limits.component_bytes.saturating_mul(2).saturating_add(2);
    if text.len() > component.saturating_mul(limits.name_components) {
        return Err(Refusal::InvalidName("it is too long"));
    }
    // The bytes of these two occur in no other character of UTF-8.
    let mut is_escaped = false;
    let ends_component = |&octet: &u8| {
        let ends = octet == b'/' && !is_escaped;
        is_escaped = octet == b'\\' && !is_escaped;
        ends
    };
    match text.bytes().filter(ends_component).count() < limits.name_components {
        true => Ok(()),
        false => Err(Refusal::InvalidName("it has too many components")),
    }
}

/// Parses a text of any length as a name; only for the process's own texts.
pub(crate) fn from_text(text: &str) -> Result<Name, Refusal> {
    let name = punctual_naming_client::from_text(text);
    name.map_err(|_| Refusal::InvalidName("it is not a stringified name"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str, limits: &Limits) -> &'static str {
        match from_text_within(text, limits) {
            Err(Refusal::InvalidName(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_text_of_too_many_components_or_bytes_is_refused_before_it_is_split() {
        let limits = Limits::default();
        let unsplit = "it is not a stringified name";
        // The first component is invalid, which splitting would find first.
        assert_eq!(refused(r"\x/a", &limits), unsplit);
        let text = format!(r"\x{}", "/a".repeat(limits.name_components));
        assert_eq!(refused(&text, &limits), "it has too many components");
        let text = format!(
            r"\x{}",
            "a".repeat(limits.name_components * (2 * limits.component_bytes + 2))
        );
        assert_eq!(refused(&text, &limits), "it is too long");
        assert_eq!(refused(&"a/".repeat(4 << 20), &limits), "it is too long");
    }

    #[test]
    fn the_longest_names_that_may_be_are_taken_and_slashes_that_are_escaped_end_nothing() {
        let limits = Limits {
            name_components: 3,
            component_bytes: 8,
            ..Limits::default()
        };
        let longest = NameComponent {
            id: "/.\\/".to_owned(),
            kind: "////".to_owned(),
        };
        let name = vec![longest; 3];
        let text = to_text(&name);
        assert_eq!(text.len(), 3 * 18 - 1);
        assert_eq!(from_text_within(&text, &limits).unwrap(), name);
        let longer = format!("{text}/a");
        assert_eq!(refused(&longer, &limits), "it is too long");
        assert_eq!(refused("123456789", &limits), "a component is too long");
        assert!(from_text_within(r"a\/b\/c\/d", &limits).is_ok());
        assert!(from_text_within(r"a\\/b\\/c", &limits).is_ok());
        let text = r"a\\/b\\/c\\/d";
        assert_eq!(refused(text, &limits), "it has too many components");
    }
}
