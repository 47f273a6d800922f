//! Refusal of work items.

use std::fmt;

/// Upper bound of queued work items that a thread waits for.
pub(super) const MAX_QUEUED: usize = 1024;

/// Reason why the main thread did not do a work item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The main thread's queue of work items is full.
    TooMany,
    /// The main thread does not accept work any more.
    Closed,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany => write!(f, "{MAX_QUEUED} requests wait for the main thread already"),
            Self::Closed => f.write_str("the main thread serves no more requests"),
        }
    }
}

impl std::error::Error for Refused {}
