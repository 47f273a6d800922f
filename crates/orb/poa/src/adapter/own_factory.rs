//! Adapter as the factory of its own references: IOR interceptors get the factory before the
//! adapter exists.

use super::types::Adapter;
use punctual_orb::{
    CompletionStatus, Ior, ObjectReferenceFactory, SystemException, SystemExceptionKind as Kind,
    minor,
};
use std::sync::{Arc, OnceLock, Weak};

/// Factory that refers to an adapter; the adapter is set once it exists.
#[derive(Debug, Default)]
pub(super) struct OwnFactory(OnceLock<Weak<Adapter>>);

impl OwnFactory {
    /// Sets the adapter whose references the factory makes, once the adapter exists.
    pub(super) fn set_adapter(&self, adapter: &Arc<Adapter>) {
        self.0.get_or_init(|| Arc::downgrade(adapter));
    }
}

impl ObjectReferenceFactory for OwnFactory {
    fn make_object(&self, repository_id: &str, object_id: &[u8]) -> Result<Ior, SystemException> {
        let adapter = self.0.get().and_then(Weak::upgrade);
        let poa = adapter.and_then(|adapter| adapter.poa());
        let poa = poa.ok_or_else(not_there)?;
        let object = poa.own_reference_to(&object_id.into(), repository_id)?;
        Ok(object.ior().clone())
    }
}

fn not_there() -> SystemException {
    SystemException::new(
        Kind::ObjectNotExist,
        minor::NO_ADAPTER,
        CompletionStatus::No,
    )
    .with_detail("the POA does not exist yet, or has been destroyed")
}
