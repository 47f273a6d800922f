//! All findings of the command together.

use super::finding::Finding;
use serde::Serialize;

/// All findings of the command.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// True if a Real-time ORB with default settings starts.
    pub(super) granted: bool,
    pub(super) findings: Vec<Finding>,
}
