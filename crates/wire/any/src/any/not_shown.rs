//! Why elements are not shown to their end.

use std::fmt;

use punctual_cdr::CdrError;

/// What ends a walk over elements that are shown.
pub(super) enum NotShown {
    /// There is no more room for text.
    Text(fmt::Error),
    /// One can't be read.
    Octets(CdrError),
}

impl From<fmt::Error> for NotShown {
    fn from(error: fmt::Error) -> Self {
        Self::Text(error)
    }
}

impl From<CdrError> for NotShown {
    fn from(why: CdrError) -> Self {
        Self::Octets(why)
    }
}
