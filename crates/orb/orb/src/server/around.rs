//! What is done around each upcall of an adapter, because of its policies.

use super::call::ServerCall;
use crate::exception::SystemException;
use crate::policy::{AdapterPolicies, InvalidPolicy};
use crate::priority::Priority;
use punctual_giop::ServiceContexts;
use std::fmt::Debug;
use std::sync::Arc;

/// What surrounds each upcall of an adapter: a priority that the thread takes, a lock.
pub trait AroundUpcall: Send + Sync + Debug {
    /// Before the servant is called, on the thread that calls it, once the object is found. A call from within the
    /// process comes without a message. What it returns [`AroundUpcall::leave`] is given.
    ///
    /// # Errors
    /// What the caller is told; there is no upcall then, and no `leave`.
    fn enter(&self, call: Option<&mut ServerCall<'_>>) -> Result<u64, SystemException>;

    /// At which priority a request with these contexts is to be served, which waits until a thread is free.
    fn urgency(&self, contexts: ServiceContexts<'_>) -> Option<Priority> {
        let _ = contexts;
        None
    }

    /// Behind the upcall, on the same thread, however it ended.
    fn leave(&self, entered: u64);
}

/// Says what surrounds the upcalls of which adapters ([`crate::OrbBuilder::around_upcalls`]).
pub trait AroundUpcalls: Send + Sync + Debug {
    /// What surrounds those of an adapter with these policies. Asked when the adapter is made.
    ///
    /// # Errors
    /// [`InvalidPolicy`] for one that cannot be obeyed.
    fn of(
        &self,
        policies: &AdapterPolicies,
    ) -> Result<Option<Arc<dyn AroundUpcall>>, InvalidPolicy>;
}
