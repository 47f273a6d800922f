//! A request whose upcall is over, and whose answer is not given yet.

use super::root::root_named;
use super::serve::destroyed;
use super::types::Adapter;
use crate::current;
use crate::policy::AnswerTimeoutPolicy;
use punctual_orb::SystemException;
use std::sync::Arc;

/// Counts a request at its adapter until dropped, as requests are that no object counts: the adapter's destruction, its
/// manager and the ORB's shutdown wait for it. Its object does not: one that is deactivated goes when its upcalls have ended.
#[derive(Debug)]
pub(crate) struct HeldRequest(Arc<Adapter>);

impl HeldRequest {
    /// The one that the calling thread is in the upcall of; `None` where that is of no adapter.
    ///
    /// # Errors
    /// TRANSIENT where the adapter is being destroyed.
    pub(crate) fn of_upcall() -> Result<Option<Self>, SystemException> {
        let Some(id) = current::adapter_in_upcall() else {
            return Ok(None);
        };
        let root = root_named(id.nonce).ok_or_else(destroyed)?;
        let adapter = root.named(id.name).ok_or_else(destroyed)?;
        adapter.outstanding.count_in();
        let held = Self(adapter);
        // Counted first: who destroys the adapter says so, and then looks.
        if held.0.destruction.has_begun() {
            return Err(destroyed());
        }
        Ok(Some(held))
    }
}

impl HeldRequest {
    /// How long its servant may take to answer it.
    pub(crate) fn answer_timeout(&self) -> AnswerTimeoutPolicy {
        self.0.policies.answer_timeout
    }
}

impl Drop for HeldRequest {
    fn drop(&mut self) {
        let adapter = &*self.0;
        adapter.outstanding.count_out();
        if adapter.destruction.has_begun() {
            adapter.finish_if_empty();
        }
    }
}
