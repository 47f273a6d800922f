//! Arguments that an annotation may have.

use crate::model::Type;

/// Possible argument, in the definition's order.
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) wanted: AllowedValues,
    pub(super) required: bool,
}

/// Values that an argument may have.
#[derive(Clone)]
pub(super) enum AllowedValues {
    /// Any constant.
    Anything,
    /// Constant of a type.
    Of(Type),
    /// Word out of this list.
    Word(&'static [&'static str]),
}

/// Returns the key under which a definition is filed: beside types and constants, and never
/// mistaken for one.
pub(super) fn key(name: &str) -> String {
    format!("@{name}")
}
