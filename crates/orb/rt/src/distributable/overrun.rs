//! Deadlines that segments have missed.

use std::time::Duration;

/// A segment that was not done when its deadline passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overrun {
    /// Time since the deadline.
    pub by: Duration,
}
