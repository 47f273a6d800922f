//! Policies that act around an adapter's upcalls: they set a thread's priority, for example.

use super::measured::answer;
use super::request::{Request, RequestedObject};
use super::types::Adapter;
use crate::object_map::Lookup;
use crate::own_policies::OwnPolicies;
use crate::servant::Servant;
use punctual_orb::{DispatchError, UpcallHook, Urgency, UrgencyStrategy, WaitingRequest};
use std::sync::Arc;

/// Guard that ends the effect of the policies around an upcall when it is dropped.
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
    /// Returns the priority of a request with these service contexts while it waits for a free
    /// thread.
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

    /// Makes the upcall with the policies that act around upcalls applied: the object's own if it
    /// has any, otherwise the adapter's.
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
            return answer(servant, request);
        };
        let entered = request.enter(around)?;
        let _entered = UpcallGuard { around, entered };
        answer(servant, request)
    }
}
