//! What is wrong with JSON.

use std::fmt;

/// JSON that is no value of the type that is wanted: where, what is wanted there, and what is there instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Where: `.legs[2].name`; empty for the outermost.
    pub path: String,
    /// What is wrong, as a sentence without its end.
    pub message: String,
    /// What might have been meant.
    pub help: Option<String>,
}

impl JsonError {
    /// At the outermost place.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            path: String::new(),
            message: message.into(),
            help: None,
        }
    }

    /// The same, one step further in.
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
