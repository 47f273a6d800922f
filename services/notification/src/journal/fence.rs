//! Removals where several servers have the service: a server whose place was taken removes nothing that the next one has.

use std::sync::Arc;

use punctual_host::Turn;

use crate::refusal::Refusal;

/// Check before logs and readers are removed, with their events.
#[derive(Clone, Debug)]
pub(super) struct Fence(pub(super) Option<Arc<dyn Turn>>);

impl Fence {
    pub(super) fn is_there(&self) -> bool {
        self.0.is_some()
    }

    /// Checks that this server has the service now. Blocks.
    ///
    /// # Errors
    /// Another server has it, or that cannot be known.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let Some(turn) = &self.0 else {
            return Ok(());
        };
        let confirmed = turn.confirm();
        confirmed.map_err(|error| Refusal::NoResources(error.to_string()))
    }
}
