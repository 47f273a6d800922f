//! Request as a client's interceptor sees it, and operations on it (CORBA 3.3 part 1, §16.3.13). Each operation is
//! valid at the points given in table 16.1, encoded next to it as bits in the table's order.

use super::OwnedContext;
use super::accessors::request_info;
use super::error::{InvalidSlot, not_available, not_valid_here};
use super::outcome::Outcome;
use super::place::CallDestination;
use super::points::{ClientPoint, ReplyStatus, ValidAt};
use super::request_info::{CallFacts, Parameter, ReadBody, add, find};
use super::slots::{SlotId, Slots};
use crate::context::Context;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::policy::{Policy, SyncScope};
use punctual_any::{Any, TypeCode};
use punctual_cdr::Environment;
use punctual_ior::{Ior, TaggedComponent, TaggedProfile};
use std::fmt;

/// Request as a client's interceptor sees it. Every operation raises BAD_INV_ORDER with minor code
/// 14 at a point where it is not valid.
pub struct ClientRequestInfo<'a> {
    pub(super) point: ClientPoint,
    pub(super) facts: &'a CallFacts<'a>,
    pub(super) place: &'a CallDestination<'a>,
    pub(super) request_contexts: &'a mut Vec<OwnedContext>,
    /// Set when a context is added to the request.
    pub(super) has_added_contexts: &'a mut bool,
    pub(super) reply_contexts: &'a [OwnedContext],
    pub(super) slots: &'a Slots,
    /// Number of `PICurrent` slots that the ORB has.
    pub(super) slot_count: u32,
    pub(super) outcome: Option<&'a Outcome>,
    pub(super) body: Option<&'a ReadBody<'a>>,
}

/// Points of table 16.1 other than `send_poll`: `send_request` and the ending points.
const NOT_SEND_POLL: ValidAt = ValidAt(0b10111);

request_info!(
    ClientRequestInfo,
    known: "Known of requests of the Dynamic Invocation Interface and of stubs'; not of a stub's call within the process, \
            nor where the IDL was compiled without TypeCodes.",
    valid: { details: NOT_SEND_POLL, operation_context: NOT_SEND_POLL, arguments: ValidAt(0b10100) }
);

impl ClientRequestInfo<'_> {
    /// Returns whether the results and the arguments of the reply are available at this point.
    fn has_results(&self) -> bool {
        matches!(self.point, ClientPoint::ReceiveReply)
    }

    /// Returns whether a forward's target may be available at this point.
    fn is_forwarded(&self) -> bool {
        matches!(self.point, ClientPoint::ReceiveOther)
    }

    /// Returns how far a one-way must progress before its caller continues (SyncScope); WITH_TARGET
    /// for any other call.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14.
    pub fn sync_scope(&self) -> Result<SyncScope, SystemException> {
        self.point.check(NOT_SEND_POLL, "sync_scope")?;
        Ok(self.facts.sync_scope)
    }

    /// Returns the data of a service context of the request.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; BAD_PARAM 26 if the request has no context with this id.
    pub fn get_request_service_context(&self, id: u32) -> Result<&[u8], SystemException> {
        self.point
            .check(NOT_SEND_POLL, "get_request_service_context")?;
        find(self.request_contexts, id)
    }

    /// Adds a service context to the request. If `replace` is true, it replaces a context with this
    /// id.
    ///
    /// Ignored by protocols without service contexts.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; BAD_INV_ORDER 15 if there is a context with this id and `replace` is
    /// false; BAD_PARAM for the context CodeSets, which only the ORB sets.
    pub fn add_request_service_context(
        &mut self,
        id: u32,
        data: &[u8],
        replace: bool,
    ) -> Result<(), SystemException> {
        self.point
            .check(ValidAt(0b10000), "add_request_service_context")?;
        add(self.request_contexts, (id, data), replace)?;
        *self.has_added_contexts = true;
        Ok(())
    }

    /// Returns the reference on which the call was made, as an IOR
    /// ([`ClientRequestInfo::target`](crate::ClientRequestInfo::target) returns it as an object
    /// reference).
    #[must_use]
    pub fn target_ior(&self) -> &Ior {
        self.place.target
    }

    /// Returns the reference to which the request is sent, as an IOR: the target, or the reference
    /// to which the call was forwarded.
    #[must_use]
    pub fn effective_target_ior(&self) -> &Ior {
        self.place.effective
    }

    /// Returns the profile that the call uses.
    ///
    /// # Errors
    /// NO_RESOURCES 1 if the reference has no usable profile.
    pub fn effective_profile(&self) -> Result<&TaggedProfile, SystemException> {
        let profile = self.place.profile();
        profile.ok_or_else(|| not_available("effective_profile"))
    }

    /// Returns the first component with this tag in the effective profile.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; BAD_PARAM 28 if the profile has no such component.
    pub fn get_effective_component(&self, tag: u32) -> Result<TaggedComponent, SystemException> {
        self.point.check(NOT_SEND_POLL, "get_effective_component")?;
        let mut found = self.components(tag);
        match found.is_empty() {
            false => Ok(found.swap_remove(0)),
            true => Err(no_component(tag)),
        }
    }

    /// Returns all components with this tag in the effective profile.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; BAD_PARAM 28 if the profile has no such component.
    pub fn get_effective_components(
        &self,
        tag: u32,
    ) -> Result<Vec<TaggedComponent>, SystemException> {
        self.point
            .check(NOT_SEND_POLL, "get_effective_components")?;
        let found = self.components(tag);
        match found.is_empty() {
            false => Ok(found),
            true => Err(no_component(tag)),
        }
    }

    fn components(&self, tag: u32) -> Vec<TaggedComponent> {
        let mut all = self.place.components();
        all.retain(|one| one.tag == tag);
        all
    }

    /// Returns the policy of a type that is in effect for the call.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; INV_POLICY 2 if no policy of this type is set.
    pub fn get_request_policy(&self, policy_type: u32) -> Result<Policy, SystemException> {
        self.point.check(NOT_SEND_POLL, "get_request_policy")?;
        let mut found = self.place.policies.policies(&[policy_type]);
        found.pop().ok_or_else(|| {
            SystemException::new(
                Kind::InvPolicy,
                minor::INVALID_POLICY_TYPE,
                CompletionStatus::No,
            )
            .with_detail(format!(
                "no policy of type {policy_type} holds for the call"
            ))
        })
    }

    /// Returns the exception that the caller is about to get. A user exception is available if the
    /// call knows its type, as calls of the Dynamic Invocation Interface do; otherwise UNKNOWN 1
    /// takes its place.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14.
    pub fn received_exception(&self) -> Result<Any, SystemException> {
        self.point.check(ValidAt(0b00010), "received_exception")?;
        self.facts.exception(self.outcome, self.body)
    }

    /// Returns the repository id of the exception that the caller is about to get.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14.
    pub fn received_exception_id(&self) -> Result<&str, SystemException> {
        self.point
            .check(ValidAt(0b00010), "received_exception_id")?;
        Ok(self.exception_id())
    }

    /// Returns the system exception that the caller is about to get; `None` for a user exception.
    #[must_use]
    pub fn received_system_exception(&self) -> Option<&SystemException> {
        self.system_exception()
    }

    pub(crate) fn environment(&self) -> &dyn Environment {
        self.place.environment
    }
}

#[cold]
fn no_component(tag: u32) -> SystemException {
    SystemException::new(Kind::BadParam, minor::NO_COMPONENT, CompletionStatus::No)
        .with_detail(format!("the profile has no component {tag:#x}"))
}
