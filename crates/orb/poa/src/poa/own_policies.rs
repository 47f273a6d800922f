//! Objects with a policy of their own in place of their adapter's, as RTPortableServer::POA's have
//! a priority.

use super::{Poa, PoaError};
use crate::object_id::ObjectId;
use crate::object_map::Active;
use crate::own_policies::{ConflictingPolicy, ObjectPolicy, OwnPolicies};
use crate::policy::{PoaPolicy, defined};
use crate::servant::Servant;
use punctual_orb::{
    CompletionStatus, Interface, InvalidPolicy, ObjectRef, Policy, SystemException,
    SystemExceptionKind as Kind, minor,
};
use std::sync::Arc;

impl Poa {
    /// Makes a policy for single objects of the adapter, in place of the adapter's policy of that
    /// type.
    ///
    /// # Errors
    /// [`InvalidPolicy`] if the adapter has none of that type, or could not have this one.
    pub fn object_policy(&self, policy: Policy) -> Result<ObjectPolicy, InvalidPolicy> {
        let of_adapter = &self.adapter.defined;
        let is_its_type = |one: &Policy| one.policy_type() == policy.policy_type();
        let Some(index) = of_adapter.iter().position(is_its_type) else {
            return Err(InvalidPolicy {
                index: 0,
                why: "the POA has no policy of its type".to_owned(),
            });
        };
        let make = || {
            let all = of_adapter.iter().enumerate();
            let all = all.map(|(at, one)| if at == index { &policy } else { one });
            let all: Vec<PoaPolicy> = all.cloned().map(PoaPolicy::Defined).collect();
            let (defined, around) = defined(&all, &self.orb).map_err(|conflict| InvalidPolicy {
                index: 0,
                why: conflict.why.into_owned(),
            })?;
            let defined = match self.adapter.policies.is_persistent() {
                true => defined.outliving_the_process(),
                false => defined,
            };
            let defined = defined.of_object_of(of_adapter);
            let policy = policy.clone();
            Ok(OwnPolicies {
                policy,
                defined,
                around,
            })
        };
        self.adapter.own.of(&policy, make).map(ObjectPolicy)
    }

    /// Activates an object as [`Poa::activate_object`] does, with this policy as long as it is
    /// active.
    ///
    /// # Errors
    /// Those of [`Poa::activate_object`].
    pub fn activate_object_under(
        &self,
        servant: Arc<dyn Servant>,
        own: &ObjectPolicy,
    ) -> Result<ObjectId, PoaError> {
        let entry_id = self.activate_somewhere(servant, Some(own.0.clone()))?;
        self.id_at(entry_id)
    }

    /// Activates an object as [`Poa::activate_object_with_id`] does, with this policy as long as it
    /// is active.
    ///
    /// # Errors
    /// Those of [`Poa::activate_object_with_id`]; BAD_INV_ORDER 1 if a reference to it was made
    /// with another.
    pub fn activate_object_with_id_under(
        &self,
        id: &ObjectId,
        servant: Arc<dyn Servant>,
        own: &ObjectPolicy,
    ) -> Result<(), PoaError> {
        self.activate_under(id, servant, Some(own.0.clone()))
            .map(drop)
    }

    /// Makes a reference as [`Poa::create_reference`] does, to an object that has this policy as
    /// long as the adapter lives.
    ///
    /// # Errors
    /// Those of [`Poa::create_reference`].
    pub fn create_reference_under<I: Interface>(&self, own: &ObjectPolicy) -> Result<I, PoaError> {
        let id = self.fresh_id()?;
        self.create_reference_with_id_under(&id, own)
    }

    /// Makes a reference as [`Poa::create_reference_with_id`] does, to an object that has this
    /// policy as long as the adapter lives.
    ///
    /// # Errors
    /// Those of [`Poa::create_reference_with_id`]; BAD_INV_ORDER 1 if the object is active with
    /// another, or a reference to it was made with another.
    pub fn create_reference_with_id_under<I: Interface>(
        &self,
        id: &ObjectId,
        own: &ObjectPolicy,
    ) -> Result<I, PoaError> {
        self.check_id(id)?;
        self.check_alive()?;
        let remember = |active| match active {
            Active::With(Some(other)) if !other.is_same(&own.0) => Err(ConflictingPolicy),
            Active::With(None) if !self.has(&own.0) => Err(ConflictingPolicy),
            _ => self.adapter.own.remember(id.as_bytes(), &own.0),
        };
        let remembered = match self.adapter.map() {
            Some(map) => map.while_nothing_is_activated(id.as_bytes(), remember),
            None => remember(Active::Not),
        };
        remembered.map_err(|ConflictingPolicy| differs())?;
        let object: ObjectRef = self.reference_to(id, I::REPOSITORY_ID)?;
        Ok(I::from_object(object))
    }

    /// Returns whether the adapter itself has the policy that the object has.
    fn has(&self, own: &OwnPolicies) -> bool {
        self.adapter.defined.iter().any(|one| *one == own.policy)
    }
}

/// Returns the error for an object whose policy differs from the one that references to it carry
/// (Real-time CORBA 1.2, §5.7.5).
#[cold]
pub(super) fn differs() -> SystemException {
    SystemException::new(Kind::BadInvOrder, minor::omg(1), CompletionStatus::No)
        .with_detail("references to the object already carry another policy of its own")
}
