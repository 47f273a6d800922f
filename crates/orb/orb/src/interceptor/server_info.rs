//! Request as a server's interceptor sees it, and operations on it (CORBA 3.3 part 1, §16.3.14). Each operation is
//! valid at the points given in table 16.2, encoded next to it as bits in the table's order.

use super::OwnedContext;
use super::accessors::request_info;
use super::error::{InvalidSlot, no_context, not_available, not_valid_here};
use super::outcome::Outcome;
use super::points::{ReplyStatus, ServerPoint, ValidAt};
use super::request_info::{CallFacts, Parameter, ReadBody, add, find};
use super::served::ServedObject;
use super::slots::{SlotId, Slots};
use crate::context::Context;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::policy::{Policy, SyncScope};
use punctual_any::{Any, TypeCode};
use punctual_cdr::Environment;
use punctual_giop::ServiceContexts;
use punctual_ior::Ior;
use std::fmt;

/// ORB that serves a request, with the ORB's id and server id.
#[derive(Clone, Copy)]
pub(crate) struct ServerOrb<'a> {
    pub(crate) orb_id: &'a str,
    pub(crate) server_id: &'a str,
    pub(crate) environment: &'a dyn Environment,
}

/// Request as a server's interceptor sees it. Every operation raises BAD_INV_ORDER with minor code 14 at a point where it is not valid.
pub struct ServerRequestInfo<'a> {
    pub(super) point: ServerPoint,
    pub(super) facts: &'a CallFacts<'a>,
    pub(super) orb: ServerOrb<'a>,
    pub(super) request_contexts: ServiceContexts<'a>,
    pub(super) reply_contexts: &'a mut Vec<OwnedContext>,
    /// Set when a context is added to the reply.
    pub(super) has_added_contexts: &'a mut bool,
    pub(super) slots: &'a mut Slots,
    /// Number of `PICurrent` slots that the ORB has.
    pub(super) slot_count: u32,
    pub(super) object: Option<&'a dyn ServedObject>,
    pub(super) outcome: Option<&'a Outcome>,
    pub(super) body: Option<&'a ReadBody<'a>>,
}

/// Set of the server's interception points from `receive_request` on.
const NOT_FIRST: ValidAt = ValidAt(0b01111);

request_info!(
    ServerRequestInfo,
    known: "Known of skeletons, and of a servant that describes its operations at run time, once it has read the arguments \
            ([`ServerCall::tell_arguments`](crate::ServerCall::tell_arguments)); not of a call within the process, nor where \
            the IDL was compiled without TypeCodes.",
    valid: { details: NOT_FIRST, operation_context: ValidAt(0b01100), arguments: ValidAt(0b01100) }
);

impl<'a> ServerRequestInfo<'a> {
    /// Returns whether the results and the arguments of the reply are available at this point.
    fn has_results(&self) -> bool {
        matches!(self.point, ServerPoint::SendReply) && self.facts.are_results_known()
    }

    /// Returns whether a forward's target may be available at this point.
    fn is_forwarded(&self) -> bool {
        matches!(self.point, ServerPoint::SendOther)
    }

    /// Returns how far the request must progress before its caller continues (SyncScope).
    #[must_use]
    pub fn sync_scope(&self) -> SyncScope {
        self.facts.sync_scope
    }

    /// Sets a slot of the request. Values set at `receive_request_service_contexts` are visible to
    /// the thread of the upcall (§16.4.4.4).
    ///
    /// # Errors
    /// [`InvalidSlot`].
    pub fn set_slot(&mut self, slot: SlotId, value: Any) -> Result<(), InvalidSlot> {
        self.slots.set(slot, self.slot_count, value)
    }

    /// Returns the data of a service context of the request.
    ///
    /// # Errors
    /// BAD_PARAM 26 if the request has no context with this id.
    pub fn get_request_service_context(&self, id: u32) -> Result<&'a [u8], SystemException> {
        self.request_contexts.find(id).ok_or_else(|| no_context(id))
    }

    /// Adds a service context to the reply, whatever its status. If `replace` is true, it replaces
    /// a context with this id.
    ///
    /// Ignored by protocols without service contexts.
    ///
    /// # Errors
    /// BAD_INV_ORDER 15 if there is a context with this id and `replace` is false.
    pub fn add_reply_service_context(
        &mut self,
        id: u32,
        data: &[u8],
        replace: bool,
    ) -> Result<(), SystemException> {
        add(self.reply_contexts, (id, data), replace)?;
        *self.has_added_contexts = true;
        Ok(())
    }

    /// Returns the exception that is about to be sent as the reply. A user exception is available
    /// if the skeleton knows its types, or a dynamic servant has described the operation; otherwise
    /// UNKNOWN 1 takes its place, and [`ServerRequestInfo::sending_exception_id`] returns its id.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14.
    pub fn sending_exception(&self) -> Result<Any, SystemException> {
        self.point.check(ValidAt(0b00010), "sending_exception")?;
        self.facts.exception(self.outcome, self.body)
    }

    /// Returns the repository id of the exception that is about to be sent. (In the standard, only
    /// client interceptors have this operation.)
    ///
    /// # Errors
    /// BAD_INV_ORDER 14.
    pub fn sending_exception_id(&self) -> Result<&str, SystemException> {
        self.point.check(ValidAt(0b00010), "sending_exception_id")?;
        Ok(self.exception_id())
    }

    /// Returns the system exception that is about to be sent as the reply; `None` for a user
    /// exception.
    #[must_use]
    pub fn sending_system_exception(&self) -> Option<&SystemException> {
        self.system_exception()
    }

    /// Returns the target object, once it has been found.
    fn object(&self, valid: ValidAt, what: &str) -> Result<&'a dyn ServedObject, SystemException> {
        self.point.check(valid, what)?;
        // Not found, as a servant manager has raised or forwarded (table 16.2, note 3).
        self.object.ok_or_else(|| not_available(what))
    }

    /// Returns the object's id.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; NO_RESOURCES 1 if no servant was found.
    pub fn object_id(&self) -> Result<Vec<u8>, SystemException> {
        Ok(self.object(NOT_FIRST, "object_id")?.object_id())
    }

    /// Returns the id of the object's adapter.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; NO_RESOURCES 1 if no servant was found.
    pub fn adapter_id(&self) -> Result<Vec<u8>, SystemException> {
        Ok(self.object(NOT_FIRST, "adapter_id")?.adapter_id())
    }

    /// Returns the names from the root adapter to the object's adapter.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; NO_RESOURCES 1 if no servant was found.
    pub fn adapter_name(&self) -> Result<Vec<String>, SystemException> {
        Ok(self.object(NOT_FIRST, "adapter_name")?.adapter_name())
    }

    /// Returns the server's id ([`crate::OrbBuilder::server_id`]).
    ///
    /// # Errors
    /// BAD_INV_ORDER 14.
    pub fn server_id(&self) -> Result<&str, SystemException> {
        self.point.check(NOT_FIRST, "server_id")?;
        Ok(self.orb.server_id)
    }

    /// Returns the ORB's id ([`crate::OrbBuilder::orb_id`]).
    ///
    /// # Errors
    /// BAD_INV_ORDER 14.
    pub fn orb_id(&self) -> Result<&str, SystemException> {
        self.point.check(NOT_FIRST, "orb_id")?;
        Ok(self.orb.orb_id)
    }

    /// Returns the repository id of the object's most derived interface.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; NO_RESOURCES 1 if the adapter does not know it.
    pub fn target_most_derived_interface(&self) -> Result<String, SystemException> {
        let object = self.object(ValidAt(0b01000), "target_most_derived_interface")?;
        Ok(object.most_derived_interface())
    }

    /// Returns whether the object implements an interface.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; NO_RESOURCES 1 if the adapter does not know it.
    pub fn target_is_a(&self, repository_id: &str) -> Result<bool, SystemException> {
        let object = self.object(ValidAt(0b01000), "target_is_a")?;
        Ok(object.is_a(repository_id))
    }

    /// Returns the policy of this type that the object's adapter has.
    ///
    /// # Errors
    /// INV_POLICY 2 if the adapter has none, or is not known yet, as at
    /// `receive_request_service_contexts`.
    pub fn get_server_policy(&self, policy_type: u32) -> Result<Policy, SystemException> {
        let policy = self.object.and_then(|object| object.policy(policy_type));
        policy.ok_or_else(|| {
            SystemException::new(
                Kind::InvPolicy,
                minor::INVALID_POLICY_TYPE,
                CompletionStatus::No,
            )
            .with_detail(format!("the adapter has no policy of type {policy_type}"))
        })
    }

    pub(crate) fn environment(&self) -> &dyn Environment {
        self.orb.environment
    }
}
