//! Texts that a model is read from: the TOML file, and files of IDL.

use punctual_idl::diagnostic::{Diagnostic, Severity};
use punctual_idl::source::SourceFile;
use std::ops::Range;
use std::sync::Arc;

/// Texts laid end to end, so that one range of bytes is a place in any of them.
#[derive(Clone, Debug)]
pub(super) struct Sources {
    /// The TOML file, which begins at 0.
    first: Arc<SourceFile>,
    /// Files of IDL, each with its beginning, in rising order.
    others: Vec<(usize, Arc<SourceFile>)>,
}

impl Sources {
    pub(super) fn new(first: Arc<SourceFile>) -> Self {
        let others = Vec::new();
        Self { first, others }
    }

    /// Returns the text of the TOML file.
    pub(super) fn first_text(&self) -> &str {
        self.first.text()
    }

    /// Adds a file; returns where it begins.
    pub(super) fn add(&mut self, file: Arc<SourceFile>) -> usize {
        let (start, last) = match self.others.last() {
            Some((start, last)) => (*start, last),
            None => (0, &self.first),
        };
        let start = start + last.text().len() + 1;
        self.others.push((start, file));
        start
    }

    /// Makes an error at a place.
    pub(super) fn error(
        &self,
        message: impl Into<String>,
        place: Range<usize>,
        label: impl Into<String>,
    ) -> Diagnostic {
        let (file, span) = self.find(place);
        Diagnostic::new(Severity::Error, message, file, span, label)
    }

    /// Adds another place to an error.
    pub(super) fn and(
        &self,
        error: Diagnostic,
        place: Range<usize>,
        label: impl Into<String>,
    ) -> Diagnostic {
        let (file, span) = self.find(place);
        error.with_label(file, span, label)
    }

    fn find(&self, place: Range<usize>) -> (Arc<SourceFile>, Range<usize>) {
        let later = self
            .others
            .partition_point(|(start, _)| *start <= place.start);
        match self.others[..later].last() {
            Some((start, file)) => (file.clone(), place.start - start..place.end - start),
            None => (self.first.clone(), place),
        }
    }
}
