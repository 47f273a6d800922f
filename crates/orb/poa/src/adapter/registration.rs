//! Registration of persistent adapters with the Implementation Repository.

use super::types::Adapter;
use crate::repository::Repository;
use crate::server_object::ServerObject;
use punctual_orb::{ObjectRef, SystemException};
use std::sync::Arc;

/// Name of the POA of the object by which the Implementation Repository calls this process.
const OWN: &str = "ImplementationRepository.ServerObject";

impl Adapter {
    /// Returns the link to the Implementation Repository through which the adapter's objects are reached; `None` for
    /// transient objects, and for an ORB that uses none.
    pub(crate) fn repository(&self) -> Option<&Arc<Repository>> {
        let repository = self.common.repository.as_ref();
        repository.filter(|_| self.policies.is_persistent())
    }

    /// Registers the adapter with the Implementation Repository, once, if its objects are reached through it. Blocks until
    /// the first attempt has ended.
    pub(super) fn register(&self) {
        if let Some(repository) = self.repository() {
            repository.register(self.name(), || self.server_object());
        }
    }

    /// Returns a new object by which the Implementation Repository calls this process. It is served whatever the states of
    /// the application's managers are.
    fn server_object(&self) -> Result<ObjectRef, SystemException> {
        let mut root = self;
        while let Some(parent) = &root.tree.parent {
            root = parent;
        }
        let gone = || crate::adapter::initialize("the root POA is gone");
        let root = root.poa().ok_or_else(gone)?;
        let poa = root.create_poa(OWN, None, &[])?;
        let id = poa.activate_object(Arc::new(ServerObject::of(&root.orb)))?;
        let object = poa.create_object_with_id(&id, ServerObject::REPOSITORY_ID);
        poa.manager().activate()?;
        Ok(object?)
    }
}
