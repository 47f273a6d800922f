//! A servant for all objects of an adapter that are there.
//!
//! A default servant would do, but then an object that is not there would not be missed by `_non_existent`.

use std::fmt;
use std::sync::Arc;

use punctual::{
    CompletionStatus, Cookie, DispatchError, ObjectId, Poa, Servant, ServantLocator,
    ServantManager, SystemException, SystemExceptionKind,
};

use super::Server;

/// Locates one servant.
pub(super) struct Present {
    server: Server,
    servant: Arc<dyn Servant>,
    has: fn(&Server, &ObjectId) -> bool,
}

impl Present {
    /// The servant for objects with ids that `has` knows; for others OBJECT_NOT_EXIST.
    pub(super) fn when(
        server: Server,
        servant: Arc<dyn Servant>,
        has: fn(&Server, &ObjectId) -> bool,
    ) -> ServantManager {
        ServantManager::Locator(Arc::new(Self {
            server,
            servant,
            has,
        }))
    }
}

impl fmt::Debug for Present {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Present").finish_non_exhaustive()
    }
}

impl ServantLocator for Present {
    fn preinvoke(
        &self,
        id: &ObjectId,
        _: &Poa,
        _: &str,
    ) -> Result<(Arc<dyn Servant>, Cookie), DispatchError> {
        if (self.has)(&self.server, id) {
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
