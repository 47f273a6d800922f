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
    pub(super) fn new(path: &str, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            message: message.into(),
            help: None,
        }
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
