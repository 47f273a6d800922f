//! Text form of elements in lists.

use std::fmt;

use punctual_cdr::CdrError;

use crate::value::{Elements, Value};

/// Shows elements with commas between, until there is no more room for text.
///
/// # Errors
/// Those of `out`.
pub(super) fn show_each<W: fmt::Write>(
    out: &mut W,
    elements: &Elements,
    show: impl Fn(&mut W, &Value) -> fmt::Result,
) -> fmt::Result {
    let mut is_first = true;
    let all = elements.each(|value| {
        if !std::mem::take(&mut is_first) {
            out.write_str(", ")?;
        }
        Ok(show(out, value)?)
    });
    match all {
        Ok(()) => Ok(()),
        Err(NotShown::Text(error)) => Err(error),
        Err(NotShown::Octets(why)) => write!(out, "({why})"),
    }
}

/// Reason why the elements of a sequence were not shown to the end.
enum NotShown {
    /// The text output has reached its size limit.
    Text(fmt::Error),
    /// An element cannot be decoded.
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
