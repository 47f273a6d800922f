//! Objects of the service: their ids, references, and the servants that they lead to.
//!
//! The id of a numbered object is the service's identity and its number, eight bytes each. Numbers are never used twice
//! under one identity, so that the service can distinguish an object that is gone from one that never was. Other objects
//! have names as their ids.

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
    CompletionStatus, Interface, ObjectId, ObjectRef, Poa, Servant, SystemException,
    SystemExceptionKind,
};
use thiserror::Error;

/// Servants that answer for numbered objects that are gone, by operation: `None` raises OBJECT_NOT_EXIST.
pub type Gone = Box<dyn Fn(&str) -> Option<Arc<dyn Servant>> + Send + Sync>;

/// Reason for which an adapter or a reference could not be made.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct NotMade(pub String);

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for NotMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Objects, by their ids.
pub struct Objects {
    poa: Poa,
    table: Arc<Table>,
}

struct Table {
    servants: RwLock<HashMap<Vec<u8>, Arc<dyn Servant>>>,
    identity: u64,
    next: AtomicU64,
    gone: Gone,
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Objects").finish_non_exhaustive()
    }
}

impl Objects {
    /// Makes the adapter of all objects below `parent`. Numbers begin at `next`.
    ///
    /// # Errors
    /// The adapter cannot be made: its name is taken.
    pub fn new(
        parent: &Poa,
        adapter: &str,
        (identity, next): (u64, u64),
        gone: Gone,
    ) -> Result<Self, NotMade> {
        let failed = |error: &dyn fmt::Display| NotMade(error.to_string());
        let policies = [
            PoaPolicy::Lifespan(LifespanPolicy::Persistent),
            PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
            PoaPolicy::IdUniqueness(IdUniquenessPolicy::Multiple),
            PoaPolicy::ServantRetention(ServantRetentionPolicy::NonRetain),
            PoaPolicy::RequestProcessing(RequestProcessingPolicy::ServantManager),
        ];
        let poa = parent.create_poa(adapter, Some(parent.manager()), &policies);
        let poa = poa.map_err(|error| failed(&error))?;
        let table = Arc::new(Table {
            servants: RwLock::default(),
            identity,
            next: AtomicU64::new(next),
            gone,
        });
        poa.set_servant_manager(ServantManager::Locator(table.clone()))
            .map_err(|error| failed(&error))?;
        Ok(Self { poa, table })
    }

    /// Returns a number that no object has had.
    pub fn number(&self) -> u64 {
        // Relaxed: only the number matters.
        self.table.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds an object, and returns its reference.
    ///
    /// # Errors
    /// The reference cannot be made.
    pub fn add<I: Interface>(&self, id: &[u8], servant: Arc<dyn Servant>) -> Result<I, NotMade> {
        let reference = self.reference(id)?;
        self.table.servants.write().insert(id.to_vec(), servant);
        Ok(reference)
    }

    /// Adds an object whose interface is known at run time only, by its repository id, and returns its reference.
    ///
    /// # Errors
    /// The reference cannot be made.
    pub fn add_of(
        &self,
        id: &[u8],
        interface: &str,
        servant: Arc<dyn Servant>,
    ) -> Result<ObjectRef, NotMade> {
        let reference = self
            .poa
            .create_object_with_id(&ObjectId::from(id), interface);
        let reference = reference.map_err(|error| NotMade(error.to_string()))?;
        self.table.servants.write().insert(id.to_vec(), servant);
        Ok(reference)
    }

    /// Returns a reference to an object.
    ///
    /// # Errors
    /// The reference cannot be made.
    pub fn reference<I: Interface>(&self, id: &[u8]) -> Result<I, NotMade> {
        let reference = self.poa.create_reference_with_id(&ObjectId::from(id));
        reference.map_err(|error| NotMade(error.to_string()))
    }

    /// Returns the id of the numbered object that a reference leads to, if it is of this identity.
    #[must_use]
    pub fn id_in(&self, reference: &impl Interface) -> Option<Vec<u8>> {
        let id = self.poa.reference_to_id(reference).ok()?;
        let identity = self.table.identity.to_be_bytes();
        let is_own = id.as_bytes().starts_with(&identity);
        is_own.then(|| id.as_bytes().to_vec())
    }

    /// Removes an object; calls in progress end as usual.
    pub fn remove(&self, id: &[u8]) {
        let removed = self.table.servants.write().remove(id);
        // It may own much, which is dropped without the lock.
        drop(removed);
    }

    /// Removes all objects.
    pub fn clear(&self) {
        let removed = std::mem::take(&mut *self.table.servants.write());
        drop(removed);
    }

    /// Returns the id of the object with a number.
    pub fn id_of(&self, number: u64) -> Vec<u8> {
        let parts = [self.table.identity.to_be_bytes(), number.to_be_bytes()];
        parts.concat()
    }
}

impl Table {
    /// Returns whether the id is of a numbered object that has existed.
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
        let gone = self
            .has_existed(id.as_bytes())
            .then(|| (self.gone)(operation));
        match gone.flatten() {
            Some(servant) => Ok((servant, Box::new(()))),
            None => Err(not_there().into()),
        }
    }
}

/// Returns the exception of calls to objects that are gone.
fn not_there() -> SystemException {
    let kind = SystemExceptionKind::ObjectNotExist;
    SystemException::new(kind, 0, CompletionStatus::No)
        .with_detail("it was disconnected or destroyed: obtain another one")
}
