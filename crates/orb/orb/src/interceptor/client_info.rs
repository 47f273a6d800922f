//! What a client's interceptor can ask of a request and do to it (CORBA 3.3 part 1, §16.3.13). Each operation is valid at
//! the points of table 16.1, which stands beside it as bits, in the table's order of points.

use super::OwnedContext;
use super::error::{InvalidSlot, bad_inv_order, not_available};
use super::outcome::Outcome;
use super::place::Place;
use super::points::{ClientPoint, ReplyStatus, ValidAt};
use super::request_info::{CallFacts, Parameter, ReadBody, find};
use super::slots::{SlotId, Slots};
use crate::context::Context;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::policy::{Policy, SyncScope};
use punctual_any::{Any, TypeCode};
use punctual_cdr::Environment;
use punctual_giop::service_context;
use punctual_ior::{Ior, TaggedComponent, TaggedProfile};
use std::fmt;

/// See the module. Every operation raises BAD_INV_ORDER with minor code 14 at a point where it is not valid.
pub struct ClientRequestInfo<'a> {
    pub(super) point: ClientPoint,
    pub(super) facts: &'a CallFacts<'a>,
    pub(super) place: Place<'a>,
    pub(super) request_contexts: &'a mut Vec<OwnedContext>,
    pub(super) reply_contexts: &'a [OwnedContext],
    pub(super) slots: &'a Slots,
    /// How many slots there are.
    pub(super) slot_count: u32,
    pub(super) outcome: Option<Outcome>,
    pub(super) body: Option<&'a ReadBody<'a>>,
}

/// At `send_request`, and at ending points.
const NOT_SEND_POLL: ValidAt = ValidAt(0b10111);

impl ClientRequestInfo<'_> {
    /// Tells the request from all others that this ORB has made and that are not done. It is no number of the wire: where
    /// a call is sent more than once, or polled, it stays the same.
    #[must_use]
    pub fn request_id(&self) -> u32 {
        self.facts.request_id
    }

    /// The operation's name on the wire.
    #[must_use]
    pub fn operation(&self) -> &str {
        self.facts.operation
    }

    /// Whether a reply is expected: not to a one-way that is not waited for.
    #[must_use]
    pub fn response_expected(&self) -> bool {
        self.facts.response_expected
    }

    /// The arguments, with what has come back at `receive_reply`. Known of requests of the Dynamic Invocation Interface, and of stubs'.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; NO_RESOURCES 1 of a stub's call within the process, and where the IDL was compiled without TypeCodes.
    pub fn arguments(&self) -> Result<Vec<Parameter>, SystemException> {
        self.point.check(ValidAt(0b10100), "arguments")?;
        match self.point {
            ClientPoint::ReceiveReply => {
                let results = self.facts.results(self.body, "arguments");
                results.map(|(_, arguments)| arguments)
            }
            _ => self.facts.arguments(),
        }
    }

    /// The user exceptions that the operation may raise. Known of requests of the Dynamic Invocation Interface, and of stubs'.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; NO_RESOURCES 1 of a stub's call within the process, and where the IDL was compiled without TypeCodes.
    pub fn exceptions(&self) -> Result<Vec<TypeCode>, SystemException> {
        self.point.check(NOT_SEND_POLL, "exceptions")?;
        self.facts.exceptions()
    }

    /// The names of the operation's `context` clause. Known of requests of the Dynamic Invocation Interface, and of stubs'.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; NO_RESOURCES 1 of a stub's call within the process, and where the IDL was compiled without TypeCodes.
    pub fn contexts(&self) -> Result<Vec<String>, SystemException> {
        self.point.check(NOT_SEND_POLL, "contexts")?;
        self.facts.contexts()
    }

    /// The values that go with it by that clause. Known of requests of the Dynamic Invocation Interface, and of stubs'.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; NO_RESOURCES 1 of a stub's call within the process, and where the IDL was compiled without TypeCodes.
    pub fn operation_context(&self) -> Result<Context, SystemException> {
        self.point.check(NOT_SEND_POLL, "operation_context")?;
        self.facts.operation_context()
    }

    /// What the operation has returned. Known of requests of the Dynamic Invocation Interface, and of stubs'.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; NO_RESOURCES 1 of a stub's call within the process, and where the IDL was compiled without TypeCodes.
    pub fn result(&self) -> Result<Any, SystemException> {
        self.point.check(ValidAt(0b00100), "result")?;
        let results = self.facts.results(self.body, "result");
        results.map(|(result, _)| result)
    }

    /// How far a one-way is to come before its caller goes on; to the target, of any other.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14.
    pub fn sync_scope(&self) -> Result<SyncScope, SystemException> {
        self.point.check(NOT_SEND_POLL, "sync_scope")?;
        Ok(self.facts.sync_scope)
    }

    /// What the request has come to.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14.
    pub fn reply_status(&self) -> Result<ReplyStatus, SystemException> {
        self.point.check(ValidAt::ENDS, "reply_status")?;
        let status = self.outcome.as_ref().map(Outcome::status);
        Ok(status.unwrap_or(ReplyStatus::Unknown))
    }

    /// Where the call is forwarded to, as it is written.
    pub(crate) fn forwarded_to(&self) -> Result<&Ior, SystemException> {
        match (self.point, &self.outcome) {
            (ClientPoint::ReceiveOther, Some(Outcome::Forward(to))) => Ok(to),
            // Valid there for LOCATION_FORWARD alone (table 16.1, note 2).
            _ => Err(super::error::not_valid_here("forward_reference")),
        }
    }

    /// The value of a slot, as the calling thread had it when it made the call.
    ///
    /// # Errors
    /// [`InvalidSlot`].
    pub fn get_slot(&self, slot: SlotId) -> Result<Any, InvalidSlot> {
        self.slots.get(slot, self.slot_count)
    }

    /// The data of a service context of the request.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; BAD_PARAM 26 where there is none of that id.
    pub fn get_request_service_context(&self, id: u32) -> Result<&[u8], SystemException> {
        self.point
            .check(NOT_SEND_POLL, "get_request_service_context")?;
        find(self.request_contexts, id)
    }

    /// The data of a service context of the reply.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; BAD_PARAM 26 where there is none of that id.
    pub fn get_reply_service_context(&self, id: u32) -> Result<&[u8], SystemException> {
        self.point
            .check(ValidAt::ENDS, "get_reply_service_context")?;
        find(self.reply_contexts, id)
    }

    /// Has the request carry a service context. With `replace` it takes the place of one of its id.
    ///
    /// A protocol without service contexts carries none.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; BAD_INV_ORDER 15 where there is one of that id, without `replace`; BAD_PARAM for the context
    /// of code sets, which is the ORB's.
    pub fn add_request_service_context(
        &mut self,
        id: u32,
        data: &[u8],
        replace: bool,
    ) -> Result<(), SystemException> {
        self.point
            .check(ValidAt(0b10000), "add_request_service_context")?;
        add(self.request_contexts, (id, data), replace)
    }

    /// The reference that is called, as data ([`ClientRequestInfo::target`](crate::ClientRequestInfo::target) as an
    /// object).
    #[must_use]
    pub fn target_ior(&self) -> &Ior {
        self.place.target
    }

    /// The same of where the call goes: that reference, or where it was forwarded to.
    #[must_use]
    pub fn effective_target_ior(&self) -> &Ior {
        self.place.effective
    }

    /// The profile that the call goes by.
    ///
    /// # Errors
    /// NO_RESOURCES 1 where the reference has none that can be used.
    pub fn effective_profile(&self) -> Result<&TaggedProfile, SystemException> {
        let profile = self.place.profile();
        profile.ok_or_else(|| not_available("effective_profile"))
    }

    /// The first component of that profile with a tag.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; BAD_PARAM 28 where there is none.
    pub fn get_effective_component(&self, tag: u32) -> Result<TaggedComponent, SystemException> {
        self.point.check(NOT_SEND_POLL, "get_effective_component")?;
        let mut found = self.components(tag);
        match found.is_empty() {
            false => Ok(found.swap_remove(0)),
            true => Err(no_component(tag)),
        }
    }

    /// All of them.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; BAD_PARAM 28 where there is none.
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

    /// The policy of a type that holds for the call.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14; INV_POLICY 2 where none of that type is set.
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

    /// The exception that the caller is about to get. A user exception is there if the call knows its type, as those of
    /// the Dynamic Invocation Interface do; else UNKNOWN 1 stands for it.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14.
    pub fn received_exception(&self) -> Result<Any, SystemException> {
        self.point.check(ValidAt(0b00010), "received_exception")?;
        self.facts.exception(self.outcome.as_ref(), self.body)
    }

    /// Its repository id.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14.
    pub fn received_exception_id(&self) -> Result<&str, SystemException> {
        self.point
            .check(ValidAt(0b00010), "received_exception_id")?;
        Ok(exception_id(self.outcome.as_ref()))
    }

    /// The system exception that the caller is about to get, if it is one.
    #[must_use]
    pub fn received_system_exception(&self) -> Option<&SystemException> {
        match &self.outcome {
            Some(Outcome::System(exception)) => Some(exception),
            _ => None,
        }
    }

    pub(crate) fn environment(&self) -> &dyn Environment {
        self.place.environment
    }
}

pub(super) fn exception_id(outcome: Option<&Outcome>) -> &str {
    match outcome {
        Some(Outcome::System(exception)) => exception.kind().repository_id(),
        Some(Outcome::User(id)) => id,
        _ => "",
    }
}

/// Adds a context, or puts it in another's place.
pub(super) fn add(
    contexts: &mut Vec<OwnedContext>,
    (id, data): (u32, &[u8]),
    replace: bool,
) -> Result<(), SystemException> {
    if id == service_context::CODE_SETS {
        return Err(Kind::BadParam.because("the context of code sets is the ORB's own"));
    }
    match contexts.iter_mut().find(|(there, _)| *there == id) {
        Some((_, there)) if replace => *there = data.to_vec(),
        Some(_) => {
            let why = format!("there is a service context {id:#x} already");
            return Err(bad_inv_order(minor::SERVICE_CONTEXT_EXISTS, why));
        }
        None => contexts.push((id, data.to_vec())),
    }
    Ok(())
}

#[cold]
fn no_component(tag: u32) -> SystemException {
    SystemException::new(Kind::BadParam, minor::NO_COMPONENT, CompletionStatus::No)
        .with_detail(format!("the profile has no component {tag:#x}"))
}

impl fmt::Debug for ClientRequestInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientRequestInfo")
            .field("point", &self.point.name())
            .field("request_id", &self.facts.request_id)
            .field("operation", &self.facts.operation)
            .finish_non_exhaustive()
    }
}
