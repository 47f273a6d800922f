//! Members that factories make and delete.

use std::sync::Arc;

use punctual::{Any, ObjectRef, SystemExceptionKind as Kind, about_to_block};
use punctual_groups_client::portable_group::{
    CannotMeetCriteria, FactoryInfo, GenericFactory, GenericFactoryCreateObjectError, NoFactory,
    ObjectNotCreated, Property,
};

use super::Engine;
use crate::bounded::bounded;
use crate::location::key;
use crate::names::{Key, location};
use crate::properties::factory;
use crate::refusal::{Refusal, Refused};
use crate::state::{Creation, Group};

impl Engine {
    /// Makes a member by the factory of a location, and adds it. Blocks.
    ///
    /// # Errors
    /// ObjectGroupNotFound, MemberAlreadyPresent, NoFactory, ObjectNotCreated, InvalidCriteria, CannotMeetCriteria.
    pub(crate) fn create_member(
        &self,
        id: u64,
        at: &Key,
        type_id: &str,
        criteria: &[Property],
    ) -> Refused<Arc<Group>> {
        let group = self.group(id)?;
        if group.members.contains_key(at) {
            return Err(Refusal::MemberAlreadyPresent(
                punctual_groups_client::portable_group::MemberAlreadyPresent,
            ));
        }
        let factories = group.settings.factories.iter();
        let most = self.with(|state| state.limits.name_bytes);
        let mut at_location =
            factories.filter(|one| key(&one.the_location, most).is_ok_and(|one| one == *at));
        let info = at_location.next().ok_or_else(|| {
            Refusal::NoFactory(NoFactory {
                the_location: location(at),
                type_id: type_id.to_owned(),
            })
        })?;
        let (object, creation) = self.make(info, type_id, criteria)?;
        let added = self.add(id, at, Some(&object), Some(creation.clone()));
        if added.is_err() {
            self.delete_soon(creation);
        }
        added
    }

    /// Makes an object by a factory. Blocks.
    fn make(
        &self,
        info: &FactoryInfo,
        type_id: &str,
        criteria: &[Property],
    ) -> Refused<(ObjectRef, Creation)> {
        let no_factory = || {
            Refusal::NoFactory(NoFactory {
                the_location: info.the_location.clone(),
                type_id: type_id.to_owned(),
            })
        };
        let by = factory(info).ok_or_else(no_factory)?;
        let call = self.with(|state| state.limits.call);
        let _ = about_to_block();
        let bound: GenericFactory = bounded(by, call);
        let criteria = [&info.the_criteria, criteria].concat();
        let not_created = || Refusal::ObjectNotCreated(ObjectNotCreated);
        match bound.create_object(type_id, &criteria) {
            Ok((Some(object), id)) => Ok((object, Creation { id, by: by.clone() })),
            Ok((None, _)) => Err(not_created()),
            Err(GenericFactoryCreateObjectError::NoFactory(raised)) => {
                Err(Refusal::NoFactory(raised))
            }
            Err(GenericFactoryCreateObjectError::InvalidCriteria(raised)) => {
                Err(Refusal::InvalidCriteria(raised))
            }
            Err(GenericFactoryCreateObjectError::CannotMeetCriteria(raised)) => {
                Err(Refusal::CannotMeetCriteria(raised))
            }
            Err(error) => {
                tracing::warn!("a factory makes no member: {error}");
                Err(not_created())
            }
        }
    }

    /// Deletes a member by the factory that made it, on another thread.
    pub(super) fn delete_soon(&self, creation: Creation) {
        self.call(move |engine| {
            let call = engine.with(|state| state.limits.call);
            let by: GenericFactory = bounded(&creation.by, call);
            if let Err(error) = by.delete_object(&creation.id) {
                tracing::info!("a factory does not delete a member: {error}");
            }
        });
    }

    /// Makes a group, and its first members if factories make them. Blocks.
    ///
    /// # Errors
    /// Those of properties; NoFactory without factories; CannotMeetCriteria if fewer members can be made than are wanted: then
    /// there is no group.
    pub(crate) fn create_object(
        &self,
        type_id: &str,
        is_balanced: bool,
        criteria: &[Property],
    ) -> Refused<(u64, Arc<Group>)> {
        let (id, group) = self.create(type_id, is_balanced, criteria)?;
        if !group.settings.is_made {
            return Ok((id, group));
        }
        let made = self.fill(id, group.settings.initial);
        let refusal = match made {
            Ok(group) if group.members.len() >= usize::from(group.settings.initial) => {
                return Ok((id, group));
            }
            Ok(_) => Refusal::CannotMeetCriteria(CannotMeetCriteria {
                unmet_criteria: criteria.to_vec(),
            }),
            Err(refusal) => refusal,
        };
        self.delete_object(id)?;
        Err(refusal)
    }

    /// Removes a group, and has its members deleted by the factories that made them.
    ///
    /// # Errors
    /// ObjectGroupNotFound, PERSIST_STORE.
    pub(crate) fn delete_object(&self, id: u64) -> Refused<()> {
        let group = self.remove_group(id)?;
        let creations = group
            .members
            .values()
            .filter_map(|member| member.creation.clone());
        creations.for_each(|creation| self.delete_soon(creation));
        Ok(())
    }

    /// Makes members at locations that have a factory and no member, until there are so many.
    fn fill(&self, id: u64, wanted: u16) -> Refused<Arc<Group>> {
        let group = self.group(id)?;
        let most = self.with(|state| state.limits.name_bytes);
        if group.settings.factories.is_empty() {
            return Err(Refusal::NoFactory(NoFactory {
                the_location: Vec::new(),
                type_id: group.type_id.clone(),
            }));
        }
        for info in &group.settings.factories {
            if self.group(id)?.members.len() >= usize::from(wanted) {
                break;
            }
            let at = key(&info.the_location, most)?;
            match self.create_member(id, &at, &group.type_id, &[]) {
                Ok(_) | Err(Refusal::MemberAlreadyPresent(_)) => {}
                Err(Refusal::System(exception)) if exception.kind() == Kind::PersistStore => {
                    return Err(Refusal::System(exception));
                }
                Err(refusal) => tracing::info!("group {id}: no member at {at}: {refusal:?}"),
            }
        }
        self.group(id)
    }

    /// Makes further members, if factories make them and there are fewer than there should be.
    pub(super) fn replenish(&self, id: u64) {
        let Ok(group) = self.group(id) else { return };
        if !group.settings.is_made || group.settings.factories.is_empty() {
            return;
        }
        self.call(move |engine| {
            // Members that do not live make room at their locations.
            let now = std::time::Instant::now();
            let dead: Vec<Key> = engine.with(|state| {
                let keys = group.members.keys();
                keys.filter(|key| !state.lives(id, key, now))
                    .cloned()
                    .collect()
            });
            for key in dead {
                let _has_gone = engine.remove_member(id, &key, None);
            }
            if let Err(refusal) = engine.fill(id, group.settings.minimum) {
                tracing::warn!("group {id}: no further members: {refusal:?}");
            }
        });
    }

    /// Returns the id of a group for its factory's client.
    pub(crate) fn creation_id(id: u64) -> Any {
        Any::new(&id).unwrap_or_default()
    }
}
