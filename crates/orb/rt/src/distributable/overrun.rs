//! Deadlines that segments have missed.

use std::time::Duration;

/// Deadline that a segment has missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overrun {
    /// Time since the deadline.
    pub by: Duration,
}
