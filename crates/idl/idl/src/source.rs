//! Source texts and places in them.

use std::ops::Range;

/// Identifies a file within a compilation; the main file has index 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FileId(pub(crate) u32);

impl FileId {
    /// The position in the list of files.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Location {
    /// The file.
    pub file: FileId,
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
    /// Bytes of the file's text.
    pub span: Range<usize>,
}

/// A source text, with its lines indexed.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceFile {
    name: String,
    text: String,
    line_starts: Vec<usize>,
}

impl SourceFile {
    /// Indexes the lines of a text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let mut line_starts = vec![0];
        line_starts.extend(
            text.bytes()
                .enumerate()
                .filter(|(_, b)| *b == b'\n')
                .map(|(i, _)| i + 1),
        );
        SourceFile {
            name: name.into(),
            text,
            line_starts,
        }
    }

    /// The path as it was found: what diagnostics show.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column of a byte position, both counted from 1, the column in characters.
    /// A position past the end is that of the end.
    pub fn line_column(&self, position: usize) -> (u32, u32) {
        let position = position.min(self.text.len());
        let line = self.line_starts.partition_point(|&start| start <= position) - 1;
        let before = &self.text.as_bytes()[self.line_starts[line]..position];
        let column = String::from_utf8_lossy(before).chars().count() + 1;
        (saturate(line + 1), saturate(column))
    }

    /// The text of a line (counted from 0) without its line end.
    pub(crate) fn line_text(&self, line: usize) -> &str {
        let start = self
            .line_starts
            .get(line)
            .copied()
            .unwrap_or(self.text.len());
        let end = self
            .line_starts
            .get(line + 1)
            .map_or(self.text.len(), |next| next - 1);
        self.text[start..end.max(start)].trim_end_matches('\r')
    }

    /// The byte position at which a line (counted from 0) begins.
    pub(crate) fn line_start(&self, line: usize) -> usize {
        self.line_starts
            .get(line)
            .copied()
            .unwrap_or(self.text.len())
    }
}

fn saturate(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
