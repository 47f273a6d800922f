//! Output of the command for a reference.

use super::check::Endpoint;
use punctual_reference::Facts;
use serde::Serialize;

/// A reference as it is printed.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    #[serde(flatten)]
    pub(super) facts: Facts,
    /// Endpoints with the results of `--check`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) endpoints: Option<Vec<Endpoint>>,
}
