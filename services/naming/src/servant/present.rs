//! Servant for all existing objects of an adapter.
//!
//! A default servant is not sufficient, as `_non_existent` would then be false for objects that do
//! not exist.

use std::fmt;
use std::sync::Arc;

use punctual::poa::{Cookie, DispatchError, ServantLocator, ServantManager};
use punctual::{CompletionStatus, ObjectId, Poa, Servant, SystemException, SystemExceptionKind};

/// Servant locator that provides one servant for all objects for which `has` returns true.
pub(super) struct ExistingObjects<F> {
    servant: Arc<dyn Servant>,
    has: F,
}

impl<F: Fn(&ObjectId) -> bool + Send + Sync + 'static> ExistingObjects<F> {
    /// Returns a servant manager that provides the servant for the objects for which `has` returns
    /// true; calls to others raise OBJECT_NOT_EXIST.
    pub(super) fn when(servant: Arc<dyn Servant>, has: F) -> ServantManager {
        ServantManager::Locator(Arc::new(Self { servant, has }))
    }
}

impl<F> fmt::Debug for ExistingObjects<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Present").finish_non_exhaustive()
    }
}

impl<F: Fn(&ObjectId) -> bool + Send + Sync + 'static> ServantLocator for ExistingObjects<F> {
    fn preinvoke(
        &self,
        id: &ObjectId,
        _: &Poa,
        _: &str,
    ) -> Result<(Arc<dyn Servant>, Cookie), DispatchError> {
        if (self.has)(id) {
            // An empty cookie is not allocated.
            return Ok((self.servant.clone(), Box::new(())));
        }
        let kind = SystemExceptionKind::ObjectNotExist;
        let gone = SystemException::new(kind, 0, CompletionStatus::No);
        Err(gone
            .with_detail("the context or iterator was destroyed")
            .into())
    }
}
