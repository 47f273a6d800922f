//! One call, through its stages: resolve ([`super::resolve`], [`super::route`]), bind, write
//! ([`super::write`]), send ([`super::send`]), complete ([`super::complete`]), conclude
//! ([`super::conclude`]).
//!
//! An [`Invocation`] is all that a call is between two stages, so that it can be put away where it waits and be
//! taken up again: [`Invocation::attempt`] brings it to an outcome, [`Invocation::conclude`] says whether that is
//! the call's, or another attempt is to be made. The short way ([`super::short`]) goes through the same stages
//! with everything decided beforehand.

use super::complete::{self, Completion};
use super::conclude::Next;
use super::failure::{Failed, out_of_place, too_many_calls};
use super::outcome::{Body, Reply, ReplyOutcome, Results};
use super::remote::Callee;
use super::route::Route;
use super::send;
use super::short::{self, Attempted, Short};
use super::write::{Anew, Arguments, Ask};
use crate::exception::{SystemException, SystemExceptionKind as Kind};
use crate::lane::Binding;
use crate::messaging::Message;
use crate::operation::NamedOperation;
use crate::policy::Buffering;
use crate::probe::{self, Point};
use crate::relayed::{self, RelayedReply, RelayedRequest, Terms};
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

/// What one attempt has come to, and by which connection; `None` for one that was made the short way.
pub(super) type Outcome = Result<Option<ReplyOutcome>, Failed>;

/// Makes a two-way call; its results or its user exception are given to `results`.
#[inline]
pub(crate) fn invoke(
    callee: Callee<'_>,
    operation: &NamedOperation<'_>,
    arguments: &Arguments<'_>,
    results: &mut Results<'_>,
) -> Result<(), SystemException> {
    let _measured = probe::Call::begin();
    match short::attempt(callee, operation, arguments, results) {
        Short::Done => Ok(()),
        Short::Attempted(attempted) => {
            invoke_on(callee, operation, arguments, results, Some(*attempted))
        }
        Short::No => invoke_on(callee, operation, arguments, results, None),
    }
}

/// The long way, from its beginning or from what a first attempt has come to.
#[cold]
fn invoke_on(
    callee: Callee<'_>,
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
    match Invocation::new(callee, ask).run(first).map_err(named)? {
        Some(ReplyOutcome::Results(reply)) => {
            probe::begins!(Point::ClientDemarshal);
            results(Body::Results, &mut reply.decoder(callee));
            Ok(())
        }
        Some(ReplyOutcome::UserException(reply)) => {
            results(Body::UserException, &mut reply.decoder(callee));
            Ok(())
        }
        Some(ReplyOutcome::SystemException(exception)) => Err(named(exception)),
        _ => Err(named(out_of_place())),
    }
}

/// Makes a one-way call: returns when the transport has taken it (SYNC_WITH_TRANSPORT).
pub(crate) fn one_way(
    callee: Callee<'_>,
    operation: &NamedOperation<'_>,
    arguments: &Arguments<'_>,
) -> Result<(), SystemException> {
    let _measured = probe::Call::begin();
    let first = match short::attempt(callee, operation, arguments, &mut |_, _| ()) {
        Short::Done => return Ok(()),
        Short::Attempted(attempted) => Some(*attempted),
        Short::No => None,
    };
    let ask = Ask::Request {
        operation,
        arguments,
    };
    let sent = Invocation::new(callee, ask).run(first);
    sent.map(drop)
        .map_err(|exception| exception.in_context(format_args!("calling `{}`", operation.name())))
}

/// Asks the server whether it knows the object, by LocateRequest.
pub(crate) fn locate(callee: Callee<'_>) -> Result<bool, SystemException> {
    let located = Invocation::new(callee, Ask::Locate).run(None);
    match located.map_err(|exception| exception.in_context("locating the object"))? {
        Some(ReplyOutcome::ObjectHere) => Ok(true),
        Some(ReplyOutcome::UnknownObject) => Ok(false),
        // What some ORBs say instead, in GIOP 1.2 (LOC_SYSTEM_EXCEPTION).
        Some(ReplyOutcome::SystemException(exception))
            if exception.kind() == Kind::ObjectNotExist && exception.is_not_begun() =>
        {
            Ok(false)
        }
        Some(ReplyOutcome::SystemException(exception)) => Err(exception),
        _ => Err(out_of_place()),
    }
}

/// Passes a request on: the reply as it came, `None` if there is none to expect.
pub(crate) fn relay(
    callee: Callee<'_>,
    request: &RelayedRequest<'_>,
) -> Result<Option<RelayedReply>, SystemException> {
    let named = |exception: SystemException| {
        exception.in_context(format_args!("passing on `{}`", request.operation()))
    };
    let invocation = Invocation::new(callee, Ask::Relay(request));
    match invocation.run(None).map_err(named)? {
        None => Ok(None),
        Some(ReplyOutcome::Relayed(reply)) => Ok(Some(reply)),
        Some(ReplyOutcome::SystemException(exception)) => Err(named(exception)),
        Some(_) => Err(named(out_of_place())),
    }
}

impl<'a> Invocation<'a> {
    fn new(callee: Callee<'a>, ask: Ask<'a>) -> Self {
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

    /// Goes on from what a first attempt by the remembered path has come to, or begins.
    fn run(mut self, first: Option<Attempted>) -> Result<Option<ReplyOutcome>, SystemException> {
        let (mut bound, mut outcome) = match first {
            Some(attempted) => {
                self.deadline = attempted.deadline;
                (None, attempted.outcome)
            }
            None => self.attempt()?,
        };
        loop {
            match self.conclude(outcome, bound.as_ref())? {
                Next::Done(outcome) => return Ok(outcome),
                Next::Again => (bound, outcome) = self.attempt()?,
            }
        }
    }

    /// Makes one attempt, at the endpoint that is to be tried now.
    fn attempt(&mut self) -> Result<(Option<Binding>, Outcome), SystemException> {
        probe::begins!(Point::ClientReference);
        let binding = self.route.bind(self.deadline)?;
        let outcome = self.attempt_by(&binding);
        Ok((Some(binding), outcome))
    }

    /// Sends the request once and waits for what comes of it; `None` for a one-way that was sent.
    fn attempt_by(&self, binding: &Binding) -> Outcome {
        let connection = &binding.connection;
        if let Some(refused) = self.refused(binding) {
            return Err(Failed::Unfit(refused));
        }
        probe::begins!(Point::ClientMessagingSend);
        let is_request = !matches!(self.ask, Ask::Locate);
        let anew = Anew {
            callee: self.callee,
            binding,
            route: &self.route,
            addressing: self.addressing,
            tells_code_sets: is_request && connection.must_tell_code_sets(),
        };
        if let Some(when) = self.route.effective.buffering
            && let Ask::Request { operation, .. } = self.ask
            && !operation.two_way
        {
            return self.buffer(&anew, when);
        }
        let pending = connection
            .register()
            .ok_or_else(|| Failed::Finally(too_many_calls()))?;
        let mut request = anew.message(self.ask, pending.id())?;
        send::send(connection, &mut request, self.deadline)?;
        if anew.tells_code_sets {
            connection.code_sets_are_told();
        }
        drop(request);
        if self.completion == Completion::Sent {
            return Ok(None);
        }
        probe::begins!(Point::ClientTransportReceive);
        match complete::wait(connection, &pending, self.completion, self.deadline) {
            Ok(message) => self.read(binding, message).map(Some),
            Err(why) => Err(complete::without_reply(
                connection,
                &pending,
                why,
                self.deadline,
            )),
        }
    }

    /// Lets a one-way request wait for others on its connection.
    fn buffer(&self, anew: &Anew<'_>, when: Buffering) -> Outcome {
        let Ask::Request {
            operation,
            arguments,
        } = self.ask
        else {
            return Err(Failed::Finally(out_of_place()));
        };
        let connection = &anew.binding.connection;
        let waiting = anew.waiting(operation, arguments)?;
        send::buffer((self.callee.lane, connection), waiting, when, self.deadline)?;
        // A batch has no contexts.
        if anew.tells_code_sets {
            connection.code_sets_are_told();
        }
        Ok(None)
    }

    /// What a reply says.
    fn read(&self, binding: &Binding, message: Message) -> Result<ReplyOutcome, Failed> {
        probe::begins!(Point::ClientMessagingReceive);
        let connection = &binding.connection;
        let (session, code_sets) = (&connection.session, connection.code_sets);
        let read = match self.ask {
            Ask::Relay(_) => {
                match RelayedReply::read(message, session, code_sets, &connection.limits) {
                    Ok(Ok(reply)) => Ok(ReplyOutcome::Relayed(reply)),
                    Ok(Err(message)) => Reply::read(message, &**session, code_sets, self.callee),
                    Err(exception) => Err(exception),
                }
            }
            _ => Reply::read(message, &**session, code_sets, self.callee),
        };
        read.map_err(|exception| Failed::Finally(exception.in_context(connection.peer())))
    }

    /// Why a request that is passed on cannot leave by this connection.
    fn refused(&self, binding: &Binding) -> Option<SystemException> {
        let Ask::Relay(request) = self.ask else {
            return None;
        };
        let connection = &binding.connection;
        let terms = Terms {
            version: connection.version,
            code_sets: connection.code_sets,
        };
        let either_order = connection.abilities.either_order;
        relayed::refused(request, connection.peer(), terms, either_order)
    }
}
