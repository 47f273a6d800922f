//! Upcalls that are measured ([`punctual_orb::measurement`]).

use super::request::Request;
use crate::servant::Servant;
use punctual_orb::measurement::{MeasuredUpcall, is_recording};
use punctual_orb::{DispatchError, SystemExceptionKind as Kind};
use std::sync::Arc;

/// Makes the upcall, and measures it if a recording is running.
#[inline(always)]
pub(super) fn answer<R: Request>(
    servant: &Arc<dyn Servant>,
    request: &mut R,
) -> Result<R::Done, DispatchError> {
    if is_recording() {
        return answer_measured(servant, request);
    }
    request.answer(servant)
}

#[inline(never)]
fn answer_measured<R: Request>(
    servant: &Arc<dyn Servant>,
    request: &mut R,
) -> Result<R::Done, DispatchError> {
    if is_of_every_object(request.operation()) {
        return request.answer(servant);
    }
    let upcall = MeasuredUpcall::begin(interface(servant), request.operation());
    let answered = request.answer(servant);
    upcall.end(|| exists(&answered).then(|| (interface(servant), request.operation())));
    answered
}

/// Returns the repository id of the servant's most derived interface.
#[inline(always)]
fn interface(servant: &Arc<dyn Servant>) -> &'static str {
    let ids = servant.repository_ids().first();
    ids.copied().unwrap_or_default()
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
