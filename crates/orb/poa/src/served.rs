//! Object of an upcall, in the form that interceptors get.

use crate::adapter::Adapter;
use crate::current::serving;
use crate::servant::Servant;
use punctual_orb::{Policy, ServedObject};
use std::cell::Cell;
use std::sync::Arc;

/// Object of an upcall. Kept for the interception points at the end of a request, when the upcall
/// is over.
#[derive(Default)]
pub(crate) struct ServedObjectInfo {
    id: Vec<u8>,
    /// `None` in memory that is kept for a later request.
    object: Option<(Arc<Adapter>, Arc<dyn Servant>)>,
}

/// Length of the longest object id whose memory a thread keeps, in bytes: a peer determines it.
const KEPT: usize = 1024;

thread_local! {
    /// Memory of an earlier request of the thread, so that requests do not allocate.
    static SPARE: Cell<Option<Box<ServedObjectInfo>>> = const { Cell::new(None) };
}

impl ServedObjectInfo {
    /// Returns the object of the upcall that the calling thread is about to make.
    pub(crate) fn now(servant: &Arc<dyn Servant>) -> Option<Box<dyn ServedObject>> {
        let mut info = SPARE
            .try_with(Cell::take)
            .ok()
            .flatten()
            .unwrap_or_default();
        let adapter = serving(&mut info.id)?;
        info.object = Some((adapter, servant.clone()));
        Some(info)
    }

    fn adapter(&self) -> Option<&Adapter> {
        self.object.as_ref().map(|(adapter, _)| &**adapter)
    }

    fn servant(&self) -> Option<&dyn Servant> {
        self.object.as_ref().map(|(_, servant)| &**servant)
    }
}

impl ServedObject for ServedObjectInfo {
    fn object_id(&self) -> Vec<u8> {
        self.id.clone()
    }

    fn adapter_id(&self) -> Vec<u8> {
        self.adapter_name().join("/").into_bytes()
    }

    fn adapter_name(&self) -> Vec<String> {
        self.adapter().map(Adapter::full_name).unwrap_or_default()
    }

    fn most_derived_interface(&self) -> String {
        let servant = self.servant();
        servant.map_or_else(String::new, |one| one.primary_interface().into_owned())
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.servant().is_some_and(|one| one.is_a(repository_id))
    }

    fn policy(&self, policy_type: u32) -> Option<Policy> {
        self.adapter()?.policy_of_type(policy_type)
    }

    fn release(mut self: Box<Self>) {
        self.object = None;
        self.id.clear();
        if self.id.capacity() <= KEPT {
            // Not kept by a thread that is ending.
            let _ = SPARE.try_with(|spare| spare.set(Some(self)));
        }
    }
}
