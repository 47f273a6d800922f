//! Deadlines that segments have missed.

use std::time::Duration;

/// Overrun: missed deadline of a scheduling segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overrun {
    /// Time by which the deadline was missed.
    pub by: Duration,
}
