//! Implementation of the ORB's [`ObjectAdapter`] interface by the POAs.

use crate::adapter::Root;
use crate::key::{self, Key};
use crate::manager::Managed as _;
use crate::upcall::OverTheWire;
use punctual_orb::probe::{self, Point};
use punctual_orb::{
    Collocated, DispatchError, Dispatched, LocateRequest, Location, ObjectAdapter, ServerCall,
    Urgency, UrgencyStrategy, WaitingRequest,
};
use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

impl ObjectAdapter for Root {
    fn dispatch(
        &self,
        object_key: &[u8],
        call: &mut ServerCall<'_>,
    ) -> Result<Dispatched, DispatchError> {
        probe::begins!(Point::ServerAdapter);
        self.route(object_key, &mut OverTheWire(call))
    }

    fn locate(&self, object_key: &[u8]) -> Location {
        let located = self.find(object_key, |table| Some(table.locate_unknown(object_key)));
        located.unwrap_or(Location::Unknown)
    }

    fn locate_or_later(&self, object_key: &[u8], request: &LocateRequest<'_>) -> Option<Location> {
        self.find(object_key, |table| {
            table.locate_unknown_or_later(object_key, request)
        })
    }

    fn collocated(&self, object_key: &[u8]) -> Option<Arc<dyn Collocated>> {
        let here = self.here(object_key)?;
        Some(Arc::new(here))
    }

    fn name_in<'k>(&self, object_key: &'k [u8]) -> Cow<'k, [u8]> {
        match Key::read(self.nonce, object_key) {
            Key::Named {
                adapter,
                entry_id: Some(_),
                id,
            } => Cow::Owned(key::named(self.nonce, adapter, None, id)),
            _ => Cow::Borrowed(object_key),
        }
    }

    fn urgency(
        &self,
        object_key: &[u8],
        request: WaitingRequest<'_>,
        strategy: &dyn UrgencyStrategy,
    ) -> Urgency {
        let known = self.urgency_of(object_key, request, strategy);
        known.unwrap_or_else(|| strategy.urgency(&request))
    }

    fn is_bidirectional(&self, object_key: &[u8]) -> bool {
        self.adapter_of(object_key)
            .is_some_and(|adapter| adapter.defined.is_bidirectional())
    }

    fn warn_before_run(&self) {
        for manager in self.common.managers.list() {
            manager.warn_before_run();
        }
    }

    fn shut_down(&self) {
        if let Some(repository) = &self.common.repository {
            repository.end_all();
        }
        for manager in self.common.managers.list() {
            manager.admission().deactivate();
        }
    }

    fn wait_until_idle(&self) {
        let mut adapters = vec![self.adapter()];
        while let Some(adapter) = adapters.pop() {
            adapter.wait_until_idle_or(&|| false);
            adapters.extend(adapter.children());
        }
    }

    fn release(&self) {
        // Calls in progress keep their servants alive.
        self.adapter().destroy(true);
        self.ior_table.clear();
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}
