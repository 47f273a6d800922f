//! Calls of each kind, from their beginning to their end.

use super::failure::out_of_place;
use super::invocation::{Invocation, Next};
use super::outcome::{Body, ReplyOutcome, Results};
use super::remote::Callee;
use super::short::{self, Attempted, Short};
use super::write::{Arguments, Ask};
use crate::exception::{SystemException, SystemExceptionKind as Kind};
use crate::operation::NamedOperation;
use crate::probe::{self, Point};
use crate::relayed::{RelayedReply, RelayedRequest};

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

impl Invocation<'_> {
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
}
