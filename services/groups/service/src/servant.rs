//! The ReplicationManager and the LoadManager, which differ in the groups that they make.

use std::sync::{Arc, OnceLock};

use punctual::{Any, Interface, ObjectRef, SystemException, SystemExceptionKind as Kind};
use punctual_groups_client::cos_load_balancing::{self as lb, LoadManagerServant};
use punctual_groups_client::portable_group::{self as pg, *};
use punctual_groups_client::punctual_groups::{self as own, AdministrationServant};
use punctual_naming_client::cos_naming::NameComponent;

use crate::access::Access;
use crate::engine::{Engine, Numbered, Of};
use crate::ft::{self, FaultNotifier, FtObjectGroupManagerServant, ReplicationManagerServant};
use crate::location::key;
use crate::names::{Key, location};
use crate::properties::{Properties, of_strategy, of_style};
use crate::punctual_managers::{BalancingServant, ReplicationServant};
use crate::refusal::{Refusal, Refused};
use crate::state::Group;

/// Servant of a manager.
pub(crate) struct Manager {
    pub(crate) engine: Engine,
    pub(crate) access: Access,
    /// True of the LoadManager: groups that it makes are balanced.
    pub(crate) is_balancing: bool,
    /// The service's own notifier.
    pub(crate) notifier: Arc<OnceLock<FaultNotifier>>,
}

impl Manager {
    fn key(&self, the_location: &[NameComponent]) -> Refused<Key> {
        key(
            the_location,
            self.engine.with(|state| state.limits.name_bytes),
        )
    }

    fn reference(&self, id: u64, group: &Group) -> Refused<Option<ObjectRef>> {
        Ok(Some(self.engine.reference(id, group)?))
    }

    /// Returns a group's id and the key of a location, for an administrator.
    fn to_change(&self, group: Option<&ObjectRef>, at: &[NameComponent]) -> Refused<(u64, Key)> {
        self.access.check_administrator()?;
        Ok((self.engine.id_of(group)?, self.key(at)?))
    }

    fn levels<R>(
        &self,
        type_id: &str,
        with: impl FnOnce(&Properties, Option<&Properties>) -> R,
    ) -> R {
        self.engine.with(|state| {
            let of_type = state.types.get(type_id).map(|(_, properties)| properties);
            with(&state.defaults, of_type)
        })
    }
}

impl PropertyManagerServant for Manager {
    fn set_default_properties(
        &self,
        props: &[Property],
    ) -> Result<(), PropertyManagerSetDefaultPropertiesError> {
        self.access.check_administrator()?;
        let set = self
            .engine
            .change_type(Of::AllTypes, |all, limits| all.set(props, limits));
        Ok(set?)
    }

    fn get_default_properties(&self) -> Result<pg::Properties, SystemException> {
        Ok(self
            .engine
            .with(|state| Properties::shown([&state.defaults])))
    }

    fn remove_default_properties(
        &self,
        props: &[Property],
    ) -> Result<(), PropertyManagerRemoveDefaultPropertiesError> {
        self.access.check_administrator()?;
        let removed = self
            .engine
            .change_type(Of::AllTypes, |all, _| all.remove(props));
        Ok(removed?)
    }

    fn set_type_properties(
        &self,
        type_id: &str,
        overrides: &[Property],
    ) -> Result<(), PropertyManagerSetTypePropertiesError> {
        self.access.check_administrator()?;
        let set = self
            .engine
            .change_type(Of::Type(type_id), |all, limits| all.set(overrides, limits));
        Ok(set?)
    }

    fn get_type_properties(&self, type_id: &str) -> Result<pg::Properties, SystemException> {
        Ok(self.levels(type_id, |defaults, of_type| {
            Properties::shown([Some(defaults), of_type].into_iter().flatten())
        }))
    }

    fn remove_type_properties(
        &self,
        type_id: &str,
        props: &[Property],
    ) -> Result<(), PropertyManagerRemoveTypePropertiesError> {
        self.access.check_administrator()?;
        let removed = self
            .engine
            .change_type(Of::Type(type_id), |all, _| all.remove(props));
        Ok(removed?)
    }

    fn set_properties_dynamically(
        &self,
        object_group: Option<&ObjectGroup>,
        overrides: &[Property],
    ) -> Result<(), PropertyManagerSetPropertiesDynamicallyError> {
        self.access.check_administrator()?;
        let id = self.engine.id_of(object_group)?;
        let limits = self.engine.with(|state| state.limits);
        let set = self
            .engine
            .change(id, |group| group.own.set(overrides, &limits));
        set?;
        Ok(())
    }

    fn get_properties(
        &self,
        object_group: Option<&ObjectGroup>,
    ) -> Result<pg::Properties, PropertyManagerGetPropertiesError> {
        let group = self.engine.group(self.engine.id_of(object_group)?)?;
        Ok(self.levels(&group.type_id, |defaults, of_type| {
            Properties::shown(
                [Some(defaults), of_type, Some(&group.own)]
                    .into_iter()
                    .flatten(),
            )
        }))
    }
}

impl ObjectGroupManagerServant for Manager {
    fn create_member(
        &self,
        object_group: Option<&ObjectGroup>,
        the_location: &[NameComponent],
        type_id: &str,
        the_criteria: &[Property],
    ) -> Result<Option<ObjectGroup>, ObjectGroupManagerCreateMemberError> {
        let (id, key) = self.to_change(object_group, the_location)?;
        let group = self.engine.create_member(id, &key, type_id, the_criteria)?;
        Ok(self.reference(id, &group)?)
    }

    fn add_member(
        &self,
        object_group: Option<&ObjectGroup>,
        the_location: &[NameComponent],
        member: Option<&ObjectRef>,
    ) -> Result<Option<ObjectGroup>, ObjectGroupManagerAddMemberError> {
        let (id, key) = self.to_change(object_group, the_location)?;
        let group = self.engine.add(id, &key, member, None)?;
        Ok(self.reference(id, &group)?)
    }

    fn remove_member(
        &self,
        object_group: Option<&ObjectGroup>,
        the_location: &[NameComponent],
    ) -> Result<Option<ObjectGroup>, ObjectGroupManagerRemoveMemberError> {
        let (id, key) = self.to_change(object_group, the_location)?;
        let group = self.engine.remove_member(id, &key, None)?;
        Ok(self.reference(id, &group)?)
    }

    fn locations_of_members(
        &self,
        object_group: Option<&ObjectGroup>,
    ) -> Result<Locations, ObjectGroupManagerLocationsOfMembersError> {
        let group = self.engine.group(self.engine.id_of(object_group)?)?;
        Ok(group.members.keys().map(|key| location(key)).collect())
    }

    fn groups_at_location(
        &self,
        the_location: &[NameComponent],
    ) -> Result<ObjectGroups, SystemException> {
        let key = self.key(the_location)?;
        let groups: Vec<_> = self.engine.with(|state| {
            let ids = state.at(&key).into_iter();
            ids.filter_map(|id| Some((id, state.groups.get(&id)?.clone())))
                .collect()
        });
        groups
            .iter()
            .map(|(id, group)| Ok(self.reference(*id, group)?))
            .collect()
    }

    fn get_object_group_id(
        &self,
        object_group: Option<&ObjectGroup>,
    ) -> Result<ObjectGroupId, ObjectGroupManagerGetObjectGroupIdError> {
        Ok(self.engine.id_of(object_group)?)
    }

    fn get_object_group_ref(
        &self,
        object_group: Option<&ObjectGroup>,
    ) -> Result<Option<ObjectGroup>, ObjectGroupManagerGetObjectGroupRefError> {
        let id = self.engine.id_of(object_group)?;
        Ok(self.reference(id, &*self.engine.group(id)?)?)
    }

    fn get_object_group_ref_from_id(
        &self,
        group_id: ObjectGroupId,
    ) -> Result<Option<ObjectGroup>, ObjectGroupManagerGetObjectGroupRefFromIdError> {
        Ok(self.reference(group_id, &*self.engine.group(group_id)?)?)
    }

    fn get_member_ref(
        &self,
        object_group: Option<&ObjectGroup>,
        loc: &[NameComponent],
    ) -> Result<Option<ObjectRef>, ObjectGroupManagerGetMemberRefError> {
        let group = self.engine.group(self.engine.id_of(object_group)?)?;
        let member = group
            .members
            .get(&self.key(loc)?)
            .ok_or_else(Refusal::no_member)?;
        Ok(Some(member.reference.clone()))
    }
}

impl GenericFactoryServant for Manager {
    fn create_object(
        &self,
        type_id: &str,
        the_criteria: &[Property],
    ) -> Result<(Option<ObjectRef>, Any), GenericFactoryCreateObjectError> {
        self.access.check_administrator()?;
        let created = self
            .engine
            .create_object(type_id, self.is_balancing, the_criteria);
        let (id, group) = created.map_err(|refusal| match refusal {
            // A criterion that is no property is one that is not known.
            Refusal::UnsupportedProperty(one) => Refusal::InvalidCriteria(InvalidCriteria {
                invalid_criteria: vec![Property {
                    nam: one.nam,
                    val: one.val,
                }],
            }),
            other => other,
        })?;
        Ok((self.reference(id, &group)?, Engine::creation_id(id)))
    }

    fn delete_object(
        &self,
        factory_creation_id: &Any,
    ) -> Result<(), GenericFactoryDeleteObjectError> {
        self.access.check_administrator()?;
        let id = factory_creation_id.extract::<u64>().ok();
        let id = id.ok_or(GenericFactoryDeleteObjectError::ObjectNotFound(
            ObjectNotFound,
        ))?;
        self.engine
            .delete_object(id)
            .map_err(|refusal| match refusal {
                Refusal::ObjectGroupNotFound(_) => Refusal::ObjectNotFound(ObjectNotFound).into(),
                other => other.into(),
            })
    }
}

impl FtObjectGroupManagerServant for Manager {
    fn set_primary_member(
        &self,
        object_group: Option<&ObjectGroup>,
        the_location: &[NameComponent],
    ) -> Result<Option<ObjectGroup>, ft::FtObjectGroupManagerSetPrimaryMemberError> {
        let (id, key) = self.to_change(object_group, the_location)?;
        let group = self.engine.set_primary(id, &key)?;
        Ok(self.reference(id, &group)?)
    }
}

impl ReplicationManagerServant for Manager {
    fn register_fault_notifier(
        &self,
        fault_notifier: Option<&FaultNotifier>,
    ) -> Result<(), SystemException> {
        self.access.check_administrator()?;
        let notifier = fault_notifier.ok_or_else(|| nil("fault notifier"))?;
        self.engine.notifier().register(notifier.clone());
        Ok(())
    }

    fn get_fault_notifier(
        &self,
    ) -> Result<Option<FaultNotifier>, ft::ReplicationManagerGetFaultNotifierError> {
        let registered = self.engine.notifier().registered();
        let notifier = registered.or_else(|| self.notifier.get().cloned());
        let notifier = notifier.ok_or(Refusal::InterfaceNotFound(ft::InterfaceNotFound))?;
        Ok(Some(notifier))
    }
}

impl LoadManagerServant for Manager {
    fn push_loads(
        &self,
        the_location: &[NameComponent],
        loads: &[lb::Load],
    ) -> Result<(), SystemException> {
        self.access.check_member()?;
        Ok(self.engine.push_loads(&self.key(the_location)?, loads)?)
    }

    fn get_loads(
        &self,
        the_location: &[NameComponent],
    ) -> Result<lb::LoadList, lb::LoadManagerGetLoadsError> {
        Ok(self.engine.loads(&self.key(the_location)?)?)
    }

    fn enable_alert(
        &self,
        the_location: &[NameComponent],
    ) -> Result<(), lb::LoadManagerEnableAlertError> {
        self.access.check_member()?;
        Ok(self.engine.set_alert(&self.key(the_location)?, true)?)
    }

    fn disable_alert(
        &self,
        the_location: &[NameComponent],
    ) -> Result<(), lb::LoadManagerDisableAlertError> {
        self.access.check_member()?;
        Ok(self.engine.set_alert(&self.key(the_location)?, false)?)
    }

    fn register_load_alert(
        &self,
        the_location: &[NameComponent],
        load_alert: Option<&lb::LoadAlert>,
    ) -> Result<(), lb::LoadManagerRegisterLoadAlertError> {
        self.access.check_member()?;
        let alert = load_alert.ok_or_else(|| nil("load alert"))?;
        Ok(self.engine.add_alert(self.key(the_location)?, alert)?)
    }

    fn get_load_alert(
        &self,
        the_location: &[NameComponent],
    ) -> Result<Option<lb::LoadAlert>, lb::LoadManagerGetLoadAlertError> {
        Ok(Some(self.engine.alert(&self.key(the_location)?)?))
    }

    fn remove_load_alert(
        &self,
        the_location: &[NameComponent],
    ) -> Result<(), lb::LoadManagerRemoveLoadAlertError> {
        self.access.check_member()?;
        Ok(self.engine.remove_alert(&self.key(the_location)?)?)
    }

    fn register_load_monitor(
        &self,
        the_location: &[NameComponent],
        load_monitor: Option<&lb::LoadMonitor>,
    ) -> Result<(), lb::LoadManagerRegisterLoadMonitorError> {
        self.access.check_member()?;
        let monitor = load_monitor.ok_or_else(|| nil("load monitor"))?;
        Ok(self.engine.add_monitor(self.key(the_location)?, monitor)?)
    }

    fn get_load_monitor(
        &self,
        the_location: &[NameComponent],
    ) -> Result<Option<lb::LoadMonitor>, lb::LoadManagerGetLoadMonitorError> {
        Ok(Some(self.engine.monitor(&self.key(the_location)?)?))
    }

    fn remove_load_monitor(
        &self,
        the_location: &[NameComponent],
    ) -> Result<(), lb::LoadManagerRemoveLoadMonitorError> {
        self.access.check_member()?;
        Ok(self.engine.remove_monitor(&self.key(the_location)?)?)
    }
}

impl AdministrationServant for Manager {
    fn join(
        &self,
        object_group: Option<&ObjectGroup>,
        the_location: &[NameComponent],
        member: Option<&ObjectRef>,
        lease_ms: u32,
    ) -> Result<own::Joined, own::AdministrationJoinError> {
        self.access.check_member()?;
        let id = self.engine.id_of(object_group)?;
        let key = self.key(the_location)?;
        let (token, group) = self.engine.join(id, &key, member, lease_ms)?;
        let joined = group.members.get(&key);
        Ok(own::Joined {
            object_group: self.reference(id, &group)?,
            forwarder: Some(self.engine.forwarder(id, &group.type_id)?),
            id,
            token,
            current: own::Standing {
                version: group.version,
                is_primary: false,
                is_draining: joined.is_some_and(|member| member.is_draining),
            },
        })
    }

    fn renew(
        &self,
        id: ObjectGroupId,
        the_location: &[NameComponent],
        token: u64,
        loads: &[lb::Load],
    ) -> Result<own::Standing, own::AdministrationRenewError> {
        self.access.check_member()?;
        let key = self.key(the_location)?;
        Ok(self.engine.renew(id, &key, token, loads)?)
    }

    fn leave(
        &self,
        id: ObjectGroupId,
        the_location: &[NameComponent],
        token: u64,
    ) -> Result<(), own::AdministrationLeaveError> {
        self.access.check_member()?;
        self.engine
            .remove_member(id, &self.key(the_location)?, Some(token))?;
        Ok(())
    }

    fn store_state(
        &self,
        id: ObjectGroupId,
        the_location: &[NameComponent],
        token: u64,
        number: u64,
        s: &[u8],
    ) -> Result<(), own::AdministrationStoreStateError> {
        self.access.check_member()?;
        let key = self.key(the_location)?;
        let numbered = Numbered { token, number };
        Ok(self.engine.store_state(id, &key, numbered, s)?)
    }

    fn store_update(
        &self,
        id: ObjectGroupId,
        the_location: &[NameComponent],
        token: u64,
        number: u64,
        after: u64,
        s: &[u8],
    ) -> Result<(), own::AdministrationStoreUpdateError> {
        self.access.check_member()?;
        let key = self.key(the_location)?;
        let numbered = Numbered { token, number };
        Ok(self.engine.store_update(id, &key, numbered, after, s)?)
    }

    fn stored_state(
        &self,
        id: ObjectGroupId,
    ) -> Result<own::State, own::AdministrationStoredStateError> {
        self.access.check_member()?;
        Ok(self.engine.stored(id)?.0)
    }

    fn stored_updates(
        &self,
        id: ObjectGroupId,
    ) -> Result<(own::Updates, own::State), own::AdministrationStoredUpdatesError> {
        self.access.check_member()?;
        let (state, updates) = self.engine.stored(id)?;
        Ok((updates, state))
    }

    fn list(&self, after: ObjectGroupId, how_many: u32) -> Result<own::Groups, SystemException> {
        let how_many = usize::try_from(how_many).unwrap_or(usize::MAX);
        Ok(self.engine.list(after, how_many))
    }

    fn create_group(
        &self,
        type_id: &str,
        style: &str,
        strategy: &str,
    ) -> Result<(Option<ObjectGroup>, ObjectGroupId), own::AdministrationCreateGroupError> {
        self.access.check_administrator()?;
        let is_balanced = match (style, strategy) {
            ("", "") => self.is_balancing,
            ("" | "balanced", _) => true,
            (_, "") => false,
            _ => return Err(Refusal::refused("a group has a style or a strategy").into()),
        };
        let mut properties = Vec::new();
        if !style.is_empty() && style != "balanced" {
            let property = of_style(style);
            properties.push(property.ok_or_else(|| Refusal::refused("there is no such style"))?);
        }
        if !strategy.is_empty() {
            properties.extend(of_strategy(strategy));
        }
        let created = self.engine.create(type_id, is_balanced, &properties);
        let (id, group) = created.map_err(Refusal::into_refused)?;
        Ok((self.reference(id, &group)?, id))
    }

    fn remove_group(&self, id: ObjectGroupId) -> Result<(), own::AdministrationRemoveGroupError> {
        self.access.check_administrator()?;
        Ok(self.engine.delete_object(id)?)
    }

    fn adopt_group(
        &self,
        id: ObjectGroupId,
        type_id: &str,
        strategy: &str,
        the_founders: &[own::Founder],
    ) -> Result<own::Group, own::AdministrationAdoptGroupError> {
        self.access.check_administrator()?;
        let adopted = self.engine.adopt(id, type_id, strategy, the_founders);
        Ok(adopted.map_err(Refusal::into_refused)?)
    }

    fn report(
        &self,
        id: ObjectGroupId,
        the_location: &[NameComponent],
        load: f32,
    ) -> Result<(), own::AdministrationReportError> {
        self.access.check_member()?;
        Ok(self.engine.report(id, &self.key(the_location)?, load)?)
    }

    fn changes_since(
        &self,
        epoch: u64,
        revision: u64,
        how_many: u32,
    ) -> Result<own::Changes, SystemException> {
        self.engine.check_right()?;
        let how_many = usize::try_from(how_many).unwrap_or(usize::MAX);
        Ok(self.engine.changes_since(epoch, revision, how_many))
    }

    fn drain(
        &self,
        id: ObjectGroupId,
        the_location: &[NameComponent],
        is_draining: bool,
    ) -> Result<(), own::AdministrationDrainError> {
        self.access.check_administrator()?;
        Ok(self
            .engine
            .drain(id, &self.key(the_location)?, is_draining)?)
    }
}

impl ReplicationServant for Manager {}

impl BalancingServant for Manager {}

pub(crate) fn nil(what: &str) -> SystemException {
    Kind::BadParam.because(format!("the {what} is nil"))
}

/// Returns the reference of a manager as one of the load manager.
pub(crate) fn as_load_manager(manager: &impl Interface) -> lb::LoadManager {
    lb::LoadManager::from_object(manager.as_object().clone())
}
