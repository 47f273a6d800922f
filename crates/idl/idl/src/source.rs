//! Source texts and positions in them.

use std::ops::Range;

/// Identifier of a file within a compilation; the main file has index 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FileId(pub(crate) u32);

impl FileId {
    /// Returns the position of the file in the list of source files.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Range of bytes in a file, as stored in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Place {
    pub(crate) file: FileId,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Place {
    pub(crate) fn span(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns the range from the start of this one to the end of `end`, when both are in one file;
    /// otherwise this one.
    pub(crate) fn to(self, end: Place) -> Place {
        if self.file == end.file && end.end >= self.start {
            Place {
                end: end.end,
                ..self
            }
        } else {
            self
        }
    }

    /// Returns the empty range directly behind this source range.
    pub(crate) fn after(self) -> Place {
        Place {
            start: self.end,
            ..self
        }
    }
}

/// Location in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Location {
    /// File that contains the location.
    pub file: FileId,
    /// Line number of the location, counted from 1.
    pub line: u32,
    /// Column of the location in characters, counted from 1.
    pub column: u32,
    /// Range of bytes of the location in the file's text.
    pub span: Range<usize>,
}

impl From<&Location> for Place {
    fn from(location: &Location) -> Place {
        let narrow = |offset: usize| u32::try_from(offset).unwrap_or(0);
        Place {
            file: location.file,
            start: narrow(location.span.start),
            end: narrow(location.span.end),
        }
    }
}

/// Text of a source file, with an index of its lines.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceFile {
    name: String,
    text: String,
    line_starts: Vec<usize>,
}

impl SourceFile {
    /// Makes a source file of a text, and indexes the lines.
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

    /// Returns the path as it was found, which diagnostics show.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the whole text of the source file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns line and column of a byte position, both counted from 1, the column in characters
    /// (in bytes beyond the first 4 KiB of a line). A position past the end is that of the end.
    pub fn line_column(&self, position: usize) -> (u32, u32) {
        let position = position.min(self.text.len());
        let line = self.line_starts.partition_point(|&start| start <= position) - 1;
        let start = self.line_starts[line];
        let counted = position.min(start + LONG_LINE);
        let before = String::from_utf8_lossy(&self.text.as_bytes()[start..counted]);
        let column = before.chars().count() + (position - counted) + 1;
        (saturate(line + 1), saturate(column))
    }

    /// Returns the index, counted from 0, of the line that holds a byte position.
    pub(crate) fn line_index(&self, position: usize) -> usize {
        self.line_starts
            .partition_point(|&start| start <= position)
            .saturating_sub(1)
    }

    /// Returns the bytes of a line (counted from 0), without its line end.
    pub(crate) fn line_range(&self, line: usize) -> Range<usize> {
        let end = self.text.len();
        let start = self.line_starts.get(line).copied().unwrap_or(end);
        let next = self.line_starts.get(line + 1).map_or(end, |next| next - 1);
        let length = self.text[start..next.max(start)]
            .trim_end_matches('\r')
            .len();
        start..start + length
    }
}

/// Position in a line where counting characters stops, so that a file of one huge line costs no
/// more than others.
const LONG_LINE: usize = 1 << 12;

fn saturate(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
