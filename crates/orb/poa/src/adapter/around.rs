//! Upcalls with what a policy of the adapter does around them.

use super::request::{Request, Wanted};
use super::types::Adapter;
use crate::object_map::Found;
use crate::own_policies::OwnPolicies;
use crate::servant::Servant;
use punctual_giop::ServiceContexts;
use punctual_orb::{DispatchError, Priority, UpcallHook};
use std::sync::Arc;

/// A thread within what surrounds an upcall, until dropped.
struct Entered<'a> {
    around: &'a UpcallHook,
    entered: u64,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.around.leave(self.entered);
    }
}

impl Adapter {
    /// At which priority a request with these contexts is to be served, which waits until a thread is free.
    pub(super) fn urgency(
        &self,
        wanted: Wanted<'_>,
        contexts: ServiceContexts<'_>,
    ) -> Option<Priority> {
        let active = self.map().map(|map| map.find(wanted.id, wanted.entry_id));
        let own = match &active {
            Some(Found::Pinned(pinned)) => pinned.own.clone(),
            _ => self.own.remembered(wanted.id),
        };
        let around = match &own {
            Some(own) => &own.around,
            None => &self.dispatch.around,
        };
        around.as_ref()?.urgency(contexts)
    }

    /// Lets the servant answer, within what surrounds the upcalls of the object, which may have something of its own, or
    /// those of its adapter.
    #[inline(always)]
    pub(super) fn upcall<R: Request>(
        &self,
        (servant, own): (&Arc<dyn Servant>, Option<&OwnPolicies>),
        request: &mut R,
    ) -> Result<R::Done, DispatchError> {
        let around = match own {
            Some(own) => &own.around,
            None => &self.dispatch.around,
        };
        let Some(around) = around else {
            return request.answer(servant);
        };
        let entered = request.enter(around)?;
        let _entered = Entered { around, entered };
        request.answer(servant)
    }
}
