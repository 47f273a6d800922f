//! Conversions between references, ids and servants (CORBA 3.3 part 1, §15.3.9.18 to §15.3.9.25).

use super::activation::refused;
use super::{Poa, PoaError};
use crate::current::Current;
use crate::key::Key;
use crate::object_id::ObjectId;
use crate::object_map::{EntryId, Lookup};
use crate::own_policies::OwnPolicies;
use crate::policy::RequestProcessingPolicy;
use crate::servant::{Implements, Servant};
use punctual_orb::{Interface, ObjectRef, SystemException};
use std::sync::Arc;

impl Poa {
    /// Makes a reference to an inactive object, under an id that the adapter chooses. A servant
    /// manager or a default servant serves it, or it is activated later ([`Poa::reference_to_id`]).
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`] without SYSTEM_ID.
    pub fn create_reference<I: Interface>(&self) -> Result<I, PoaError> {
        let id = self.fresh_id()?;
        self.create_reference_with_id(&id)
    }

    /// Returns an object id that no object of this POA has had.
    pub(super) fn fresh_id(&self) -> Result<ObjectId, PoaError> {
        if !self.adapter.policies.has_system_ids() {
            return Err(PoaError::WrongPolicy("SYSTEM_ID"));
        }
        let fresh = match self.adapter.map() {
            Some(map) if self.adapter.map_assigns_ids() => map.fresh_entry_id(),
            _ => None,
        };
        Ok(match fresh {
            Some(entry_id) => (&entry_id.octets()).into(),
            None => self.adapter.assign_id(),
        })
    }

    /// Makes a reference to the object with an id, whether or not it is active.
    ///
    /// # Errors
    /// BAD_PARAM with SYSTEM_ID for an id that the adapter has not assigned.
    pub fn create_reference_with_id<I: Interface>(&self, id: &ObjectId) -> Result<I, PoaError> {
        self.create_object_with_id(id, I::REPOSITORY_ID)
            .map(I::from_object)
    }

    /// Makes a reference to the object with an id, whose interface is known at run time only, by
    /// its repository id.
    ///
    /// # Errors
    /// Those of [`Poa::create_reference_with_id`].
    pub fn create_object_with_id(
        &self,
        id: &ObjectId,
        repository_id: &str,
    ) -> Result<ObjectRef, PoaError> {
        self.check_id(id)?;
        self.check_alive()?;
        Ok(self.reference_to(id, repository_id)?)
    }

    /// Returns the reference of an implementation as an interface. With UNIQUE_ID a servant has one
    /// id, so the reference is always the same until the servant is deactivated; with
    /// IMPLICIT_ACTIVATION an inactive servant is activated. In an upcall on the servant the result
    /// is the reference of the called object.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`] if neither UNIQUE_ID nor IMPLICIT_ACTIVATION applies,
    /// [`PoaError::ServantNotActive`], and those of [`Poa::activate`].
    pub fn servant_to_reference<I, S>(&self, servant: &Arc<S>) -> Result<I, PoaError>
    where
        S: ?Sized,
        I: Implements<Arc<S>>,
    {
        let id = self.servant_to_id(&I::servant(servant.clone()))?;
        Ok(I::from_object(self.reference_to(&id, I::REPOSITORY_ID)?))
    }

    /// Returns the id of a servant, which is activated on demand, as by
    /// [`Poa::servant_to_reference`].
    ///
    /// # Errors
    /// Those of [`Poa::servant_to_reference`].
    pub fn servant_to_id(&self, servant: &Arc<dyn Servant>) -> Result<ObjectId, PoaError> {
        let policies = &self.adapter.policies;
        let by_default = policies.processing == RequestProcessingPolicy::DefaultServant;
        let helps = policies.retains() && (policies.is_unique() || policies.is_implicit());
        if helps && let Some(id) = self.id_in_map(servant)? {
            return Ok(id);
        }
        // In an upcall of the adapter on this servant policies do not matter.
        match self.id_called(servant) {
            Some(id) => Ok(id),
            None if helps || by_default => Err(PoaError::ServantNotActive),
            None => Err(PoaError::WrongPolicy("UNIQUE_ID or IMPLICIT_ACTIVATION")),
        }
    }

    /// Returns the servant of an active object, or the default servant.
    ///
    /// # Errors
    /// [`PoaError::WrongAdapter`], [`PoaError::ObjectNotActive`], [`PoaError::WrongPolicy`] without
    /// RETAIN or USE_DEFAULT_SERVANT.
    pub fn reference_to_servant(
        &self,
        object: &impl Interface,
    ) -> Result<Arc<dyn Servant>, PoaError> {
        let (id, hint) = self.named_by(object.as_object())?;
        self.servant_of(&id, hint)
    }

    /// Returns the id that a reference of this adapter names.
    ///
    /// # Errors
    /// [`PoaError::WrongAdapter`].
    pub fn reference_to_id(&self, object: &impl Interface) -> Result<ObjectId, PoaError> {
        self.named_by(object.as_object()).map(|(id, _)| id)
    }

    /// Returns the servant of the object with an id, or the default servant.
    ///
    /// # Errors
    /// Those of [`Poa::reference_to_servant`].
    pub fn id_to_servant(&self, id: &ObjectId) -> Result<Arc<dyn Servant>, PoaError> {
        self.servant_of(id, None)
    }

    /// Returns the reference of the active object with an id.
    ///
    /// # Errors
    /// [`PoaError::ObjectNotActive`], [`PoaError::WrongPolicy`] without RETAIN.
    pub fn id_to_reference<I: Interface>(&self, id: &ObjectId) -> Result<I, PoaError> {
        match self.map()?.find(id.as_bytes(), None) {
            Lookup::Pinned(_) => Ok(I::from_object(self.reference_to(id, I::REPOSITORY_ID)?)),
            _ => Err(PoaError::ObjectNotActive),
        }
    }

    /// Makes a reference to an object by its id.
    pub(crate) fn reference_to(
        &self,
        id: &ObjectId,
        type_id: &str,
    ) -> Result<ObjectRef, SystemException> {
        match &self.adapter.factory {
            Some(factory) => self
                .orb
                .make_reference_by(&**factory, type_id, id.as_bytes()),
            None => self.own_reference_to(id, type_id),
        }
    }

    /// Makes a reference without a factory's help: with the object's entry in its key, if it has
    /// one.
    pub(crate) fn own_reference_to(
        &self,
        id: &ObjectId,
        type_id: &str,
    ) -> Result<ObjectRef, SystemException> {
        let map = self.adapter.map();
        let found = map.map(|map| map.find(id.as_bytes(), None));
        let adapter = &self.adapter;
        let remembered = adapter.own.remembered(id.as_bytes());
        let (key, own) = match found {
            Some(Lookup::Pinned(pinned)) => {
                let key = adapter.key_of(pinned.entry_id(), pinned.id.as_deref());
                (key, pinned.own.clone().or(remembered))
            }
            _ => (adapter.key(id.as_bytes(), None), remembered),
        };
        self.reference_by_key(type_id, &key, own.as_deref())
    }

    /// Makes a reference to an object by its key: with the endpoints of the Implementation Repository for a persistent
    /// object, if the ORB uses one.
    pub(super) fn reference_by_key(
        &self,
        type_id: &str,
        key: &[u8],
        own: Option<&OwnPolicies>,
    ) -> Result<ObjectRef, SystemException> {
        match self.adapter.repository() {
            Some(repository) => {
                let place = repository.locator(&self.orb)?;
                self.orb.make_reference_at(&place, type_id, key)
            }
            None => {
                let policies = self.adapter.policies_of(own);
                self.orb.make_reference_under(type_id, key, policies)
            }
        }
    }

    /// Returns the servant of an active object.
    pub(crate) fn active_servant(&self, id: &ObjectId) -> Option<Arc<dyn Servant>> {
        match self.adapter.map()?.find(id.as_bytes(), None) {
            Lookup::Pinned(pinned) => Some(pinned.servant.clone()),
            _ => None,
        }
    }

    /// Returns the id of the object that a reference of this adapter names, and the object's entry
    /// in the active object map, if the reference contains it.
    pub(super) fn named_by(
        &self,
        object: &ObjectRef,
    ) -> Result<(ObjectId, Option<EntryId>), PoaError> {
        let key = object.object_key().ok_or(PoaError::WrongAdapter)?;
        let own = self.adapter.id().name;
        match Key::read(self.adapter.nonce(), &key) {
            Key::Entry(name, entry_id) if name == own => {
                Ok(((&entry_id.octets()).into(), Some(entry_id)))
            }
            Key::Named {
                adapter,
                entry_id,
                id,
            } if adapter == own => Ok((id.into(), entry_id)),
            Key::Persistent { path, id } if self.adapter.is_at(path) => Ok((id.into(), None)),
            _ => Err(PoaError::WrongAdapter),
        }
    }

    fn servant_of(
        &self,
        id: &ObjectId,
        hint: Option<EntryId>,
    ) -> Result<Arc<dyn Servant>, PoaError> {
        let policies = &self.adapter.policies;
        if let Some(map) = self.adapter.map()
            && let Lookup::Pinned(pinned) = map.find(id.as_bytes(), hint)
        {
            return Ok(pinned.servant.clone());
        }
        if policies.processing == RequestProcessingPolicy::DefaultServant {
            return self
                .adapter
                .default_servant()
                .ok_or(PoaError::ObjectNotActive);
        }
        match policies.retains() {
            true => Err(PoaError::ObjectNotActive),
            false => Err(PoaError::WrongPolicy("RETAIN or USE_DEFAULT_SERVANT")),
        }
    }

    /// Returns the id under which a servant is active in the map; with implicit activation,
    /// activates it if necessary.
    fn id_in_map(&self, servant: &Arc<dyn Servant>) -> Result<Option<ObjectId>, PoaError> {
        let (map, policies) = (self.map()?, &self.adapter.policies);
        let entry_id = if policies.is_implicit() {
            self.check_alive()?;
            match self.adapter.map_assigns_ids() {
                true if policies.is_unique() => {
                    let (entry_id, _) = map.find_or_activate(servant).map_err(refused)?;
                    entry_id
                }
                _ => match map.entry_of(servant.identity()) {
                    Some(entry_id) => entry_id,
                    None => self.activate_somewhere(servant.clone(), None)?,
                },
            }
        } else {
            match map.entry_of(servant.identity()) {
                Some(entry_id) => entry_id,
                None => return Ok(None),
            }
        };
        let pinned = map.pin(entry_id).ok_or(PoaError::ServantNotActive)?;
        Ok(Some(pinned.id.octets(entry_id).into()))
    }

    /// Returns the id of the object that the calling thread is serving, if its servant is this one
    /// and its adapter is this adapter.
    fn id_called(&self, servant: &Arc<dyn Servant>) -> Option<ObjectId> {
        let is_its = Current.poa().is_ok_and(|poa| poa == *self)
            && Current
                .servant()
                .is_ok_and(|serving| serving.identity() == servant.identity());
        Current.object_id().ok().filter(|_| is_its)
    }
}
