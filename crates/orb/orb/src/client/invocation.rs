//! One call, through its stages: resolve ([`super::resolve`], [`super::route`]), bind, write
//! ([`super::write`]), send ([`super::send`]), complete ([`super::complete`]), conclude
//! ([`super::conclude`]).
//!
//! An [`Invocation`] is all that a call is between two attempts: [`Invocation::attempt`] brings it to an outcome,
//! [`Invocation::conclude`] says whether that is the call's, or another attempt is to be made. The short way
//! ([`super::short`]) goes through the same stages with everything decided beforehand.

use super::complete::Completion;
use super::failure::Failed;
use super::outcome::ReplyOutcome;
use super::remote::Callee;
use super::route::Route;
use super::write::Ask;
use punctual_exec::Deadline;
use punctual_giop::AddressingDisposition;

/// One call on its way.
pub(super) struct Invocation<'a> {
    pub(super) callee: Callee<'a>,
    pub(super) ask: Ask<'a>,
    pub(super) completion: Completion,
    pub(super) deadline: Deadline,
    /// How the server wants the object addressed (CORBA 3.3 part 2, §9.4.2.3).
    pub(super) addressing: AddressingDisposition,
    pub(super) route: Route<'a>,
    /// How often it has moved on to a fresh connection because the old one had gone stale.
    pub(super) stale: u32,
    /// How often a server has asked for another way to address the object.
    pub(super) readdressed: u32,
}

/// What one attempt has come to; `None` for a one-way that was sent.
pub(super) type Outcome = Result<Option<ReplyOutcome>, Failed>;

/// What is to be done with a call.
pub(super) enum Next {
    /// Nothing: that is what it has come to; `None` for a one-way that was sent.
    Done(Option<ReplyOutcome>),
    /// Another attempt.
    Again,
}

impl<'a> Invocation<'a> {
    pub(super) fn new(callee: Callee<'a>, ask: Ask<'a>) -> Self {
        let effective = callee.effective();
        let completion = match ask {
            Ask::Request { operation, .. } if !operation.two_way => Completion::Sent,
            Ask::Relay(request) if !request.response.response_expected() => Completion::Sent,
            Ask::Relay(_) => Completion::RelayedReply,
            Ask::Request { .. } | Ask::Locate => Completion::Reply,
        };
        Self {
            callee,
            ask,
            completion,
            deadline: Deadline::after_maybe(callee.timeout_under(&effective)),
            addressing: AddressingDisposition::Key,
            route: Route::new(callee, effective, completion != Completion::Sent),
            stale: 0,
            readdressed: 0,
        }
    }
}
