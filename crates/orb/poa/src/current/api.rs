//! Application's queries about the upcall of the calling thread.

use super::upcalls::{ObjectUpcall, innermost};
use crate::adapter::{Adapter, root_named};
use crate::object_id::ObjectId;
use crate::poa::Poa;
use crate::servant::Servant;
use punctual_orb::{ObjectRef, SystemException};
use std::sync::Arc;

/// Upcall of the calling thread, whether its caller is remote or in this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Current;

/// Error of a query about an upcall: there is none, or its adapter or object no longer exists.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoContext {
    /// The calling thread is in no upcall.
    #[error("the calling thread is in no upcall")]
    NoUpcall,
    /// The adapter or the object has been destroyed since the upcall began.
    #[error("the POA or the object of the upcall no longer exists")]
    Gone,
    /// The reference to the object could not be made.
    #[error(transparent)]
    System(#[from] SystemException),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for NoContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Current {
    /// Returns the adapter of the object that is being called.
    ///
    /// # Errors
    /// [`NoContext`].
    pub fn poa(self) -> Result<Poa, NoContext> {
        poa_of(innermost().ok_or(NoContext::NoUpcall)?)
    }

    /// Returns the id of the object that is being called: a servant of many objects identifies it
    /// so.
    ///
    /// # Errors
    /// [`NoContext`].
    pub fn object_id(self) -> Result<ObjectId, NoContext> {
        Ok(innermost().ok_or(NoContext::NoUpcall)?.id())
    }

    /// Returns a reference to the object that is being called.
    ///
    /// # Errors
    /// [`NoContext`].
    pub fn reference(self) -> Result<ObjectRef, NoContext> {
        let (poa, id, servant) = (self.poa()?, self.object_id()?, self.servant()?);
        Ok(poa.reference_to(&id, &servant.primary_interface())?)
    }

    /// Returns the servant that is being called.
    ///
    /// # Errors
    /// [`NoContext`]; [`NoContext::Gone`] also if the object was deactivated in this very upcall.
    pub fn servant(self) -> Result<Arc<dyn Servant>, NoContext> {
        let upcall = innermost().ok_or(NoContext::NoUpcall)?;
        let poa = poa_of(upcall)?;
        let known = upcall.own_servant();
        let found = known.or_else(|| poa.active_servant(&upcall.id()));
        found.ok_or(NoContext::Gone)
    }
}

/// Returns the POA of the object that an upcall serves.
fn poa_of(upcall: ObjectUpcall) -> Result<Poa, NoContext> {
    adapter_of(upcall)
        .and_then(|adapter| adapter.poa())
        .ok_or(NoContext::Gone)
}

fn adapter_of(upcall: ObjectUpcall) -> Option<Arc<Adapter>> {
    let root = root_named(upcall.adapter.nonce);
    root.and_then(|root| root.named(upcall.adapter.name))
}

/// Returns the adapter of the calling thread's upcall, and writes the object's id to `id`.
pub(crate) fn serving(id: &mut Vec<u8>) -> Option<Arc<Adapter>> {
    let upcall = innermost()?;
    upcall.with_id(|octets| {
        id.clear();
        id.extend_from_slice(octets);
    });
    adapter_of(upcall)
}

// A query for the object outside of an upcall.
raised_as_bad_inv_order!(NoContext);
