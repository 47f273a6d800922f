//! The root POA.

use crate::active_map::{Active, ActiveMap, Identity, ObjectId};
use crate::key::{self, Nonce};
use crate::manager::{ManagerState, PoaManager, inactive};
use crate::servant::Implements;
use crate::upcall;
use punctual_orb::probe::{self, Point};
use punctual_orb::{
    CompletionStatus, DispatchError, Dispatched, Interface, Location, ObjectAdapter, ObjectRef,
    Orb, ServerCall, SystemException, SystemExceptionKind as Kind, minor,
};
use std::any::Any;
use std::sync::Arc;

/// Gives an ORB its root POA.
pub trait RootPoa {
    /// The root POA, made at the first call, when the ORB begins to listen. Its manager holds requests
    /// until it is activated.
    ///
    /// # Errors
    /// INITIALIZE when an endpoint cannot be listened at or there are no random numbers to be had;
    /// BAD_INV_ORDER after a shutdown.
    fn root_poa(&self) -> Result<Poa, SystemException>;
}

impl RootPoa for Orb {
    fn root_poa(&self) -> Result<Poa, SystemException> {
        let nonce = Nonce::random().map_err(|error| {
            SystemException::new(
                Kind::Initialize,
                minor::BROKEN_INVARIANT,
                CompletionStatus::No,
            )
            .with_detail(format!("no random numbers for object keys: {error}"))
        })?;
        let adapter = self.adapter_or_set(|| Arc::new(Shared::new(nonce)));
        let shared = adapter.clone().as_any().downcast::<Shared>().map_err(|_| {
            SystemException::new(
                Kind::Initialize,
                minor::BROKEN_INVARIANT,
                CompletionStatus::No,
            )
            .with_detail("this ORB has another object adapter")
        })?;
        self.listen()?;
        Ok(Poa {
            orb: self.clone(),
            shared,
        })
    }
}

/// A Portable Object Adapter. Cheap to clone; clones are the same adapter.
#[derive(Clone, Debug)]
pub struct Poa {
    orb: Orb,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    nonce: Nonce,
    map: ActiveMap,
    manager: PoaManager,
}

/// Why an object could not be found at an adapter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PoaError {
    /// The reference was not made by this adapter.
    #[error("the reference was not made by this POA")]
    WrongAdapter,
    /// The object is not (or no longer) active.
    #[error("the object is not active")]
    ObjectNotActive,
}

impl Poa {
    /// Activates an object under an id of the adapter's choice and returns its reference, whose type is
    /// inferred: `let cubit: Cubit = poa.activate(CubitImpl)?`.
    ///
    /// An `Arc` of an implementation is one too; give that to keep a hold on it.
    ///
    /// # Errors
    /// BAD_INV_ORDER after a shutdown, NO_RESOURCES with 2^32 objects.
    pub fn activate<I, S>(&self, servant: S) -> Result<I, SystemException>
    where
        I: Implements<S>,
    {
        self.orb.listen()?;
        let active = Active::Servant(I::skeleton(servant));
        let id = self.shared.map.insert(active, None).ok_or_else(no_place)?;
        self.reference(I::REPOSITORY_ID, id).map(I::from_object)
    }

    /// The reference of an implementation as an interface: always the same one, until it is deactivated.
    /// The first call activates it. [`Poa::activate`] is another activation, under another id.
    ///
    /// # Errors
    /// Those of [`Poa::activate`].
    pub fn servant_to_reference<I, S>(&self, servant: &Arc<S>) -> Result<I, SystemException>
    where
        S: ?Sized,
        I: Implements<Arc<S>>,
    {
        self.orb.listen()?;
        let make = || Active::Servant(I::skeleton(servant.clone()));
        let identity = Identity::of(servant, I::REPOSITORY_ID);
        let found = self.shared.map.find_or_insert(identity, make);
        let id = found.ok_or_else(no_place)?;
        self.reference(I::REPOSITORY_ID, id).map(I::from_object)
    }

    /// Ends an object: later calls raise OBJECT_NOT_EXIST, those in progress finish. The servant is
    /// dropped after the last of them.
    ///
    /// # Errors
    /// [`PoaError`] when it is not one of this adapter's, or not active.
    pub fn deactivate(&self, object: &impl Interface) -> Result<(), PoaError> {
        let id = self.shared.id_of(object.as_object())?;
        // Dropped here, after the map's lock: a servant's own drop may call into the adapter.
        self.shared
            .map
            .remove(id)
            .map(drop)
            .ok_or(PoaError::ObjectNotActive)
    }

    /// Sends callers of an active object elsewhere from now on (LOCATION_FORWARD); its servant is let
    /// go as by [`Poa::deactivate`].
    ///
    /// # Errors
    /// [`PoaError`] when it is not one of this adapter's, or not active.
    pub fn forward(&self, object: &impl Interface, to: &impl Interface) -> Result<(), PoaError> {
        let id = self.shared.id_of(object.as_object())?;
        let forward = Active::Forward(to.as_object().clone());
        self.shared
            .map
            .replace(id, forward)
            .map(drop)
            .ok_or(PoaError::ObjectNotActive)
    }

    /// What decides whether requests are served.
    #[must_use]
    pub fn manager(&self) -> &PoaManager {
        &self.shared.manager
    }

    /// How many objects are active.
    #[must_use]
    pub fn active_objects(&self) -> usize {
        self.shared.map.len()
    }

    fn reference(&self, type_id: &str, id: ObjectId) -> Result<ObjectRef, SystemException> {
        self.orb
            .make_reference(type_id, &key::encode(self.shared.nonce, id))
    }
}

impl Shared {
    fn new(nonce: Nonce) -> Self {
        Self {
            nonce,
            map: ActiveMap::default(),
            manager: PoaManager::new(),
        }
    }

    fn id_of(&self, object: &ObjectRef) -> Result<ObjectId, PoaError> {
        let key = object.object_key().ok_or(PoaError::WrongAdapter)?;
        key::decode(self.nonce, &key).ok_or(PoaError::WrongAdapter)
    }

    fn find(&self, object_key: &[u8]) -> Option<Active> {
        probe::begins!(Point::ServerObjectKey);
        let id = key::decode(self.nonce, object_key)?;
        probe::begins!(Point::ServerServant);
        self.map.find(id)
    }
}

impl ObjectAdapter for Shared {
    fn dispatch(
        &self,
        object_key: &[u8],
        call: &mut ServerCall<'_>,
    ) -> Result<Dispatched, DispatchError> {
        probe::begins!(Point::ServerAdapter);
        self.manager.admit()?;
        match self.find(object_key) {
            Some(Active::Servant(servant)) => upcall::answer(&*servant, call),
            Some(Active::Forward(to)) => Err(DispatchError::Forward(to)),
            // Told from an object that is gone: that would be for good.
            None if self.manager.state() == ManagerState::Inactive => Err(inactive().into()),
            None => Err(not_active().into()),
        }
    }

    fn locate(&self, object_key: &[u8]) -> Location {
        match self.find(object_key) {
            Some(Active::Servant(_)) => Location::Here,
            Some(Active::Forward(to)) => Location::Forward(to),
            None => Location::Unknown,
        }
    }

    fn shut_down(&self) {
        self.manager.deactivate();
    }

    fn release(&self) {
        // Calls in progress keep the servants they are in.
        drop(self.map.clear());
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

fn not_active() -> SystemException {
    SystemException::new(
        Kind::ObjectNotExist,
        minor::NOT_ACTIVE,
        CompletionStatus::No,
    )
    .with_detail("no active object has this object key")
}

fn no_place() -> SystemException {
    SystemException::new(Kind::NoResources, minor::LIMIT, CompletionStatus::No)
        .with_detail("the adapter has no place for one more object")
}
