//! RTPortableServer::POA: priorities of single objects (Real-time CORBA 1.2, §5.7.5).

use crate::priority_model::PriorityModelPolicy;
use punctual_ior::PriorityModel;
use punctual_orb::Priority;
use punctual_orb::{
    CompletionStatus, Interface, Policy, SystemException, SystemExceptionKind as Kind, minor,
};
use punctual_poa::{ObjectId, ObjectPolicy, Poa, PoaError, Servant};
use std::sync::Arc;

/// Operations of a POA with SERVER_DECLARED on objects with a priority of their own in place of the
/// POA's (RTPortableServer::POA). Requests for such an object, including calls from within the
/// process, are served at its priority. All references to it, however they are created, contain the
/// priority and name the endpoints that serve it.
///
/// An object that is activated with a priority has it as long as it is active. One for which a
/// reference with a priority was created has it as long as the POA lives, through all activations:
/// it costs some memory until then. For a persistent POA, the priorities have to be set again when
/// the process is restarted.
///
/// Each raises [`PoaError::WrongPolicy`] without SERVER_DECLARED, and BAD_PARAM for a priority that
/// the mapping does not have or that no endpoint of the POA serves, beside the errors of the
/// operation without a priority.
pub trait RtPoa {
    /// Activates an object as [`Poa::activate_object`], at this priority.
    ///
    /// # Errors
    /// [`RtPoa`]'s, and those of [`Poa::activate_object`].
    fn activate_object_with_priority(
        &self,
        servant: Arc<dyn Servant>,
        priority: Priority,
    ) -> Result<ObjectId, PoaError>;

    /// Activates an object as [`Poa::activate_object_with_id`], at this priority.
    ///
    /// # Errors
    /// [`RtPoa`]'s, and those of [`Poa::activate_object_with_id`]; BAD_INV_ORDER 1 where a
    /// reference to the object was made with another priority.
    fn activate_object_with_id_and_priority(
        &self,
        id: &ObjectId,
        servant: Arc<dyn Servant>,
        priority: Priority,
    ) -> Result<(), PoaError>;

    /// Creates a reference as [`Poa::create_reference`], to an object of this priority.
    ///
    /// # Errors
    /// [`RtPoa`]'s, and those of [`Poa::create_reference`].
    fn create_reference_with_priority<I: Interface>(
        &self,
        priority: Priority,
    ) -> Result<I, PoaError>;

    /// Creates a reference as [`Poa::create_reference_with_id`], to an object of this priority.
    ///
    /// # Errors
    /// [`RtPoa`]'s, and those of [`Poa::create_reference_with_id`]; BAD_INV_ORDER 1 where the
    /// object is active at another priority, or a reference to it was made with another.
    fn create_reference_with_id_and_priority<I: Interface>(
        &self,
        id: &ObjectId,
        priority: Priority,
    ) -> Result<I, PoaError>;
}

impl RtPoa for Poa {
    fn activate_object_with_priority(
        &self,
        servant: Arc<dyn Servant>,
        priority: Priority,
    ) -> Result<ObjectId, PoaError> {
        self.activate_object_under(servant, &declared(self, priority)?)
    }

    fn activate_object_with_id_and_priority(
        &self,
        id: &ObjectId,
        servant: Arc<dyn Servant>,
        priority: Priority,
    ) -> Result<(), PoaError> {
        self.activate_object_with_id_under(id, servant, &declared(self, priority)?)
    }

    fn create_reference_with_priority<I: Interface>(
        &self,
        priority: Priority,
    ) -> Result<I, PoaError> {
        self.create_reference_under(&declared(self, priority)?)
    }

    fn create_reference_with_id_and_priority<I: Interface>(
        &self,
        id: &ObjectId,
        priority: Priority,
    ) -> Result<I, PoaError> {
        self.create_reference_with_id_under(id, &declared(self, priority)?)
    }
}

/// Returns the policy SERVER_DECLARED with this priority, for single objects of a POA with
/// SERVER_DECLARED at another priority.
fn declared(poa: &Poa, priority: Priority) -> Result<ObjectPolicy, PoaError> {
    let model = poa.policy::<PriorityModelPolicy>();
    if model.is_none_or(|policy| policy.model != PriorityModel::ServerDeclared) {
        return Err(PoaError::WrongPolicy("SERVER_DECLARED"));
    }
    let policy = Policy::of(PriorityModelPolicy::server_declared(priority));
    poa.object_policy(policy).map_err(|invalid| {
        let exception = SystemException::new(Kind::BadParam, minor::VALUE, CompletionStatus::No);
        let why = invalid.why;
        exception
            .with_detail(format!("an object of priority {priority}: {why}"))
            .into()
    })
}
