//! Limits of the fast path.

/// Length of a request's head in bytes beyond which the fast path does not handle it.
pub(super) const LONGEST: usize = 256;
/// Length of a context's data beyond which it is not short.
pub(super) const LONGEST_CONTEXT: usize = 64;
/// Number of a request's contexts beyond which the fast path does not handle it.
pub(super) const MOST_CONTEXTS: usize = 4;
