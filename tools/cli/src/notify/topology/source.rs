//! Text of the file, and errors that name line and key.

use super::file::File;
use crate::call::Problem;
use std::ops::Range;
use std::path::Path;

const ON_FILES: &str = "`punctual notify export` writes a file of this form";

/// Text of a file with its name.
#[derive(Debug)]
pub(super) struct Source {
    name: String,
    text: String,
}

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn read(path: &Path) -> Result<Self, Problem> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| Problem::usage(format!("{name}: {error}"), ON_FILES))?;
        Ok(Self { name, text })
    }

    /// Reads the tables and keys.
    ///
    /// # Errors
    /// The text is not of the form.
    pub(super) fn parse(&self) -> Result<File, Problem> {
        toml::from_str(&self.text).map_err(|error| {
            let line = error.span().map_or(1, |span| self.line(span.start));
            let message = format!("{}, line {line}: {}", self.name, error.message());
            Problem::usage(message, ON_FILES)
        })
    }

    /// Returns the problem of a value.
    pub(super) fn problem(&self, span: Range<usize>, key: &str, message: &str) -> Problem {
        let (name, line) = (&self.name, self.line(span.start));
        Problem::Usage(format!("{name}, line {line}: `{key}`: {message}"), None)
    }

    fn line(&self, offset: usize) -> usize {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        before.matches('\n').count() + 1
    }
}
