//! Parts of repository ids, and the prefixes that pragmas and scopes give them.

use std::rc::Rc;

/// Parts from which a declaration's repository id is composed.
#[derive(Debug)]
pub(super) struct IdParts {
    /// Text of the repository id between `IDL:` and the declaration's own name.
    pub(super) prefix: Rc<str>,
    pub(super) version: Option<String>,
    pub(super) explicit: Option<String>,
}

impl IdParts {
    pub(super) fn new(prefix: Rc<str>) -> Self {
        IdParts {
            prefix,
            version: None,
            explicit: None,
        }
    }
}

/// Prefix of repository ids, set for a file or for a scope.
#[derive(Clone, Debug)]
pub(super) struct Prefix {
    pub(super) is_file: bool,
    /// Text of the prefix, which ends in `/` unless it is empty.
    pub(super) text: Rc<str>,
}

impl Prefix {
    pub(super) fn file(text: &str) -> Self {
        Prefix {
            is_file: true,
            text: text.into(),
        }
    }
}
