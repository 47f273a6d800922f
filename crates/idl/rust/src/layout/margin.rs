//! Indentation, and the room on a line.

/// Returns the room on a line with this indentation.
pub(crate) fn room(indent: usize) -> usize {
    MARGIN.saturating_sub(indent).max(LEAST_ROOM)
}

/// Column at which the formatter breaks lines.
pub(super) const MARGIN: usize = 89;

/// Least number of columns for a line's text, however far the line is indented.
const LEAST_ROOM: usize = 60;

/// Number of columns by which a level is indented.
pub(crate) const INDENT: usize = 4;
