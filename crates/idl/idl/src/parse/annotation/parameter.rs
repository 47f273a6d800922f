//! Arguments that an annotation may have.

use crate::model::Type;
use crate::source::Place;

/// Parameter of an annotation: an argument that it may have.
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) wanted: AllowedValues,
    pub(super) required: bool,
}

/// Source position of an argument.
#[derive(Clone, Copy)]
pub(super) struct ArgumentPlace {
    /// Position of the name; of the value, if the argument has no name.
    pub(super) name: Place,
    pub(super) value: Place,
}

/// Set of values that an annotation's argument may have.
#[derive(Clone)]
pub(super) enum AllowedValues {
    /// Constant of any type.
    Anything,
    /// Constant of the given type.
    Of(Type),
    /// One of the listed words.
    Word(&'static [&'static str]),
}

/// Returns the key of an annotation's definition in the table of its scope; the `@` keeps it apart
/// from types and constants of that name.
pub(super) fn key(name: &str) -> String {
    format!("@{name}")
}
