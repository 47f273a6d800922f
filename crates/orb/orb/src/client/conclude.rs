//! The stage that decides about a call after an attempt: it is done, follows a forward, is repeated
//! where that is safe, or tries the next profile.
//!
//! Repeating is safe when the server cannot have begun: the request never left, or the peer said
//! CloseConnection before it answered (CORBA 3.3 part 2, §9.4.7). What asks about an object, and changes
//! nothing, may be repeated, too: LocateRequests, `_is_a`, `_non_existent`. Otherwise the caller gets
//! COMM_FAILURE with COMPLETED_MAYBE.

use super::failure::{Failed, must_rebind, out_of_place};
use super::invocation::{Call, Invocation, Next, Outcome};
use super::outcome::ReplyOutcome;
use super::target::Target;
use super::write::Ask;
use crate::exception::{SystemException, SystemExceptionKind as Kind};
use crate::lane::Binding;
use crate::relayed::on_terms;
use punctual_ior::Ior;

/// Maximum number of times that a call is repeated on a new connection because the old one had gone
/// stale.
const MAX_STALE: u32 = 3;

/// Maximum number of times that a server may ask for another addressing disposition: there are two
/// others.
const MAX_READDRESSED: u32 = 2;

/// Operations of all objects, which ask about them.
const ABOUT_OBJECTS: [&str; 5] = [
    "_is_a",
    "_non_existent",
    "_not_existent",
    "_interface",
    "_repository_id",
];

impl Invocation {
    /// Decides on an attempt, and lets interceptors act on the result. `bound` is the binding to
    /// remember if the call has succeeded; `None` if it is remembered already.
    ///
    /// # Errors
    /// The exception that ends the call.
    pub(super) fn conclude(
        &mut self,
        call: &Call<'_>,
        outcome: Outcome,
        bound: Option<&Binding>,
    ) -> Result<Next, SystemException> {
        if self.interception.is_none() {
            let judged = self.judge(call, outcome, bound);
            return self.truly(judged);
        }
        let forward = match &outcome {
            Ok(Some(ReplyOutcome::Forward { to, .. })) => Some(to.clone()),
            _ => None,
        };
        let judged = self.judge(call, outcome, bound);
        let judged = self.truly(judged);
        self.end_pass(call, judged, forward)
    }

    /// Corrects the exception that ends a call to a group by what earlier attempts may have done.
    fn truly(&self, judged: Result<Next, SystemException>) -> Result<Next, SystemException> {
        if self.group.is_none() {
            return judged;
        }
        match judged {
            Err(exception) => Err(self.of_all_attempts(exception)),
            Ok(Next::Done(outcome)) => {
                let raised = outcome.as_ref().and_then(ReplyOutcome::exception);
                let Some(raised) = raised.cloned() else {
                    return Ok(Next::Done(outcome));
                };
                let whole = self.of_all_attempts(raised.clone());
                match whole.completed() == raised.completed() {
                    true => Ok(Next::Done(outcome)),
                    false => Err(whole),
                }
            }
            Ok(Next::Again) => Ok(Next::Again),
        }
    }

    fn judge(
        &mut self,
        call: &Call<'_>,
        outcome: Outcome,
        bound: Option<&Binding>,
    ) -> Result<Next, SystemException> {
        let failed = match outcome {
            Ok(Some(ReplyOutcome::Forward {
                to,
                origin,
                permanently,
            })) => {
                if self.route.is_held() {
                    return Err(must_rebind("the server forwards the call"));
                }
                let to = Target::new(call.forwarded(to), origin);
                let replaces = permanently || self.route.is_newer_group(&call.callee, &to);
                self.route.forward(&call.callee, to, replaces)?;
                self.adapt_to_group(call);
                return Ok(Next::Again);
            }
            Ok(Some(ReplyOutcome::NeedsAddressing(disposition))) => {
                self.readdressed += 1;
                if disposition == self.addressing || self.readdressed > MAX_READDRESSED {
                    return Err(out_of_place());
                }
                self.addressing = disposition;
                return Ok(Next::Again);
            }
            Ok(outcome) => match outcome.as_ref().and_then(ReplyOutcome::exception) {
                // A forward that has gone stale: its object may be back at the original place.
                Some(raised) if is_gone(raised) && self.route.is_forwarded() => {
                    return Ok(match self.route.restart(&call.callee) {
                        true => Next::Again,
                        false => Next::Done(outcome),
                    });
                }
                Some(raised) if may_succeed_elsewhere(raised) || self.may_repeat(raised) => {
                    Failed::Finally(raised.clone())
                }
                // Another process may listen there now.
                Some(raised) if is_gone(raised) && bound.is_some_and(is_local) => {
                    Failed::Unfit(raised.clone())
                }
                _ => {
                    if let Some(binding) = bound {
                        self.route.remember(&call.callee, binding);
                    }
                    return Ok(Next::Done(outcome));
                }
            },
            Err(failed) => failed,
        };
        self.go_on(call, failed).map(|()| Next::Again)
    }

    /// Prepares another attempt after a failure, if that is safe and an endpoint is left.
    fn go_on(&mut self, call: &Call<'_>, failed: Failed) -> Result<(), SystemException> {
        match failed {
            Failed::Stale(_) if self.stale < MAX_STALE && !self.deadline.has_passed() => {
                self.stale += 1;
            }
            // Its own reason says more than that all endpoints have failed.
            Failed::Unfit(exception) => {
                if !self.route.go_on(&call.callee, exception.clone()) {
                    return Err(exception);
                }
            }
            Failed::Stale(exception) | Failed::Finally(exception) => {
                let is_lost = call.changes_nothing() && exception.kind() == Kind::CommFailure;
                let goes_on =
                    is_lost || may_succeed_elsewhere(&exception) || self.may_repeat(&exception);
                if !goes_on || self.deadline.has_passed() {
                    return Err(exception);
                }
                self.note_repeat(&exception);
                let is_of_group = self.group.is_some();
                let last = (is_of_group || is_lost).then(|| exception.clone());
                if !self.route.go_on(&call.callee, exception) {
                    return match last {
                        Some(last) if is_of_group => self.another_round(call, last),
                        Some(last) => Err(last),
                        None => Err(self.route.failure(self.deadline)),
                    };
                }
                self.stale = 0;
            }
        }
        Ok(())
    }
}

impl Call<'_> {
    /// Returns whether the call may be repeated although a server may have begun it: it asks about the object, and changes nothing.
    fn changes_nothing(&self) -> bool {
        match self.ask {
            Ask::Request { operation, .. } => ABOUT_OBJECTS.contains(&operation.name()),
            Ask::Relay(_) => false,
            Ask::Locate => true,
        }
    }

    /// Returns the target of a forward. For a relayed request, the relay's terms are added to it.
    pub(super) fn forwarded(&self, to: Ior) -> Ior {
        match self.ask {
            Ask::Relay(request) => {
                let registry = self.callee.broker().protocols.now();
                on_terms(&registry, &to, None, request.terms())
            }
            _ => to,
        }
    }
}

/// Returns whether the binding is to an endpoint of this host. After its server has ended, another
/// server may own that endpoint.
fn is_local(binding: &Binding) -> bool {
    binding.endpoint.pair.link.is_local()
}

/// Returns whether the exception says that the server does not know the object, and so has not
/// begun the call.
fn is_gone(exception: &SystemException) -> bool {
    exception.kind() == Kind::ObjectNotExist && exception.is_not_begun()
}

/// Returns whether the call may succeed with another profile: the server has not begun it.
fn may_succeed_elsewhere(exception: &SystemException) -> bool {
    exception.is_not_begun()
        && matches!(
            exception.kind(),
            Kind::Transient | Kind::CommFailure | Kind::NoResponse | Kind::ObjAdapter
        )
}
