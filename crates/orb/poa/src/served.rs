//! Object of an upcall, in the form that interceptors get.

use crate::adapter::Adapter;
use crate::current::serving;
use crate::object_id::ObjectId;
use crate::servant::Servant;
use punctual_orb::{Policy, ServedObject};
use std::sync::Arc;

/// Object of an upcall. Kept for the interception points at the end of a request, when the upcall
/// is over.
pub(crate) struct ServedObjectInfo {
    adapter: Arc<Adapter>,
    id: ObjectId,
    servant: Arc<dyn Servant>,
}

impl ServedObjectInfo {
    /// Returns the object of the upcall that the calling thread is about to make.
    pub(crate) fn now(servant: &Arc<dyn Servant>) -> Option<Box<dyn ServedObject>> {
        let (adapter, id) = serving()?;
        Some(Box::new(Self {
            adapter,
            id,
            servant: servant.clone(),
        }))
    }
}

impl ServedObject for ServedObjectInfo {
    fn object_id(&self) -> Vec<u8> {
        self.id.as_bytes().to_vec()
    }

    fn adapter_id(&self) -> Vec<u8> {
        self.adapter.full_name().join("/").into_bytes()
    }

    fn adapter_name(&self) -> Vec<String> {
        self.adapter.full_name()
    }

    fn most_derived_interface(&self) -> String {
        self.servant.primary_interface().into_owned()
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.servant.is_a(repository_id)
    }

    fn policy(&self, policy_type: u32) -> Option<Policy> {
        self.adapter.policy_of_type(policy_type)
    }
}
