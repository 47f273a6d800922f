//! Synchronous view of a servant that answers later, for callers in its own process.

use super::here;
use super::response::Response;
use punctual_orb::OperationError;
use std::fmt;
use std::sync::Arc;

/// Servant that answers later, with methods that wait for the answer and return it, for callers
/// within the process. The IDL compiler implements servant traits for it.
pub struct Blocking<T: ?Sized>(Arc<T>);

impl<T: ?Sized> Blocking<T> {
    pub(super) fn new(servant: Arc<T>) -> Self {
        Self(servant)
    }

    /// Returns the wrapped blocking servant.
    #[must_use]
    pub fn servant(&self) -> &Arc<T> {
        &self.0
    }

    /// Begins a call at the servant, and waits for its answer. For generated code.
    ///
    /// # Errors
    /// Exceptions that the servant answers with.
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
