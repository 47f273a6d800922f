//! Interception of requests by the server's interceptors (CORBA 3.3 part 1, §16.3).
//!
//! In an ORB with interceptors an [`Intercepted`] wraps the object adapter: it calls the
//! interceptors before the adapter dispatches and after it has answered. In between, the adapter
//! reports that the servant has been found ([`ServerCall::receive_request`]). The adapters of other
//! ORBs are called directly.

use super::adapter::ObjectAdapter;
use super::call::{Dispatched, MadeReply, ServerCall};
use super::panics::panicked;
use super::pending_location::LocateRequest;
use crate::adapter::{Collocated, DispatchError, Location};
use crate::broker::Broker;
use crate::exception::{
    CompletionStatus, SystemException, SystemExceptionKind as Kind, cdr_exception, minor,
};
use crate::interceptor::{
    CallFacts, Interceptors, Outcome, OwnedContext, ReadBody, Request, RequestTypes, ServedObject,
    ServerOrb, ServerPass,
};
use crate::messaging::{Examined, Head};
use crate::operation::OperationDetails;
use crate::operation_types::OperationTypes;
use crate::policy::SyncScope;
use crate::relayed::RawBody;
use crate::urgency::{Urgency, UrgencyStrategy, WaitingRequest};
use punctual_cdr::{CdrError, Decoder};
use punctual_giop::{
    MessageKind, ReplyHeader, ReplyStatus, ResponseFlags, ServiceContext, ServiceContexts,
};
use std::any::Any;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Object adapter whose calls are surrounded by interceptors.
pub(crate) struct Intercepted {
    adapter: Arc<dyn ObjectAdapter>,
    broker: Arc<Broker>,
}

impl Intercepted {
    /// Returns the object adapter of an ORB, wrapped if the ORB has server interceptors.
    pub(crate) fn around(
        adapter: Arc<dyn ObjectAdapter>,
        broker: &Arc<Broker>,
    ) -> Arc<dyn ObjectAdapter> {
        match broker.interceptors.leave_requests_alone() {
            true => adapter,
            false => Arc::new(Self {
                adapter,
                broker: broker.clone(),
            }),
        }
    }
}

impl ObjectAdapter for Intercepted {
    fn dispatch(
        &self,
        object_key: &[u8],
        call: &mut ServerCall<'_>,
    ) -> Result<Dispatched, DispatchError> {
        let interceptors = &self.broker.interceptors;
        if interceptors.server().is_empty() {
            return self.adapter.dispatch(object_key, call);
        }
        let slots = interceptors.slots().unwrap_or_default();
        let mut pass = ServerPass::boxed(self.broker.number(), slots);
        let refused = pass.receive_request_service_contexts(&call.to_intercept(&pass, None));
        call.carry(&pass.reply_contexts);
        call.pass = Some(pass);
        let answered = match refused {
            Some(outcome) => Err(error_of(outcome)),
            None => {
                let dispatch = AssertUnwindSafe(|| self.adapter.dispatch(object_key, call));
                catch_unwind(dispatch).unwrap_or_else(|payload| {
                    let peer = call.conversation.peer();
                    Err(panicked(peer, call.operation, &*payload).into())
                })
            }
        };
        match call.pass.take() {
            Some(pass) => call.end_pass(pass, answered),
            None => answered,
        }
    }

    fn locate(&self, object_key: &[u8]) -> Location {
        self.adapter.locate(object_key)
    }

    fn locate_or_later(&self, object_key: &[u8], request: &LocateRequest<'_>) -> Option<Location> {
        self.adapter.locate_or_later(object_key, request)
    }

    fn collocated(&self, object_key: &[u8]) -> Option<Arc<dyn Collocated>> {
        self.adapter.collocated(object_key)
    }

    fn name_in<'k>(&self, object_key: &'k [u8]) -> Cow<'k, [u8]> {
        self.adapter.name_in(object_key)
    }

    fn urgency(
        &self,
        object_key: &[u8],
        request: WaitingRequest<'_>,
        strategy: &dyn UrgencyStrategy,
    ) -> Urgency {
        self.adapter.urgency(object_key, request, strategy)
    }

    fn warn_before_run(&self) {
        self.adapter.warn_before_run();
    }

    fn is_bidirectional(&self, object_key: &[u8]) -> bool {
        self.adapter.is_bidirectional(object_key)
    }

    fn shut_down(&self) {
        self.adapter.shut_down();
    }

    fn wait_until_idle(&self) {
        self.adapter.wait_until_idle();
    }

    fn release(&self) {
        self.adapter.release();
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self.adapter.clone().as_any()
    }
}

impl<'m> ServerCall<'m> {
    /// Returns `true` if interceptors process the request: its adapter then calls
    /// [`ServerCall::receive_request`] when the servant is found. For object adapters.
    #[inline]
    #[must_use]
    pub fn is_intercepted(&self) -> bool {
        Interceptors::ARE_BUILT_IN && self.pass.is_some()
    }

    /// Runs the interceptors' point `receive_request`, with the request, the object, and the
    /// arguments if their types are known, as the calling thread is about to call the servant. For
    /// object adapters, once for each intercepted call; the calling thread must call
    /// [`ServerCall::leave_upcall`] when the upcall has ended.
    ///
    /// # Errors
    /// The exception for the caller.
    pub fn receive_request(
        &mut self,
        object: Option<Box<dyn ServedObject>>,
        types: Option<&'static OperationTypes>,
    ) -> Result<(), DispatchError> {
        let Some(mut pass) = self.pass.take() else {
            return Ok(());
        };
        pass.typed = types.map(|types| (types, self.arguments.position()));
        let refused = pass.receive_request(&self.to_intercept(&pass, None), object);
        self.carry(&pass.reply_contexts);
        self.pass = Some(pass);
        refused.map_or(Ok(()), |outcome| Err(error_of(outcome)))
    }

    /// Works as [`ServerCall::receive_request`] for a servant that knows its operations only at run
    /// time: interceptors are called later, when it has read the arguments
    /// ([`ServerCall::tell_arguments`]) or answers without reading them (CORBA 3.3 part 1,
    /// §16.3.8). For object adapters.
    pub fn receive_request_later(&mut self, object: Option<Box<dyn ServedObject>>) {
        if let Some(pass) = &mut self.pass {
            pass.enter_upcall(object);
            pass.is_to_receive = true;
        }
    }

    /// Calls the interceptors now, unless they were called before, with the known details of the
    /// operation. Further calls return the first result. Called before the answer, for servants
    /// that know their operations only at run time.
    ///
    /// # Errors
    /// The exception for the caller.
    pub fn tell_arguments(
        &mut self,
        details: Option<Arc<dyn OperationDetails + Send>>,
    ) -> Result<(), DispatchError> {
        let Some(mut pass) = self.pass.take() else {
            return Ok(());
        };
        if pass.is_to_receive {
            pass.is_to_receive = false;
            pass.details.clone_from(&details);
            let request = self.to_intercept(&pass, details.as_deref());
            pass.refused = pass.tell_received(&request);
            self.carry(&pass.reply_contexts);
        }
        let refused = pass.refused.clone();
        self.pass = Some(pass);
        refused.map_or(Ok(()), |outcome| Err(error_of(outcome)))
    }

    /// Records that the upcall has ended. For object adapters.
    pub fn leave_upcall(&mut self) {
        if let Some(pass) = &mut self.pass {
            pass.leave_upcall(self.conversation.broker().interceptors.server());
        }
    }

    fn to_intercept<'r>(
        &'r self,
        pass: &ServerPass,
        details: Option<&'r (dyn OperationDetails + Send)>,
    ) -> Request<'r> {
        let broker = self.conversation.broker();
        let ids = broker.ids();
        Request {
            interceptors: broker.interceptors.server(),
            facts: CallFacts {
                request_id: pass.request_id(),
                operation: self.operation,
                response_expected: self.expects_reply(),
                sync_scope: match self.response {
                    ResponseFlags::SYNC_WITH_TARGET => SyncScope::WithTarget,
                    ResponseFlags::SYNC_WITH_SERVER => SyncScope::WithServer,
                    _ => SyncScope::WithTransport,
                },
                details: details.map(|details| details as &dyn OperationDetails),
                types: match pass.typed {
                    Some((types, at)) => RequestTypes::Received {
                        types,
                        arguments: &self.arguments,
                        at,
                    },
                    None => RequestTypes::Unknown,
                },
            },
            orb: ServerOrb {
                orb_id: ids.orb,
                server_id: ids.server,
                environment: self.environment(),
            },
            contexts: self.contexts,
        }
    }

    /// Adds the given service contexts to the reply.
    fn carry(&mut self, contexts: &[OwnedContext]) {
        for (id, data) in contexts {
            self.set_reply_context(*id, data);
        }
    }

    /// Ends the interceptors' pass with the adapter's answer; returns the final answer.
    pub(super) fn end_pass(
        &mut self,
        mut pass: Box<ServerPass>,
        answered: Result<Dispatched, DispatchError>,
    ) -> Result<Dispatched, DispatchError> {
        pass.leave_upcall(self.conversation.broker().interceptors.server());
        self.join_results();
        self.note_contexts(&mut pass);
        let outcome = match &answered {
            Ok(_) => self.outcome(),
            Err(DispatchError::System(exception)) => Outcome::System(exception.clone()),
            Err(DispatchError::Forward(to) | DispatchError::ForwardPermanently(to)) => {
                Outcome::Forward(to.clone())
            }
        };
        let body = |look: &mut dyn FnMut(&mut Decoder<'_>)| {
            if let Some(mut made) = self.made() {
                look(&mut made.body);
            }
        };
        let details = pass.details.clone();
        let changed = pass.end(
            &self.to_intercept(&pass, details.as_deref()),
            outcome,
            Some(&body as &ReadBody<'_>),
        );
        let answered = match changed {
            Some(outcome) => {
                self.forget_made();
                Err(error_of(outcome))
            }
            None => answered,
        };
        match (answered.is_ok(), self.has_reply()) {
            (true, true) if pass.has_added_contexts => {
                self.replace_contexts(&pass.reply_contexts)?;
            }
            (false, _) => self.carry(&pass.reply_contexts),
            _ => {}
        }
        pass.release();
        answered
    }

    fn forget_made(&mut self) {
        self.reply.clear();
        self.made = MadeReply::None;
    }

    /// Lists for interceptors the service contexts that the reply has.
    fn note_contexts(&self, pass: &mut ServerPass) {
        pass.has_added_contexts = false;
        pass.reply_contexts.clear();
        let mut note = |contexts: Vec<ServiceContext<'_>>| {
            let contexts = contexts.iter().map(|(id, data)| (*id, data.to_vec()));
            pass.reply_contexts.extend(contexts);
        };
        let passed_back = match self.made {
            MadeReply::PassedBack => self.made(),
            _ => None,
        };
        match passed_back {
            Some(made) => note(made.contexts()),
            None if self.reply_contexts.is_none() => {}
            None => note(self.reply_contexts.all()),
        }
    }

    /// Returns the outcome of a request that its adapter has answered.
    fn outcome(&self) -> Outcome {
        match self.made {
            MadeReply::None => Outcome::Sent,
            MadeReply::Answer(ReplyStatus::NoException) => Outcome::Reply,
            _ => self.made().map_or(Outcome::Sent, |made| made.outcome()),
        }
    }

    /// Returns the header and body of the encoded reply; `None` if there is none.
    fn made(&self) -> Option<Made<'_>> {
        self.has_reply().then(|| self.decoded().ok()).flatten()
    }

    /// Returns the status and the body of the encoded reply.
    pub(super) fn made_body(&self) -> Option<(ReplyStatus, RawBody<'_>)> {
        let made = self.made()?;
        let body = RawBody::of(&made.body, self.reply.lent()).ok()?;
        Some((made.header.status, body))
    }

    fn decoded(&self) -> Result<Made<'_>, CdrError> {
        let (session, limits) = (
            &self.conversation.session,
            self.conversation.broker().limits(),
        );
        let examined = session.examine(self.reply, self.reply.full_len(), limits);
        let Ok(Examined::Complete(frame)) = examined else {
            return Err(CdrError::Invalid("the reply is not one message"));
        };
        let octets = self.reply.get(frame.origin..).unwrap_or_default();
        let coding = punctual_cdr::Coding {
            version: self.version,
            ..*self.arguments.coding()
        };
        let at = frame.head.saturating_sub(frame.origin);
        let mut body = Decoder::at(octets, at, frame.header.order, coding);
        match session.get_head(MessageKind::Reply, &mut body)? {
            Head::Reply(header) => Ok(Made { header, body }),
            _ => Err(CdrError::Invalid("the header is not a reply's")),
        }
    }

    /// Replaces the service contexts of the encoded reply by these.
    fn replace_contexts(&mut self, contexts: &[OwnedContext]) -> Result<(), SystemException> {
        if !self.conversation.abilities.contexts {
            return Ok(());
        }
        let contexts: Vec<ServiceContext<'_>> =
            contexts.iter().map(|(id, data)| (*id, &data[..])).collect();
        let again = self.decoded().and_then(|made| {
            let body = RawBody::of(&made.body, self.reply.lent())?;
            self.encode_with(made.header.status, ServiceContexts::new(&contexts), &body)
        });
        let mut again = again.map_err(|error| {
            cdr_exception(error, CompletionStatus::Yes).in_context("adding service contexts")
        })?;
        if let Some(charge) = self.reply.charge() {
            again.attach_charge(charge.clone());
        }
        *self.reply = again;
        Ok(())
    }
}

/// Header and body of an encoded reply.
struct Made<'r> {
    header: ReplyHeader<'r>,
    body: Decoder<'r>,
}

impl<'r> Made<'r> {
    fn contexts(&self) -> Vec<ServiceContext<'r>> {
        self.header.contexts.iter().collect()
    }

    fn outcome(&self) -> Outcome {
        match self.header.status {
            ReplyStatus::UserException => {
                let id = self.body.clone().get_string().map(Cow::into_owned);
                Outcome::User(id.unwrap_or_default())
            }
            ReplyStatus::SystemException => {
                match SystemException::received(&mut self.body.clone()) {
                    Ok(exception) => Outcome::System(exception),
                    Err(_) => Outcome::User(String::new()),
                }
            }
            _ => Outcome::Reply,
        }
    }
}

/// Returns the error for the caller that corresponds to the interceptors' outcome.
fn error_of(outcome: Outcome) -> DispatchError {
    match outcome {
        Outcome::Forward(to) => DispatchError::Forward(to),
        Outcome::System(exception) => exception.into(),
        // Interceptors raise nothing else.
        _ => SystemException::new(
            Kind::Internal,
            minor::BROKEN_INVARIANT,
            CompletionStatus::Maybe,
        )
        .into(),
    }
}
