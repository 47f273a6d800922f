//! Calls of each kind, from their beginning to their end.

use super::complete;
use super::failure::{out_of_place, reply_not_before_its_end, while_calling};
use super::invocation::{Attempted, Awaited, Call, Invocation, Progress, Short};
use super::outcome::{Body, ReplyOutcome, Results, unlisted};
use super::remote::Callee;
use super::segment;
use super::short;
use super::start_times;
use super::write::{Arguments, Ask};
use crate::exception::{SystemException, SystemExceptionKind as Kind};
use crate::operation::NamedOperation;
use crate::policy;
use crate::probe::{self, Point};
use crate::relayed::{RelayedReply, RelayedRequest};
use punctual_exec::Deadline;

/// Makes a two-way call; passes its results or its user exception to `results`.
#[inline]
pub(crate) fn invoke(
    callee: &Callee<'_>,
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

/// Makes a call on the slow path, from its beginning or from the result of a first attempt.
#[cold]
fn invoke_on(
    callee: &Callee<'_>,
    operation: &NamedOperation<'_>,
    arguments: &Arguments<'_>,
    results: &mut Results<'_>,
    first: Option<Attempted>,
) -> Result<(), SystemException> {
    let named = |exception| while_calling(exception, operation.name(), callee.object.called_as());
    let call = Call::request(callee, operation, arguments);
    let outcome = make(&call, first).map_err(named)?;
    match outcome.map(|outcome| outcome.give(*callee, results)) {
        Some(None) => Ok(()),
        Some(Some(ReplyOutcome::SystemException(exception))) => Err(named(exception)),
        _ => Err(named(out_of_place())),
    }
}

/// Makes a one-way call. Returns when its request has progressed as far as its SyncScope demands.
pub(crate) fn one_way(
    callee: &Callee<'_>,
    operation: &NamedOperation<'_>,
    arguments: &Arguments<'_>,
) -> Result<(), SystemException> {
    let _measured = probe::Call::begin();
    let first = match short::attempt(callee, operation, arguments, &mut |_, _| ()) {
        Short::Done => return Ok(()),
        Short::Attempted(attempted) => Some(*attempted),
        Short::No => match callee.effective().answer_to_one_ways() {
            Some(answer) => return answered(callee, &operation.answered(answer), arguments),
            None => None,
        },
    };
    let call = Call::request(callee, operation, arguments);
    let sent = make(&call, first).map(drop);
    let target = callee.object.called_as();
    sent.map_err(|exception| while_calling(exception, operation.name(), target))
}

/// Makes a one-way call that the server acknowledges (SYNC_WITH_SERVER, SYNC_WITH_TARGET).
#[cold]
fn answered(
    callee: &Callee<'_>,
    operation: &NamedOperation<'_>,
    arguments: &Arguments<'_>,
) -> Result<(), SystemException> {
    let mut raised = None;
    invoke(callee, operation, arguments, &mut |body, reply| {
        if body == Body::UserException {
            let id = reply.get_string();
            raised = Some(unlisted(&id.unwrap_or_default()));
        }
    })?;
    raised.map_or(Ok(()), Err)
}

/// Asks the server by LocateRequest whether it knows the object.
pub(crate) fn locate(callee: Callee<'_>) -> Result<bool, SystemException> {
    let ask = Ask::Locate;
    let located = make(&Call { callee, ask }, None);
    match located.map_err(|exception| exception.in_context("locating the object"))? {
        Some(ReplyOutcome::ObjectHere) => Ok(true),
        Some(ReplyOutcome::UnknownObject) => Ok(false),
        // Some ORBs answer so in GIOP 1.2 (LOC_SYSTEM_EXCEPTION).
        Some(ReplyOutcome::SystemException(exception))
            if exception.kind() == Kind::ObjectNotExist && exception.is_not_begun() =>
        {
            Ok(false)
        }
        Some(ReplyOutcome::SystemException(exception)) => Err(exception),
        _ => Err(out_of_place()),
    }
}

/// Relays a request. Returns the reply unchanged, or `None` if no reply is expected.
pub(crate) fn relay(
    callee: Callee<'_>,
    request: &RelayedRequest<'_>,
) -> Result<Option<RelayedReply>, SystemException> {
    let named = |exception: SystemException| {
        exception.in_context(format_args!("passing on `{}`", request.operation()))
    };
    let ask = Ask::Relay(request);
    match make(&Call { callee, ask }, None).map_err(named)? {
        None => Ok(None),
        Some(ReplyOutcome::Relayed(reply)) => Ok(Some(reply)),
        Some(ReplyOutcome::SystemException(exception)) => Err(named(exception)),
        Some(_) => Err(named(out_of_place())),
    }
}

/// Makes a call, from its beginning or from the result of a first attempt on the fast path.
fn make(
    call: &Call<'_>,
    first: Option<Attempted>,
) -> Result<Option<ReplyOutcome>, SystemException> {
    if policy::is_in_segment() {
        return segment::around(call, || make_on(call, first));
    }
    make_on(call, first)
}

fn make_on(
    call: &Call<'_>,
    first: Option<Attempted>,
) -> Result<Option<ReplyOutcome>, SystemException> {
    let mut invocation = Invocation::new(call);
    let progress = match first {
        Some(attempted) => invocation.go_on_from(call, attempted)?,
        None => invocation.proceed(call)?,
    };
    complete_by_waiting(invocation, call, progress)
}

/// Completes a call by waiting on the calling thread, for the replies of all its attempts; returns `None`
/// for a one-way that was sent.
pub(super) fn complete_by_waiting(
    mut invocation: Invocation,
    call: &Call<'_>,
    mut progress: Progress,
) -> Result<Option<ReplyOutcome>, SystemException> {
    loop {
        match progress {
            Progress::Done(outcome) => {
                let start = invocation.starts.as_ref().and_then(|starts| starts.reply);
                if let (Some(start), Some(_)) = (start, &outcome)
                    && !start_times::wait(start, invocation.deadline)
                {
                    let deadline = invocation.deadline;
                    return Err(reply_not_before_its_end(deadline));
                }
                return Ok(outcome);
            }
            Progress::Pauses(until) => {
                start_times::wait(until, Deadline::NEVER);
                progress = invocation.proceed(call)?;
            }
            Progress::Awaits(awaited) => {
                probe::begins!(Point::ClientTransportReceive);
                let Awaited { binding, reply } = awaited;
                let (completion, deadline) = (invocation.completion, invocation.deadline);
                let came = match invocation.heartbeat(call, &binding) {
                    None => complete::wait_for(reply, completion, deadline),
                    Some(beat) => invocation.wait_with_heartbeats(call, &binding, reply, beat),
                };
                progress = invocation.take_up(call, binding, came)?;
            }
        }
    }
}
