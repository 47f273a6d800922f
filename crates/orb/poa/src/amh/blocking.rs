//! A servant that answers later, as callers of its own process see it.

use super::here;
use super::response::Response;
use punctual_orb::OperationError;
use std::fmt;
use std::sync::Arc;

/// A servant that answers later, as a servant whose methods return the answer: they wait for it. Callers within the process
/// are given it; the IDL compiler implements servant traits for it.
pub struct Blocking<T: ?Sized>(Arc<T>);

impl<T: ?Sized> Blocking<T> {
    pub(super) fn new(servant: Arc<T>) -> Self {
        Self(servant)
    }

    /// The servant.
    #[must_use]
    pub fn servant(&self) -> &Arc<T> {
        &self.0
    }

    /// Has the servant begin a call, and waits for its answer. For generated code.
    ///
    /// # Errors
    /// What the servant answers.
    #[doc(hidden)]
    pub fn call<R, E: OperationError>(
        &self,
        begin: impl FnOnce(&T, Response<R, E>),
    ) -> Result<R, E> {
        let (here, waiter) = here::pair();
        begin(&self.0, Response::to_caller(here));
        waiter.wait()
    }
}

impl<T: ?Sized> fmt::Debug for Blocking<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocking").finish_non_exhaustive()
    }
}
