//! Errors in JSON.

use std::fmt;

/// Error of JSON that is not a value of the expected type: its position, the expected value, and
/// the actual one.
#[derive(Clone, PartialEq, Eq)]
pub struct JsonError {
    /// Path of the wrong value: `.legs[2].name`; empty for the outermost value.
    pub path: String,
    /// Description of the error, as a sentence without a full stop.
    pub message: String,
    /// Suggestion of the name or value that the author of the JSON may have meant.
    pub help: Option<String>,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl JsonError {
    /// Makes a JSON error with an empty path to the erroneous value.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            path: String::new(),
            message: message.into(),
            help: None,
        }
    }

    /// Returns the error with a step (a member or an index) prepended to its path.
    pub(super) fn within(mut self, step: impl fmt::Display) -> Self {
        self.path.insert_str(0, &step.to_string());
        self
    }

    pub(super) fn with_help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "`{}`: {}", self.path, self.message)
    }
}

impl std::error::Error for JsonError {}
