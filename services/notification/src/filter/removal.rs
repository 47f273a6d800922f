//! Removal of a filter, which the filter itself asks for.

use crate::refusal::Refusal;

/// Action that removes a filter from the service.
pub(super) struct Removal(pub(super) Box<dyn Fn() -> Result<(), Refusal> + Send + Sync>);

impl std::fmt::Debug for Removal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Removal")
    }
}
