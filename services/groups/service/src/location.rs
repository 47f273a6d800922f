//! Locations, and other names, as text: the keys of members.

use std::sync::Arc;

use punctual_ior::{name_from_text, name_to_text};
use punctual_naming_client::cos_naming::{Name, NameComponent};

use crate::refusal::{Refusal, Refused};

/// Location of a member as text, in the form of the Naming Service's names.
pub(crate) type Key = Arc<str>;

/// Returns a name as text, of whatever length.
pub(crate) fn text(name: &[NameComponent]) -> String {
    name_to_text(name.iter().map(|one| (one.id.as_str(), one.kind.as_str())))
}

/// Returns the key of a location.
///
/// # Errors
/// BAD_PARAM for one that is empty, longer than `most` bytes, or has a character that no text may have.
pub(crate) fn key(location: &[NameComponent], most: usize) -> Refused<Key> {
    let bytes = location.iter().map(|one| one.id.len() + one.kind.len() + 2);
    if location.is_empty() {
        return Err(Refusal::bad_parameter("the location has no component"));
    }
    if bytes.sum::<usize>() > most {
        let why = format!("the location is longer than {most} bytes");
        return Err(Refusal::bad_parameter(why));
    }
    Ok(text(location).into())
}

/// Returns the location of a key.
pub(crate) fn location(key: &str) -> Name {
    let parsed = name_from_text(key).unwrap_or_default();
    let component = |one: punctual_ior::NameComponent| NameComponent {
        id: one.id,
        kind: one.kind,
    };
    parsed.into_iter().map(component).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component(id: &str, kind: &str) -> NameComponent {
        NameComponent {
            id: id.to_owned(),
            kind: kind.to_owned(),
        }
    }

    #[test]
    fn a_location_of_any_characters_is_the_same_after_a_way_through_its_key() {
        for name in [
            vec![component("host-1", "")],
            vec![
                component("a/b", "c.d"),
                component("", "k"),
                component("", ""),
            ],
            vec![component("\u{1b}[31m\\", "\u{20ac}")],
        ] {
            assert_eq!(location(&key(&name, 100).unwrap()), name);
        }
    }

    #[test]
    fn empty_and_long_locations_are_refused() {
        assert!(key(&[], 100).is_err());
        assert!(key(&[component(&"x".repeat(99), "")], 100).is_err());
        assert!(key(&vec![component("", ""); 100], 100).is_err());
    }
}
