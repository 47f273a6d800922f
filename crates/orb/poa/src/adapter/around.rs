//! Policies of an adapter that act around upcalls.

use super::request::{Request, RequestedObject};
use super::types::Adapter;
use crate::object_map::Lookup;
use crate::own_policies::OwnPolicies;
use crate::servant::Servant;
use punctual_orb::{DispatchError, UpcallHook, Urgency, UrgencyStrategy, WaitingRequest};
use std::sync::Arc;

/// Guard of a thread that has entered the policies around an upcall, until dropped.
struct UpcallGuard<'a> {
    around: &'a UpcallHook,
    entered: u64,
}

impl Drop for UpcallGuard<'_> {
    fn drop(&mut self) {
        self.around.leave(self.entered);
    }
}

impl Adapter {
    /// Returns the priority at which a request with these contexts is to be served while it waits
    /// for a free thread.
    pub(super) fn urgency(
        &self,
        wanted: RequestedObject<'_>,
        mut request: WaitingRequest<'_>,
        strategy: &dyn UrgencyStrategy,
    ) -> Urgency {
        let active = self.map().map(|map| map.find(wanted.id, wanted.entry_id));
        let own = match &active {
            Some(Lookup::Pinned(pinned)) => pinned.own.clone(),
            _ => self.own.remembered(wanted.id),
        };
        let (around, policies) = match &own {
            Some(own) => (&own.around, &own.defined),
            None => (&self.dispatch.around, &self.defined),
        };
        if request.by_policies.priority().is_none()
            && let Some(around) = around
        {
            request.by_policies = around.urgency(request.contexts);
        }
        let policies = Some(policies);
        strategy.urgency(&WaitingRequest {
            policies,
            ..request
        })
    }

    /// Lets the servant answer, within the policies around the upcalls of the object, which may
    /// have its own, or those of its adapter.
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
        let _entered = UpcallGuard { around, entered };
        request.answer(servant)
    }
}
