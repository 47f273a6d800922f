//! One call: bind, marshal, send, wait; follow forwards and go on to other profiles ([`super::route`]);
//! repeat where it is safe.
//!
//! Repeating is safe when the server cannot have begun: the request never left, or the peer said
//! CloseConnection before it answered (CORBA 3.3 part 2, §9.4.7). Otherwise the caller gets
//! COMM_FAILURE with COMPLETED_MAYBE.

use super::buffer::{Buffering, Waiting};
use super::endpoint_select::Binding;
use super::failure::{
    Failed, no_reply, not_sent, out_of_place, timed_out, too_large, too_many_calls,
};
use super::operation::NamedOperation;
use super::quick::{self, Attempted, Quick};
use super::reply::{Body, Reply, ReplyOutcome, Results};
use super::request::give_up;
use super::route::Route;
use super::wait::NoReply;
use crate::exception::{
    CompletionStatus, SystemException, SystemExceptionKind as Kind, cdr_exception,
};
use crate::policy::Effective;
use crate::probe::{self, Point};
use crate::reference::ObjectRef;
use crate::relay::{RelayedReply, RelayedRequest};
use punctual_cdr::{CdrError, Encoder};
use punctual_exec::Deadline;
use punctual_giop::AddressingDisposition;
use std::sync::Arc;
use std::time::Instant;

/// How often a call moves on to a fresh connection because the old one had gone stale.
const MAX_STALE: u32 = 3;

/// How often a server may ask for another way to address the object: there are two others.
const MAX_READDRESSED: u32 = 2;

/// What writes the arguments; run once for each attempt.
pub(crate) type Arguments<'a> = dyn Fn(&mut Encoder<'_>) -> Result<(), CdrError> + 'a;

/// What is asked of the object.
pub(super) enum Ask<'a> {
    Request {
        operation: &'a NamedOperation<'a>,
        arguments: &'a Arguments<'a>,
    },
    /// A request that came from elsewhere.
    Relay(&'a RelayedRequest<'a>),
    Locate,
}

/// One call on its way.
pub(crate) struct Call<'a> {
    pub(super) object: &'a ObjectRef,
    effective: Arc<Effective>,
    pub(super) ask: Ask<'a>,
    pub(super) deadline: Deadline,
    /// How the server wants the object addressed (CORBA 3.3 part 2, §9.4.2.3).
    pub(super) addressing: AddressingDisposition,
}

/// Asks the server whether it knows the object, by LocateRequest.
pub(crate) fn locate(object: &ObjectRef) -> Result<bool, SystemException> {
    let call = Call::new(object, Ask::Locate);
    match call
        .run()
        .map_err(|exception| exception.in_context("locating the object"))?
    {
        Some(ReplyOutcome::ObjectHere) => Ok(true),
        Some(ReplyOutcome::UnknownObject) => Ok(false),
        // What some ORBs say instead, in GIOP 1.2 (LOC_SYSTEM_EXCEPTION).
        Some(ReplyOutcome::SystemException(exception)) if is_gone(&exception) => Ok(false),
        Some(ReplyOutcome::SystemException(exception)) => Err(exception),
        _ => Err(out_of_place()),
    }
}

impl<'a> Call<'a> {
    pub(super) fn new(object: &'a ObjectRef, ask: Ask<'a>) -> Self {
        let effective = object.effective();
        let deadline = Deadline::after_maybe(object.timeout_under(&effective));
        Self {
            object,
            effective,
            ask,
            deadline,
            addressing: AddressingDisposition::Key,
        }
    }

    /// Makes a two-way call; its results or its user exception are given to `results`.
    #[inline]
    pub(crate) fn invoke(
        object: &ObjectRef,
        operation: &NamedOperation<'_>,
        arguments: &Arguments<'_>,
        results: &mut Results<'_>,
    ) -> Result<(), SystemException> {
        let _measured = probe::Call::begin();
        match quick::attempt(object, operation, arguments, results) {
            Quick::Done => Ok(()),
            Quick::Attempted(attempted) => {
                Self::invoke_on(object, operation, arguments, results, Some(*attempted))
            }
            Quick::No => Self::invoke_on(object, operation, arguments, results, None),
        }
    }

    /// The long way, from its beginning or from what a first attempt has come to.
    #[cold]
    fn invoke_on(
        object: &ObjectRef,
        operation: &NamedOperation<'_>,
        arguments: &Arguments<'_>,
        results: &mut Results<'_>,
        first: Option<Attempted>,
    ) -> Result<(), SystemException> {
        let named = |exception: SystemException| {
            exception.in_context(format_args!("calling `{}`", operation.name()))
        };
        let ask = Ask::Request {
            operation,
            arguments,
        };
        match Call::new(object, ask).run_on(first).map_err(named)? {
            Some(ReplyOutcome::Results(reply)) => {
                probe::begins!(Point::ClientDemarshal);
                results(Body::Results, &mut reply.decoder(object.orb()));
                Ok(())
            }
            Some(ReplyOutcome::UserException(reply)) => {
                results(Body::UserException, &mut reply.decoder(object.orb()));
                Ok(())
            }
            Some(ReplyOutcome::SystemException(exception)) => Err(named(exception)),
            _ => Err(named(out_of_place())),
        }
    }

    /// Makes a one-way call: returns when the transport has taken it (SYNC_WITH_TRANSPORT).
    pub(crate) fn send(
        object: &ObjectRef,
        operation: &NamedOperation<'_>,
        arguments: &Arguments<'_>,
    ) -> Result<(), SystemException> {
        let _measured = probe::Call::begin();
        let first = match quick::attempt(object, operation, arguments, &mut |_, _| ()) {
            Quick::Done => return Ok(()),
            Quick::Attempted(attempted) => Some(*attempted),
            Quick::No => None,
        };
        let ask = Ask::Request {
            operation,
            arguments,
        };
        Call::new(object, ask)
            .run_on(first)
            .map(drop)
            .map_err(|exception| {
                exception.in_context(format_args!("calling `{}`", operation.name()))
            })
    }

    pub(super) fn run(self) -> Result<Option<ReplyOutcome>, SystemException> {
        self.run_on(None)
    }

    /// Goes on from what a first attempt by the remembered path has come to, or begins.
    fn run_on(mut self, first: Option<Attempted>) -> Result<Option<ReplyOutcome>, SystemException> {
        let mut first = first.map(|attempted| {
            self.deadline = attempted.deadline;
            attempted.outcome
        });
        let effective = self.effective.clone();
        let mut route = Route::new(self.object, effective, self.expects_reply());
        let (mut stale, mut readdressed) = (0, 0);
        loop {
            let mut bound = None;
            let attempted = match first.take() {
                Some(attempted) => attempted,
                None => {
                    probe::begins!(Point::ClientReference);
                    self.attempt(bound.insert(route.bind(self.deadline)?), &route)
                }
            };
            let failed = match attempted {
                Ok(Some(ReplyOutcome::Forward { to, permanently })) => {
                    route.forward(self.forwarded(to), permanently)?;
                    continue;
                }
                Ok(Some(ReplyOutcome::NeedsAddressing(disposition))) => {
                    readdressed += 1;
                    if disposition == self.addressing || readdressed > MAX_READDRESSED {
                        return Err(out_of_place());
                    }
                    self.addressing = disposition;
                    continue;
                }
                Ok(outcome) => match outcome.as_ref().and_then(ReplyOutcome::exception) {
                    // A forward that has gone stale: its object may be back at the original place.
                    Some(raised) if is_gone(raised) && route.is_forwarded() => {
                        if route.restart() {
                            continue;
                        }
                        return Ok(outcome);
                    }
                    Some(raised) if may_succeed_elsewhere(raised) => {
                        Failed::Finally(raised.clone())
                    }
                    _ => {
                        if let Some(binding) = &bound {
                            route.remember(binding);
                        }
                        return Ok(outcome);
                    }
                },
                Err(failed) => failed,
            };
            match failed {
                Failed::Stale(_) if stale < MAX_STALE && !self.deadline.has_passed() => stale += 1,
                // Its own reason says more than that all endpoints have failed.
                Failed::Unfit(exception) => {
                    if !route.go_on(exception.clone()) {
                        return Err(exception);
                    }
                }
                Failed::Stale(exception) | Failed::Finally(exception) => {
                    if !may_succeed_elsewhere(&exception) || self.deadline.has_passed() {
                        return Err(exception);
                    }
                    if !route.go_on(exception) {
                        return Err(route.give_up(self.deadline));
                    }
                    stale = 0;
                }
            }
        }
    }

    /// Sends the request once and waits for what comes of it; `None` for a one-way that was sent.
    fn attempt(
        &self,
        binding: &Binding,
        route: &Route<'_>,
    ) -> Result<Option<ReplyOutcome>, Failed> {
        if let Some(when) = route.effective.buffering.filter(|_| self.is_one_way()) {
            return self.buffer(binding, route, when);
        }
        let connection = &*binding.connection;
        if let Some(refused) = self.refused(connection) {
            return Err(Failed::Unfit(refused));
        }
        probe::begins!(Point::ClientMessagingSend);
        let pending = connection
            .register()
            .ok_or_else(|| Failed::Finally(too_many_calls()))?;
        let tells_code_sets = self.is_request() && connection.must_tell_code_sets();
        let mut request = self
            .marshal(binding, route, pending.id(), tells_code_sets)
            .map_err(|error| Failed::Finally(cdr_exception(error, CompletionStatus::No)))?;
        let limit = self.object.orb().config().limits.message;
        if request.full_len() > limit {
            return Err(Failed::Finally(too_large(request.full_len(), limit)));
        }
        if let Err(error) = connection.send(&mut request, self.deadline) {
            return Err(not_sent(connection.peer(), &error));
        }
        if tells_code_sets {
            connection.code_sets_are_told();
        }
        drop(request);
        if !self.expects_reply() {
            return Ok(None);
        }
        probe::begins!(Point::ClientTransportReceive);
        match self.wait(connection, &pending) {
            Ok(message) => {
                probe::begins!(Point::ClientMessagingReceive);
                let (session, code_sets) = (&connection.session, connection.code_sets);
                let orb = self.object.orb();
                let read = match &self.ask {
                    Ask::Relay(_) => RelayedReply::read(message, session, code_sets, orb),
                    _ => Reply::read(message, &**session, code_sets, orb),
                };
                read.map(Some)
                    .map_err(|exception| Failed::Finally(exception.in_context(connection.peer())))
            }
            Err(NoReply::TimedOut) => {
                give_up(&binding.connection, &pending);
                Err(Failed::Finally(timed_out(connection.peer(), self.deadline)))
            }
            Err(NoReply::Broken(broken)) => Err(no_reply(connection.peer(), &broken)),
        }
    }

    /// Lets a one-way request wait for others on its connection.
    fn buffer(
        &self,
        binding: &Binding,
        route: &Route<'_>,
        when: Buffering,
    ) -> Result<Option<ReplyOutcome>, Failed> {
        let connection = &binding.connection;
        let unwritable = |error| Failed::Finally(cdr_exception(error, CompletionStatus::No));
        let waiting = if connection.abilities.batches {
            self.marshal_body(binding).map_err(unwritable)?
        } else {
            let tells_code_sets = connection.must_tell_code_sets();
            let message = self
                .marshal(binding, route, 0, tells_code_sets)
                .map_err(unwritable)?;
            Waiting::Message(message)
        };
        let tells = !connection.abilities.batches && connection.must_tell_code_sets();
        let (length, limit) = (waiting.octets(), self.object.orb().config().limits.message);
        if length > limit {
            return Err(Failed::Finally(too_large(length, limit)));
        }
        let due = connection
            .enqueue(waiting, when, self.deadline)
            .map_err(|error| not_sent(connection.peer(), &error))?;
        if tells {
            connection.code_sets_are_told();
        }
        if let Some(delay) = due {
            let flusher = &self.object.orb().lane().flusher;
            if !flusher.schedule(Instant::now() + delay, connection) {
                connection.flush(self.deadline);
            }
        }
        Ok(None)
    }

    fn is_one_way(&self) -> bool {
        matches!(&self.ask, Ask::Request { operation, .. } if !operation.two_way)
    }

    fn is_request(&self) -> bool {
        !matches!(self.ask, Ask::Locate)
    }

    fn expects_reply(&self) -> bool {
        match &self.ask {
            Ask::Request { operation, .. } => operation.two_way,
            Ask::Relay(request) => request.response.response_expected(),
            Ask::Locate => true,
        }
    }
}

/// Whether the server does not know the object, and so did nothing.
fn is_gone(exception: &SystemException) -> bool {
    exception.kind() == Kind::ObjectNotExist && exception.completed() == CompletionStatus::No
}

/// Whether another profile may lead to success, and the server has not begun.
fn may_succeed_elsewhere(exception: &SystemException) -> bool {
    exception.completed() == CompletionStatus::No
        && matches!(
            exception.kind(),
            Kind::Transient | Kind::CommFailure | Kind::NoResponse | Kind::ObjAdapter
        )
}
