//! Object adapter for tests that answers every call by a closure.

use crate::adapter::{DispatchError, Location};
use crate::server::{Dispatched, ObjectAdapter, ServerCall};
use std::any::Any;
use std::sync::Arc;

/// Adapter that answers calls of any object by the closure.
pub(super) struct Answering<F>(pub(super) F);

impl<F> ObjectAdapter for Answering<F>
where
    F: Fn(&mut ServerCall<'_>) -> Result<Dispatched, DispatchError> + Send + Sync + 'static,
{
    fn dispatch(&self, _: &[u8], call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        (self.0)(call)
    }

    fn locate(&self, _: &[u8]) -> Location {
        Location::Here
    }

    fn shut_down(&self) {}

    fn release(&self) {}

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}
