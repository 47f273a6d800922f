//! Hint for branches that are rarely taken.

/// Tells the compiler that the branch that calls this is rarely taken, so that it optimizes the layout for the
/// other branch. Replaces std's `cold_path`, which Rust before 1.95 lacks.
#[inline]
#[cold]
pub(crate) const fn cold_path() {}
