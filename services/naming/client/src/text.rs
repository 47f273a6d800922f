//! Names as text (CosNaming 1.3, 2.4).

use crate::cos_naming::naming_context::InvalidName;
use crate::cos_naming::{Name, NameComponent};

/// Parses a text as a name: `plants/north.site/pump`. It may be of any length.
///
/// # Errors
/// The text is not a stringified name.
pub fn from_text(text: &str) -> Result<Name, InvalidName> {
    let name = punctual_ior::name_from_text(text).map_err(|_| InvalidName)?;
    let component = |one: punctual_ior::NameComponent| NameComponent {
        id: one.id,
        kind: one.kind,
    };
    Ok(name.into_iter().map(component).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_taken_apart_at_slashes_and_dots() {
        let component = |id: &str, kind: &str| NameComponent {
            id: id.to_owned(),
            kind: kind.to_owned(),
        };
        assert_eq!(
            from_text(r"plants/north.site/a\.b").unwrap(),
            [
                component("plants", ""),
                component("north", "site"),
                component("a.b", "")
            ]
        );
        assert!(from_text(r"plants\x").is_err());
    }
}
