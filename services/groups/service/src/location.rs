//! Locations of members, from peers.

use punctual_naming_client::cos_naming::NameComponent;

use crate::names::{Key, text};

use crate::refusal::{Refusal, Refused};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::location;

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
