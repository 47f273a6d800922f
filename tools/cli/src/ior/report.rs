//! A reference as the command shows it.

use super::check::Endpoint;
use punctual_reference::Facts;
use serde::Serialize;

/// A reference as it is shown.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    #[serde(flatten)]
    pub(super) facts: Facts,
    /// Endpoints with their answers, with `--check`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) endpoints: Option<Vec<Endpoint>>,
}
