//! What is wrong, where, and what to do about it.

mod render;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::source::SourceFile;

pub use render::render;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The compilation fails.
    Error,
    /// Probably not what was meant, yet it compiles.
    Warning,
}

/// A message about a place in a source file.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// The place it is about; `None` when there is none, such as for a file that is not there.
    pub primary: Option<SourceLabel>,
    /// Other places that explain it.
    pub secondary: Vec<SourceLabel>,
    /// What to do about it.
    pub help: Option<String>,
}

/// A piece of a source text with a few words about it.
#[derive(Clone, Debug)]
pub struct SourceLabel {
    /// The file.
    pub file: Arc<SourceFile>,
    /// Bytes of its text.
    pub span: Range<usize>,
    /// What is to be said about it; may be empty.
    pub text: String,
}

impl SourceLabel {
    /// Line and column of the first character, both counted from 1.
    pub fn line_column(&self) -> (u32, u32) {
        self.file.line_column(self.span.start)
    }
}

impl Diagnostic {
    /// A diagnostic that points at `span` of `file`, with `label` written beside it.
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

    /// A diagnostic about nothing that could be pointed at.
    pub fn without_place(severity: Severity, message: impl Into<String>) -> Self {
        Diagnostic {
            severity,
            message: message.into(),
            primary: None,
            secondary: Vec::new(),
            help: None,
        }
    }

    /// Adds another place that explains it.
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

    /// Says what to do about it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// True for an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// One line: `file:line:column: error: message`.
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
