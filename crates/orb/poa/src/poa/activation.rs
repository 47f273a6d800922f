//! Activation, deactivation and forwarding of objects (CORBA 3.3 part 1, §15.3.9.15 to §15.3.9.17).

use super::own_policies::differs;
use super::{Poa, PoaError};
use crate::current;
use crate::object_id::ObjectId;
use crate::object_map::{ActiveMap, EntryId, Lookup, Refused};
use crate::own_policies::OwnPolicies;
use crate::servant::{Implements, Servant};
use punctual_orb::{
    CompletionStatus, Interface, ObjectRef, SystemException, SystemExceptionKind as Kind, minor,
};
use std::sync::Arc;

impl Poa {
    /// Activates an object under an id of the adapter's choice and returns its reference, whose
    /// type is inferred: `let cubit: Cubit = poa.activate(CubitImpl)?`.
    ///
    /// An `Arc` of an implementation can be activated, too, so that the caller keeps access to it.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`] without RETAIN and SYSTEM_ID, [`PoaError::ServantAlreadyActive`]
    /// with UNIQUE_ID for an `Arc` that is active as this interface; NO_RESOURCES with 2^28
    /// objects.
    pub fn activate<I, S>(&self, servant: S) -> Result<I, PoaError>
    where
        I: Implements<S>,
    {
        let entry_id = self.activate_somewhere(I::servant(servant), None)?;
        self.reference_at(entry_id, I::REPOSITORY_ID)
            .map(I::from_object)
    }

    /// Activates an object under an id of the application's choice and returns its reference.
    ///
    /// # Errors
    /// Those of [`Poa::activate_object_with_id`].
    pub fn activate_with_id<I, S>(&self, id: &ObjectId, servant: S) -> Result<I, PoaError>
    where
        I: Implements<S>,
    {
        let entry_id = self.activate_under(id, I::servant(servant), None)?;
        self.reference_at(entry_id, I::REPOSITORY_ID)
            .map(I::from_object)
    }

    /// Activates an object under an id of the adapter's choice, which is returned. No reference is made.
    ///
    /// # Errors
    /// Those of [`Poa::activate`].
    pub fn activate_object(&self, servant: Arc<dyn Servant>) -> Result<ObjectId, PoaError> {
        let entry_id = self.activate_somewhere(servant, None)?;
        self.id_at(entry_id)
    }

    /// Activates an object under an id of the application's choice. Waits for an object with that id that is
    /// being deactivated.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`] without RETAIN; [`PoaError::ObjectAlreadyActive`],
    /// [`PoaError::ServantAlreadyActive`] with UNIQUE_ID; BAD_PARAM with SYSTEM_ID for an id that the adapter
    /// has not assigned, and with perfect hashing for one that it does not know.
    pub fn activate_object_with_id(
        &self,
        id: &ObjectId,
        servant: Arc<dyn Servant>,
    ) -> Result<(), PoaError> {
        self.activate_under(id, servant, None).map(drop)
    }

    /// Deactivates an object: later calls raise OBJECT_NOT_EXIST, or get the servant that a servant
    /// manager provides; those in progress finish. The servant is dropped after the last of them.
    /// May be called in an upcall on the object itself.
    ///
    /// # Errors
    /// [`PoaError::WrongAdapter`], [`PoaError::WrongPolicy`] without RETAIN,
    /// [`PoaError::ObjectNotActive`].
    pub fn deactivate(&self, object: &impl Interface) -> Result<(), PoaError> {
        let map = self.map()?;
        let (id, hint) = self.named_by(object.as_object())?;
        self.deactivate_in(map, &id, hint)
    }

    /// Deactivates an object, as [`Poa::deactivate`] does.
    ///
    /// # Errors
    /// Those of [`Poa::deactivate`].
    pub fn deactivate_object(&self, id: &ObjectId) -> Result<(), PoaError> {
        self.deactivate_in(self.map()?, id, None)
    }

    /// Forwards the callers of an active object to another from now on (LOCATION_FORWARD), until it
    /// is deactivated.
    ///
    /// # Errors
    /// Those of [`Poa::deactivate`].
    pub fn forward(&self, object: &impl Interface, to: &impl Interface) -> Result<(), PoaError> {
        let map = self.map()?;
        let (id, hint) = self.named_by(object.as_object())?;
        let Lookup::Pinned(pinned) = map.find(id.as_bytes(), hint) else {
            return Err(PoaError::ObjectNotActive);
        };
        match map.forward(pinned.entry_id(), to.as_object().clone()) {
            true => Ok(()),
            false => Err(PoaError::ObjectNotActive),
        }
    }

    /// Returns the number of active objects of this POA.
    #[must_use]
    pub fn active_objects(&self) -> usize {
        self.adapter.map().map_or(0, ActiveMap::len)
    }

    pub(super) fn activate_somewhere(
        &self,
        servant: Arc<dyn Servant>,
        own: Option<Arc<OwnPolicies>>,
    ) -> Result<EntryId, PoaError> {
        let map = self.map()?;
        if !self.adapter.policies.has_system_ids() {
            return Err(PoaError::WrongPolicy("SYSTEM_ID"));
        }
        self.check_alive()?;
        let activated = match self.adapter.map_assigns_ids() {
            true => map.activate_under(None, servant, || Ok(own)),
            false => {
                let id = self.adapter.assign_id();
                map.activate_under(Some(id.as_bytes()), servant, || Ok(own))
            }
        };
        activated.map_err(refused)
    }

    /// Activates an object under an id, with its own policies: the given ones, or those with which
    /// references to it were made.
    pub(super) fn activate_under(
        &self,
        id: &ObjectId,
        servant: Arc<dyn Servant>,
        own: Option<Arc<OwnPolicies>>,
    ) -> Result<EntryId, PoaError> {
        let map = self.map()?;
        self.check_id(id)?;
        let own = || self.adapter.own.of_activated(id.as_bytes(), own.clone());
        loop {
            self.check_alive()?;
            match map.activate_under(Some(id.as_bytes()), servant.clone(), own) {
                // The wait would be for the thread's own upcall, and never end.
                Err(Refused::Closing)
                    if current::is_in_upcall_on(self.adapter.id(), id.as_bytes()) =>
                {
                    return Err(PoaError::ObjectAlreadyActive);
                }
                Err(Refused::Closing) => map.wait_while_closing(id.as_bytes()),
                activated => return activated.map_err(refused),
            }
        }
    }

    fn deactivate_in(
        &self,
        map: &ActiveMap,
        id: &ObjectId,
        hint: Option<EntryId>,
    ) -> Result<(), PoaError> {
        let Lookup::Pinned(pinned) = map.find(id.as_bytes(), hint) else {
            return Err(PoaError::ObjectNotActive);
        };
        match map.deactivate(pinned.entry_id()) {
            true => Ok(()),
            false => Err(PoaError::ObjectNotActive),
        }
    }

    /// Refuses an id that the adapter cannot have assigned, where it assigns the ids itself.
    pub(super) fn check_id(&self, id: &ObjectId) -> Result<(), SystemException> {
        if !self.adapter.policies.has_system_ids() || self.adapter.may_have_assigned(id) {
            return Ok(());
        }
        let exception = SystemException::new(Kind::BadParam, minor::omg(14), CompletionStatus::No);
        Err(exception.with_detail(format!(
            "the POA assigns ids itself (SYSTEM_ID), and has not assigned `{id}`"
        )))
    }

    /// Returns the active object map of this POA.
    pub(super) fn map(&self) -> Result<&ActiveMap, PoaError> {
        self.adapter.map().ok_or(PoaError::WrongPolicy("RETAIN"))
    }

    /// Returns the reference of an object that was just activated.
    fn reference_at(&self, entry_id: EntryId, type_id: &str) -> Result<ObjectRef, PoaError> {
        let pinned = self.map()?.pin(entry_id).ok_or(PoaError::ObjectNotActive)?;
        if self.adapter.factory.is_some() {
            return Ok(self.reference_to(&pinned.id.octets(entry_id).into(), type_id)?);
        }
        let key = self.adapter.key_of(entry_id, pinned.id.as_deref());
        Ok(self.reference_by_key(type_id, &key, pinned.own.as_deref())?)
    }

    /// Returns the id of an object that was just activated.
    pub(super) fn id_at(&self, entry_id: EntryId) -> Result<ObjectId, PoaError> {
        let pinned = self.map()?.pin(entry_id);
        // An object that was deactivated again since still had its id.
        let id = pinned.map(|pinned| pinned.id.octets(entry_id).into());
        Ok(id.unwrap_or_else(|| (&entry_id.octets()).into()))
    }
}

pub(super) fn refused(why: Refused) -> PoaError {
    let because = |kind, minor, why: &str| {
        let exception = SystemException::new(kind, minor, CompletionStatus::No);
        PoaError::System(exception.with_detail(why))
    };
    match why {
        Refused::ObjectAlreadyActive | Refused::Closing => PoaError::ObjectAlreadyActive,
        Refused::Gone => because(
            Kind::ObjectNotExist,
            minor::NO_ADAPTER,
            "the POA is being destroyed",
        ),
        Refused::ServantAlreadyActive(_) => PoaError::ServantAlreadyActive,
        Refused::Full => because(
            Kind::NoResources,
            minor::LIMIT,
            "the active object map is full",
        ),
        Refused::NotInTheSet => because(
            Kind::BadParam,
            minor::VALUE,
            "the id is not in the set of the perfect hash",
        ),
        Refused::OwnPolicyDiffers => differs().into(),
    }
}
