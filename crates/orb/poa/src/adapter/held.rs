//! Request whose upcall has ended, but which has not been answered yet.

use super::root::root_named;
use super::serve::destroyed;
use super::types::Adapter;
use crate::current;
use crate::policy::AnswerTimeoutPolicy;
use punctual_orb::SystemException;
use std::sync::Arc;

/// Counts an unanswered request at its adapter until dropped: the adapter's destruction, its
/// manager and the ORB's shutdown wait for it. It is not counted at its object: a deactivated
/// object is removed when its upcalls have ended.
#[derive(Debug)]
pub(crate) struct HeldRequest(Arc<Adapter>);

impl HeldRequest {
    /// Returns a new count of the request whose upcall the calling thread is in; `None` if the
    /// thread is in no adapter's upcall.
    ///
    /// # Errors
    /// TRANSIENT if the adapter is being destroyed.
    pub(crate) fn of_upcall() -> Result<Option<Self>, SystemException> {
        let Some(id) = current::adapter_in_upcall() else {
            return Ok(None);
        };
        let root = root_named(id.nonce).ok_or_else(destroyed)?;
        let adapter = root.named(id.name).ok_or_else(destroyed)?;
        adapter.outstanding.count_in();
        let held = Self(adapter);
        // The request is counted first: a thread that destroys the adapter sets the flag, and then
        // reads the count.
        if held.0.destruction.has_begun() {
            return Err(destroyed());
        }
        Ok(Some(held))
    }
}

impl HeldRequest {
    /// Returns the time limit for the servant's answer.
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
