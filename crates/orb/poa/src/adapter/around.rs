//! Upcalls with what a policy of the adapter does around them.

use super::request::Request;
use super::types::Adapter;
use crate::servant::Servant;
use punctual_giop::ServiceContexts;
use punctual_orb::{AroundUpcall, DispatchError, Priority};
use std::sync::Arc;

/// A thread within what surrounds an upcall, until dropped.
struct Entered<'a> {
    around: &'a dyn AroundUpcall,
    entered: u64,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.around.leave(self.entered);
    }
}

impl Adapter {
    /// At which priority a request with these contexts is to be served, which waits until a thread is free.
    pub(crate) fn urgency(&self, contexts: ServiceContexts<'_>) -> Option<Priority> {
        self.dispatch.around.as_ref()?.urgency(contexts)
    }

    /// Lets the servant answer, within what surrounds it.
    #[inline]
    pub(super) fn upcall<R: Request>(
        &self,
        servant: &Arc<dyn Servant>,
        request: &mut R,
    ) -> Result<R::Done, DispatchError> {
        let Some(around) = &self.dispatch.around else {
            return request.answer(servant);
        };
        let around = &**around;
        let entered = request.enter(around)?;
        let _entered = Entered { around, entered };
        request.answer(servant)
    }
}
