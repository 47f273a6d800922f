//! Errors in the form in which the operator of a service reads them.

use std::fmt;

/// Error message, with a hint on what the operator can do.
#[derive(Clone, PartialEq, Eq)]
pub struct Problem {
    /// Error message without the hint.
    pub message: String,
    /// Hint on the next step; empty if there is none.
    pub help: &'static str,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Problem {
    /// Creates a problem from an error's text and a hint for the operator.
    pub fn new(message: impl fmt::Display, help: &'static str) -> Self {
        Self {
            message: message.to_string(),
            help,
        }
    }

    /// Returns the help as an option: `None` for the empty text.
    #[must_use]
    pub fn help(&self) -> Option<&'static str> {
        (!self.help.is_empty()).then_some(self.help)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}
