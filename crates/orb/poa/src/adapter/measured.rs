//! Upcalls that are measured ([`punctual_orb::measurement`]), or recorded in a timeline
//! ([`punctual_orb::timeline`]).

use super::request::{CalledServant, Request};
use crate::servant::Servant;
use punctual_orb::measurement::{FirstUpcall, MeasuredUpcall, RecentUpcall, is_recording};
use punctual_orb::{DispatchError, Observers, SystemExceptionKind as Kind, timeline};
use std::sync::Arc;

/// Makes the upcall; observes it if a recording or a timeline is running.
#[inline(always)]
pub(super) fn answer<R: Request>(
    servant: &Arc<dyn Servant>,
    request: &mut R,
) -> Result<R::Done, DispatchError> {
    let servant = CalledServant::new(servant);
    let observers = Observers::running();
    if observers.has_any() {
        return answer_observed(servant, request, observers);
    }
    request.answer(servant)
}

#[inline(always)]
fn answer_observed<R: Request>(
    servant: CalledServant<'_>,
    request: &mut R,
    observers: Observers,
) -> Result<R::Done, DispatchError> {
    let interfaces = servant.repository_ids();
    let Some(upcall) = RecentUpcall::begin(observers, interfaces, request.operation()) else {
        return answer_other(servant, request, observers);
    };
    let answered = request.answer(servant);
    upcall.end();
    answered
}

/// Makes the upcall of another operation than the recent ones of the thread, or while a timeline is running.
#[inline(never)]
fn answer_other<R: Request>(
    servant: CalledServant<'_>,
    request: &mut R,
    observers: Observers,
) -> Result<R::Done, DispatchError> {
    match observers.has_timeline() {
        true => answer_recorded(servant, request),
        false => answer_measured(servant, request),
    }
}

fn answer_measured<R: Request>(
    servant: CalledServant<'_>,
    request: &mut R,
) -> Result<R::Done, DispatchError> {
    let upcall = MeasuredUpcall::begin(servant.repository_ids(), request.operation());
    if !upcall.is_known() {
        return answer_first(servant, request, upcall);
    }
    let answered = request.answer(servant);
    upcall.end_known();
    answered
}

/// Makes the first upcall of an operation on this thread, or one that is not measured.
#[cold]
#[inline(never)]
fn answer_first<R: Request>(
    servant: CalledServant<'_>,
    request: &mut R,
    upcall: MeasuredUpcall,
) -> Result<R::Done, DispatchError> {
    if is_of_every_object(request.operation()) {
        drop(upcall);
        return request.answer(servant);
    }
    let answered = request.answer(servant);
    upcall.end(|| exists(&answered).then(|| first(servant, request.operation())));
    answered
}

fn first<'n>(servant: CalledServant<'_>, operation: &'n str) -> FirstUpcall<'n> {
    FirstUpcall {
        interfaces: servant.repository_ids(),
        declared_by: declared_by(servant, operation),
        operation,
    }
}

/// Makes the upcall, and names its operation in the timeline: afterwards, as peers can send any number of names.
#[cold]
#[inline(never)]
fn answer_recorded<R: Request>(
    servant: CalledServant<'_>,
    request: &mut R,
) -> Result<R::Done, DispatchError> {
    if is_of_every_object(request.operation()) {
        return request.answer(servant);
    }
    let answered = match is_recording() {
        true => answer_measured(servant, request),
        false => request.answer(servant),
    };
    if request.is_in_timeline() && exists(&answered) {
        let operation = request.operation();
        timeline::served(declared_by(servant, operation), operation);
    }
    answered
}

/// Returns the repository id of the interface that declares an operation; of the most derived one if it is not known.
fn declared_by(servant: CalledServant<'_>, operation: &str) -> &'static str {
    let declaring = servant.declaring_interface(operation);
    let most_derived = || servant.repository_ids().first().copied();
    declaring.or_else(most_derived).unwrap_or_default()
}

/// Returns whether the operation is one of every object: only those and attributes begin with an
/// underscore.
fn is_of_every_object(operation: &str) -> bool {
    operation.starts_with('_') && !operation.starts_with("_get_") && !operation.starts_with("_set_")
}

/// Returns whether the servant has the operation that it was asked for.
fn exists<D>(answered: &Result<D, DispatchError>) -> bool {
    match answered {
        Err(DispatchError::System(exception)) => exception.kind() != Kind::BadOperation,
        _ => true,
    }
}
