//! Diagnostics: the fault, its source location, and the remedy.

mod render;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::source::SourceFile;

pub use render::render;

/// Severity of a compiler diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Error, because of which the compilation fails.
    Error,
    /// Warning: the IDL compiles, but probably has a mistake.
    Warning,
}

/// Compiler message about a location in the IDL source.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Severity of the diagnostic: error or warning.
    pub severity: Severity,
    /// Description of the fault, in one sentence without a full stop.
    pub message: String,
    /// Source location of the fault; `None` when there is none, as for a missing file.
    pub primary: Option<SourceLabel>,
    /// Further source locations that explain the fault.
    pub secondary: Vec<SourceLabel>,
    /// Suggested way to correct the fault.
    pub help: Option<String>,
}

/// Source location with a text that explains it.
#[derive(Clone, Debug)]
pub struct SourceLabel {
    /// File that contains the source location.
    pub file: Arc<SourceFile>,
    /// Range of bytes of the source location in the file's text.
    pub span: Range<usize>,
    /// Text of the label; may be empty.
    pub text: String,
}

impl SourceLabel {
    /// Returns line and column of the first character, both counted from 1.
    pub fn line_column(&self) -> (u32, u32) {
        self.file.line_column(self.span.start)
    }
}

impl Diagnostic {
    /// Makes a diagnostic that points at `span` of `file`, with `label` written beside it.
    pub fn new(
        severity: Severity,
        message: impl Into<String>,
        file: Arc<SourceFile>,
        span: Range<usize>,
        label: impl Into<String>,
    ) -> Self {
        let primary = SourceLabel {
            file,
            span,
            text: label.into(),
        };
        Diagnostic {
            primary: Some(primary),
            ..Diagnostic::without_place(severity, message)
        }
    }

    /// Makes a diagnostic that refers to no source location.
    pub fn without_place(severity: Severity, message: impl Into<String>) -> Self {
        Diagnostic {
            severity,
            message: message.into(),
            primary: None,
            secondary: Vec::new(),
            help: None,
        }
    }

    /// Adds another source location that explains the fault.
    #[must_use]
    pub fn with_label(
        mut self,
        file: Arc<SourceFile>,
        span: Range<usize>,
        text: impl Into<String>,
    ) -> Self {
        self.secondary.push(SourceLabel {
            file,
            span,
            text: text.into(),
        });
        self
    }

    /// Adds a suggestion for correcting the fault.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a remedy to those that are suggested already.
    pub(crate) fn add_help(&mut self, help: &str) {
        self.help = Some(match self.help.take() {
            Some(first) => format!("{first}; {help}"),
            None => help.to_owned(),
        });
    }

    /// Returns whether the diagnostic is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Formats the diagnostic as one line: `file:line:column: error: message`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(label) = &self.primary {
            let (line, column) = label.line_column();
            write!(f, "{}:{line}:{column}: ", label.file.name())?;
        }
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity}: {}", self.message)
    }
}
