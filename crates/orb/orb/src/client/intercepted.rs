//! Client interception points of a call (CORBA 3.3 part 1, §16.3).
//!
//! Each attempt is a pass: `send_request` before the call is bound, and an ending point when its
//! result is known. An attempt that leads to another ends with `receive_other`. An asynchronous
//! call ends its first pass when its request has been sent, and has a second pass, which begins
//! with `send_poll`, when its reply has arrived. The fast path calls interceptors at the same points
//! ([`super::short`]), and passes a call that it cannot end to the slow path with its pass.

use super::complete::Completion;
use super::contexts::FilledContexts;
use super::failure::{must_rebind, out_of_place};
use super::invocation::{Call, Invocation, Next};
use super::outcome::ReplyOutcome;
use super::remote::Callee;
use super::target::Target;
use super::write::{Arguments, Ask};
use crate::exception::SystemException;
use crate::interceptor::{
    At, CallDestination, CallFacts, ClientPass, Outcome, ReadBody, RequestTypes,
};
use crate::lane::{Binding, ClientConnection};
use crate::messaging::{Examined, Head, Message};
use crate::operation::NamedOperation;
use crate::policy::{Effective, SyncScope};
use crate::profile::Origin;
use punctual_cdr::{CdrError, Coding, Decoder};
use punctual_giop::{ReplyStatus, ResponseFlags};
use punctual_ior::Ior;

impl Invocation {
    /// Marks the call as deferred: its caller does not wait for the reply.
    pub(super) fn set_deferred(&mut self) {
        if let Some(interception) = &mut self.interception {
            interception.set_deferred = true;
        }
    }

    /// Calls the interceptors' `send_request` before an attempt to send the request. Returns
    /// [`Next::Done`] if the request is to be sent; otherwise an interceptor has forwarded the call.
    ///
    /// # Errors
    /// The exception that an interceptor has raised.
    pub(super) fn begin_pass(&mut self, call: &Call<'_>) -> Result<Next, SystemException> {
        if self.interception.is_none() {
            return Ok(Next::Done(None));
        }
        self.route.begin(&call.callee);
        let contexts = match call.ask {
            Ask::Relay(request) => {
                let came = request.contexts.iter();
                came.map(|(id, data)| (id, data.to_vec())).collect()
            }
            _ => self.contexts.clone(),
        };
        self.start(call, |pass, at| pass.send_request(at, contexts))
    }

    /// Begins the pass for the reply that has arrived to a deferred call. Returns as
    /// [`Invocation::begin_pass`] does.
    ///
    /// # Errors
    /// The exception that an interceptor has raised.
    pub(super) fn begin_poll(&mut self, call: &Call<'_>) -> Result<Next, SystemException> {
        match &self.interception {
            Some(interception) if interception.set_deferred => {
                self.start(call, ClientPass::send_poll)
            }
            _ => Ok(Next::Done(None)),
        }
    }

    fn start(
        &mut self,
        call: &Call<'_>,
        start: impl FnOnce(&mut ClientPass, &At<'_>) -> Option<Outcome>,
    ) -> Result<Next, SystemException> {
        let Some(mut interception) = self.interception.take() else {
            return Ok(Next::Done(None));
        };
        let at = self.at(call, interception.pass.request_id());
        let interrupted = start(&mut interception.pass, &at);
        interception.is_on = interrupted.is_none();
        self.interception = Some(interception);
        match interrupted {
            None => Ok(Next::Done(None)),
            Some(outcome) => self.obey(call, outcome),
        }
    }

    /// Ends the pass of a deferred call once its request has been sent.
    ///
    /// # Errors
    /// The exception that an interceptor has raised.
    pub(super) fn end_request_pass(&mut self, call: &Call<'_>) -> Result<Next, SystemException> {
        let set_deferred = self.interception.as_ref().is_some_and(|it| it.set_deferred);
        match set_deferred {
            true => self.end_pass(call, Ok(Next::Done(None)), None),
            false => Ok(Next::Done(None)),
        }
    }

    /// Records the service contexts of a reply for the interceptors.
    pub(super) fn note_reply(&mut self, binding: &Binding, message: &Message) {
        let Some(interception) = &mut self.interception else {
            return;
        };
        interception.pass.reply_contexts = reply_contexts(&binding.connection, message);
    }

    /// Ends the pass with the result of the attempt. Returns the result as the interceptors have
    /// changed it. `forward` is the target of a server's forward.
    ///
    /// # Errors
    /// The exception that ends the call.
    pub(super) fn end_pass(
        &mut self,
        call: &Call<'_>,
        judged: Result<Next, SystemException>,
        forward: Option<Ior>,
    ) -> Result<Next, SystemException> {
        let Some(mut interception) = self.interception.take() else {
            return judged;
        };
        if !std::mem::take(&mut interception.is_on) {
            self.interception = Some(interception);
            return judged;
        }
        let came = match &judged {
            Ok(Next::Done(came)) => came.as_ref(),
            _ => None,
        };
        let outcome = match (&judged, forward) {
            (Ok(Next::Again), Some(to)) => Outcome::Forward(Box::new(to)),
            (Ok(Next::Again), None) => Outcome::Retry,
            (Ok(Next::Done(_)), _) => outcome_of(&call.callee, came),
            (Err(exception), _) => Outcome::System(exception.clone()),
        };
        let body = |look: &mut dyn FnMut(&mut Decoder<'_>)| {
            if let Some(ReplyOutcome::Results(reply) | ReplyOutcome::UserException(reply)) = came {
                look(&mut reply.decoder(call.callee));
            }
        };
        let at = self.at(call, interception.pass.request_id());
        let changed = interception
            .pass
            .end(&at, outcome, Some(&body as &ReadBody<'_>));
        self.interception = Some(interception);
        match changed {
            None => judged,
            Some(outcome) => self.obey(call, outcome),
        }
    }

    /// Carries out the outcome on which the interceptors have decided.
    pub(super) fn obey(
        &mut self,
        call: &Call<'_>,
        outcome: Outcome,
    ) -> Result<Next, SystemException> {
        match outcome {
            Outcome::Forward(to) => {
                if self.route.is_held() {
                    return Err(must_rebind("an interceptor forwards the call"));
                }
                // The forward comes from this process.
                let to = Target::new(call.forwarded(*to), Origin::ThisHost);
                self.route.forward_once(&call.callee, to)?;
                Ok(Next::Again)
            }
            Outcome::System(exception) => Err(exception),
            _ => Err(out_of_place()),
        }
    }

    fn at<'a>(&'a self, call: &'a Call<'_>, request_id: u32) -> At<'a> {
        let callee = &call.callee;
        let (operation, details, types) = match call.ask {
            Ask::Request {
                operation,
                arguments,
            } => (
                operation.name(),
                operation.details,
                types(operation, arguments, callee),
            ),
            Ask::Relay(request) => (request.operation(), None, RequestTypes::Unknown),
            Ask::Locate => ("", None, RequestTypes::Unknown),
        };
        At {
            interceptors: callee.broker().interceptors.client(),
            facts: CallFacts {
                request_id,
                operation,
                response_expected: self.completion != Completion::Sent,
                sync_scope: self.sync_scope(call.ask),
                details,
                types,
            },
            place: CallDestination {
                target: callee.object.called_as().ior(),
                effective: self.route.target(callee).ior(),
                profile: self.route.profile(),
                policies: &self.route.effective,
                protocols: &callee.broker().protocols,
                environment: callee.environment,
            },
        }
    }

    fn sync_scope(&self, ask: Ask<'_>) -> SyncScope {
        let response = match ask {
            Ask::Request { operation, .. } => operation.response,
            Ask::Relay(request) => request.response,
            Ask::Locate => ResponseFlags::SYNC_WITH_TARGET,
        };
        sync_scope(response, &self.route.effective)
    }
}

/// Returns the types of an operation for interceptors.
pub(super) fn types<'a>(
    operation: &NamedOperation<'a>,
    arguments: &'a Arguments<'a>,
    callee: &Callee<'a>,
) -> RequestTypes<'a> {
    match operation.types {
        None => RequestTypes::Unknown,
        Some(find) => RequestTypes::Sought {
            find,
            arguments,
            environment: callee.environment,
        },
    }
}

/// Returns how far a request with these response flags must progress before its caller continues.
pub(super) fn sync_scope(response: ResponseFlags, effective: &Effective) -> SyncScope {
    match response {
        ResponseFlags::SYNC_WITH_TARGET => SyncScope::WithTarget,
        ResponseFlags::SYNC_WITH_SERVER => SyncScope::WithServer,
        _ => effective.sync_scope.unwrap_or(match effective.buffering {
            Some(_) => SyncScope::None,
            None => SyncScope::WithTransport,
        }),
    }
}

/// Returns the outcome that interceptors see of an attempt; `came` is `None` for a one-way that was
/// sent.
pub(super) fn outcome_of(callee: &Callee<'_>, came: Option<&ReplyOutcome>) -> Outcome {
    match came {
        None => Outcome::Sent,
        Some(ReplyOutcome::UserException(reply)) => {
            let mut body = reply.decoder(*callee);
            Outcome::User(body.get_string().unwrap_or_default().into_owned())
        }
        Some(ReplyOutcome::SystemException(exception)) => Outcome::System(exception.clone()),
        Some(ReplyOutcome::Relayed(reply)) => match (reply.status(), reply.exception()) {
            (_, Some(exception)) => Outcome::System(exception.clone()),
            (ReplyStatus::UserException, None) => {
                let id = reply
                    .head()
                    .and_then(|(_, mut body)| body.get_string().map(std::borrow::Cow::into_owned));
                Outcome::User(id.unwrap_or_default())
            }
            _ => Outcome::Reply,
        },
        Some(_) => Outcome::Reply,
    }
}

/// Returns the service contexts of a reply that is alone in `octets`.
pub(super) fn contexts_of_own(connection: &ClientConnection, octets: &[u8]) -> FilledContexts {
    let wire = &connection.wire;
    let Ok(Examined::Complete(frame)) = wire.session.examine(octets, octets.len(), &wire.limits)
    else {
        return FilledContexts::new();
    };
    let at = frame.head.saturating_sub(frame.origin);
    let coding = Coding::new(frame.header.version, &wire.limits);
    let octets = octets.get(frame.origin..).unwrap_or_default();
    let mut input = Decoder::at(octets, at, frame.header.order, coding);
    contexts_of_head(wire.session.get_head(frame.header.kind, &mut input))
}

/// Returns the service contexts of a reply; none if it does not decode, which is reported when it is
/// read.
pub(super) fn reply_contexts(connection: &ClientConnection, message: &Message) -> FilledContexts {
    // Known to have no service contexts.
    if message.reply.is_some() {
        return FilledContexts::new();
    }
    let wire = &connection.wire;
    let mut input = message.decoder(Coding::new(message.header.version, &wire.limits));
    contexts_of_head(wire.session.get_head(message.header.kind, &mut input))
}

fn contexts_of_head(head: Result<Head<'_>, CdrError>) -> FilledContexts {
    match head {
        Ok(Head::Reply(header)) => {
            let contexts = header.contexts.iter();
            contexts.map(|(id, data)| (id, data.to_vec())).collect()
        }
        _ => FilledContexts::new(),
    }
}
