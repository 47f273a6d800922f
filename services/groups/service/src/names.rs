//! Locations and other names as text.

use std::sync::Arc;

use punctual_ior::{name_from_text, name_to_text};
use punctual_naming_client::cos_naming::{Name, NameComponent};

/// Location of a member as text, in the form of the Naming Service's names.
pub(crate) type Key = Arc<str>;

/// Returns a name as text, of whatever length.
pub(crate) fn text(name: &[NameComponent]) -> String {
    name_to_text(name.iter().map(|one| (one.id.as_str(), one.kind.as_str())))
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
