//! Objects of the service: their ids, references, and the servants that they lead to.
//!
//! The id of a proxy is the service's identity and a number, eight bytes each. Numbers are never used twice under one
//! identity, so that the service can distinguish a proxy that is gone from one that never was: its `push`, `pull` and `try_pull` raise
//! `Disconnected`, all else OBJECT_NOT_EXIST. Other objects have names as their ids.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;
use punctual::poa::{
    Cookie, DispatchError, IdAssignmentPolicy, IdUniquenessPolicy, LifespanPolicy, PoaPolicy,
    RequestProcessingPolicy, ServantLocator, ServantManager, ServantRetentionPolicy,
};
use punctual::{
    Any, CompletionStatus, Implements, Interface, ObjectId, Poa, Servant, SystemException,
    SystemExceptionKind,
};

use crate::cos_event_comm::{
    Disconnected, PullSupplier, PullSupplierPullError, PullSupplierServant,
    PullSupplierTryPullError, PushConsumer, PushConsumerPushError, PushConsumerServant,
};
use crate::refusal::Refusal;

/// Name of the adapter.
const ADAPTER: &str = "EventService";

/// Objects, by their ids.
pub(crate) struct Objects {
    poa: Poa,
    table: Arc<Table>,
}

struct Table {
    servants: RwLock<HashMap<Vec<u8>, Arc<dyn Servant>>>,
    identity: u64,
    next: AtomicU64,
    /// Servants of proxies that are gone.
    gone: [Arc<dyn Servant>; 2],
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Objects").finish_non_exhaustive()
    }
}

impl Objects {
    /// Makes the adapter of all objects below `parent`. Numbers of proxies begin at `next`.
    ///
    /// # Errors
    /// The adapter cannot be made: its name is taken.
    pub(crate) fn new(parent: &Poa, identity: u64, next: u64) -> Result<Self, Refusal> {
        let failed = |error: &dyn fmt::Display| Refusal::NoResources(error.to_string());
        let policies = [
            PoaPolicy::Lifespan(LifespanPolicy::Persistent),
            PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
            PoaPolicy::IdUniqueness(IdUniquenessPolicy::Multiple),
            PoaPolicy::ServantRetention(ServantRetentionPolicy::NonRetain),
            PoaPolicy::RequestProcessing(RequestProcessingPolicy::ServantManager),
        ];
        let poa = parent.create_poa(ADAPTER, Some(parent.manager()), &policies);
        let poa = poa.map_err(|error| failed(&error))?;
        let table = Arc::new(Table {
            servants: RwLock::default(),
            identity,
            next: AtomicU64::new(next),
            gone: [
                <PushConsumer as Implements<Gone>>::servant(Gone),
                <PullSupplier as Implements<Gone>>::servant(Gone),
            ],
        });
        poa.set_servant_manager(ServantManager::Locator(table.clone()))
            .map_err(|error| failed(&error))?;
        Ok(Self { poa, table })
    }

    /// Returns a number that no proxy has had.
    pub(crate) fn number(&self) -> u64 {
        // Relaxed: only the number matters.
        self.table.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds an object, and returns its reference.
    ///
    /// # Errors
    /// The reference cannot be made.
    pub(crate) fn add<I: Interface>(
        &self,
        id: &[u8],
        servant: Arc<dyn Servant>,
    ) -> Result<I, Refusal> {
        let reference = self.reference(id)?;
        self.table.servants.write().insert(id.to_vec(), servant);
        Ok(reference)
    }

    /// Returns a reference to an object.
    ///
    /// # Errors
    /// The reference cannot be made.
    pub(crate) fn reference<I: Interface>(&self, id: &[u8]) -> Result<I, Refusal> {
        let reference = self.poa.create_reference_with_id(&ObjectId::from(id));
        reference.map_err(|error| Refusal::NoResources(error.to_string()))
    }

    /// Removes an object; calls in progress end as usual.
    pub(crate) fn remove(&self, id: &[u8]) {
        let removed = self.table.servants.write().remove(id);
        // It may own much, which is dropped without the lock.
        drop(removed);
    }

    /// Removes all objects.
    pub(crate) fn clear(&self) {
        let removed = std::mem::take(&mut *self.table.servants.write());
        drop(removed);
    }

    /// Returns the id of the proxy with a number.
    pub(crate) fn id_of(&self, number: u64) -> Vec<u8> {
        let parts = [self.table.identity.to_be_bytes(), number.to_be_bytes()];
        parts.concat()
    }
}

impl Table {
    /// Returns whether the id is of a proxy that has existed.
    fn has_existed(&self, id: &[u8]) -> bool {
        let Some((identity, number)) = id.split_first_chunk::<8>() else {
            return false;
        };
        let number = <[u8; 8]>::try_from(number).map(u64::from_be_bytes);
        let issued = self.next.load(Ordering::Relaxed);
        u64::from_be_bytes(*identity) == self.identity && number.is_ok_and(|number| number < issued)
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").finish_non_exhaustive()
    }
}

impl ServantLocator for Table {
    fn preinvoke(
        &self,
        id: &ObjectId,
        _: &Poa,
        operation: &str,
    ) -> Result<(Arc<dyn Servant>, Cookie), DispatchError> {
        let servant = self.servants.read().get(id.as_bytes()).cloned();
        // An empty cookie is not allocated.
        if let Some(servant) = servant {
            return Ok((servant, Box::new(())));
        }
        let [consumer, supplier] = &self.gone;
        let gone = match operation {
            "push" => Some(consumer),
            "pull" | "try_pull" => Some(supplier),
            _ => None,
        };
        match gone.filter(|_| self.has_existed(id.as_bytes())) {
            Some(servant) => Ok((servant.clone(), Box::new(()))),
            None => Err(not_there().into()),
        }
    }
}

fn not_there() -> SystemException {
    let kind = SystemExceptionKind::ObjectNotExist;
    SystemException::new(kind, 0, CompletionStatus::No)
        .with_detail("the proxy was disconnected, or its channel destroyed: obtain another one")
}

/// Servant of all proxies that are gone.
#[derive(Debug)]
struct Gone;

impl PushConsumerServant for Gone {
    fn push(&self, _: &Any) -> Result<(), PushConsumerPushError> {
        Err(Disconnected.into())
    }

    fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        Err(not_there())
    }
}

impl PullSupplierServant for Gone {
    fn pull(&self) -> Result<Any, PullSupplierPullError> {
        Err(Disconnected.into())
    }

    fn try_pull(&self) -> Result<(Any, bool), PullSupplierTryPullError> {
        Err(Disconnected.into())
    }

    fn disconnect_pull_supplier(&self) -> Result<(), SystemException> {
        Err(not_there())
    }
}
