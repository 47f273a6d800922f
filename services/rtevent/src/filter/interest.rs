//! Interest: the types that a filter may accept.

use super::tree::Tree;

/// Types of events of suppliers that a tree may accept.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    /// Any type.
    All,
    /// Event types, sorted.
    Kinds(Vec<i32>),
}

impl Interest {
    /// Returns the interest of a tree.
    pub(crate) fn of(tree: &Tree) -> Self {
        let selectors = tree.selectors();
        // Sorted selectors with type 0 may stand behind those of negative types.
        if selectors.iter().any(|selector| selector.kind == 0) {
            return Self::All;
        }
        let mut kinds: Vec<i32> = selectors.iter().map(|selector| selector.kind).collect();
        kinds.dedup();
        Self::Kinds(kinds)
    }
}
