//! Members of a group of `punctual group create` whose reference a name is bound to: the group service has them, and the names
//! know nothing of them.
//!
//! The rights are those that this command has at the group service.

use super::names::parsed;
use super::raised::{Raised, UserException};
use super::service::{Service, problem};
use crate::call::{self, Problem};
use crate::group::failed;
use punctual::{Interface, ObjectRef};
use punctual_groups_client::portable_group::{
    ObjectGroupManager, ObjectGroupManagerGetObjectGroupIdError,
};
use punctual_groups_client::punctual_groups::Administration;
use punctual_ior::Ior;
use punctual_naming::cos_naming::naming_context::NotFoundReason;
use punctual_naming::cos_naming::{Name, NameComponent};

/// Object key of the ReplicationManager, and its type.
const MANAGER: &[u8] = b"ReplicationManager";
const ANY_OBJECT: &str = "IDL:omg.org/CORBA/Object:1.0";

const ON_SERVICES: &str = "it is bound to an object: if that is a group of `punctual group create`, name its service by --group-service";
const ON_OTHERS: &str =
    "--group-service names the ReplicationManager of the service that made the group";

/// Group that a name is bound to by its reference, and its service.
pub(super) struct ReferredGroup {
    manager: ObjectRef,
    group: ObjectRef,
}

impl ReferredGroup {
    /// Returns the group that a name is bound to, after an operation on a group of names was refused. `at` is the group
    /// service; without it, it is looked for where the group's reference leads.
    ///
    /// # Errors
    /// What was refused, if the name is bound to no group of that service.
    pub(super) fn instead(
        service: &Service,
        name: &str,
        refused: &impl Raised,
        at: Option<&str>,
    ) -> Result<Self, Problem> {
        if !is_of_object(refused) {
            return Err(problem(name, refused));
        }
        let bound = service.root.resolve(&parsed(name)?);
        let Ok(Some(group)) = bound else {
            return Err(problem(name, refused));
        };
        let manager = match at {
            Some(reference) => call::object_of(&service.orb, reference)
                .map_err(|message| Problem::usage(message, ON_OTHERS))?,
            None => {
                let beside = beside(service, &group).ok();
                beside.ok_or_else(|| with_help(problem(name, refused)))?
            }
        };
        let known = ObjectGroupManager::from_object(manager.clone());
        match (known.get_object_group_id(Some(&group)), at) {
            (Ok(_), _) => Ok(Self { manager, group }),
            (Err(ObjectGroupManagerGetObjectGroupIdError::ObjectGroupNotFound(_)), Some(at)) => {
                let message =
                    format!("`{name}` is bound to an object that is no group of the service {at}");
                Err(Problem::usage(message, ON_OTHERS))
            }
            (Err(error), Some(_)) => Err(failed(name, &error)),
            (Err(_), None) => Err(with_help(problem(name, refused))),
        }
    }

    /// Makes an object a member, for so many milliseconds or for good.
    pub(super) fn join(
        &self,
        id: &str,
        object: Option<&ObjectRef>,
        ttl: u32,
    ) -> Result<(), Problem> {
        let groups = Administration::from_object(self.manager.clone());
        let joined = groups.join(Some(&self.group), &location(id), object, ttl);
        joined.map(drop).map_err(|error| failed(id, &error))
    }

    /// Ends a membership.
    pub(super) fn leave(&self, id: &str) -> Result<(), Problem> {
        let groups = ObjectGroupManager::from_object(self.manager.clone());
        let left = groups.remove_member(Some(&self.group), &location(id));
        left.map(drop).map_err(|error| failed(id, &error))
    }
}

/// Returns whether an operation was refused as the name, and none on the way, is bound to no group.
fn is_of_object(refused: &impl Raised) -> bool {
    match refused.user() {
        Some(UserException::NotFound(it)) => {
            it.why == NotFoundReason::NotContext && it.rest_of_name.len() == 1
        }
        _ => false,
    }
}

/// Returns the ReplicationManager at the endpoints of a group's own object.
fn beside(service: &Service, group: &ObjectRef) -> Result<ObjectRef, punctual::SystemException> {
    let ior = group.ior();
    // In the reference of replicas, those of the members stand before.
    let own = match (ior.group(), ior.profiles.last()) {
        (Some(_), Some(last)) => {
            let own = Ior {
                type_id: ior.type_id.clone(),
                profiles: vec![last.clone()],
            };
            service.orb.string_to_object(&own.to_string())?
        }
        _ => group.clone(),
    };
    own.with_object_key(MANAGER, ANY_OBJECT)
}

fn with_help(problem: Problem) -> Problem {
    match problem {
        Problem::Raised { message, json, .. } => Problem::Raised {
            message,
            help: ON_SERVICES.to_owned(),
            json,
        },
        other => other,
    }
}

/// Returns the location of the member with an id, as the names choose it.
fn location(id: &str) -> Name {
    vec![NameComponent {
        id: id.to_owned(),
        kind: String::new(),
    }]
}
