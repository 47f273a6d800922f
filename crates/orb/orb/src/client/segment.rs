//! Calls of threads in scheduling segments (Real-time CORBA 1.2, dynamic scheduling). Before and
//! after each call is a scheduling point, at which a cancelled thread stops. They take the slow
//! path, so that no other call checks for segments.

use super::invocation::Call;
use super::outcome::ReplyOutcome;
use super::write::Ask;
use crate::broker::Broker;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind};

/// Makes a call of a thread in a scheduling segment, between two scheduling points.
///
/// # Errors
/// The error of `make`, and THREAD_CANCELLED.
pub(super) fn around(
    call: &Call<'_>,
    make: impl FnOnce() -> Result<Option<ReplyOutcome>, SystemException>,
) -> Result<Option<ReplyOutcome>, SystemException> {
    if !matches!(call.ask, Ask::Request { .. }) {
        return make();
    }
    let broker = call.callee.broker();
    point(broker, None)?;
    let made = make();
    let raised = match &made {
        Err(exception) | Ok(Some(ReplyOutcome::SystemException(exception))) => Some(exception),
        Ok(_) => None,
    };
    let told = point(broker, raised);
    let completed = match raised {
        None => CompletionStatus::Yes,
        // The call has reported the cancellation itself, with its completion status.
        Some(raised) if raised.kind() == Kind::ThreadCancelled => return made,
        Some(_) => CompletionStatus::Maybe,
    };
    told.map_err(|exception| exception.completed_as(completed))?;
    made
}

/// Passes a scheduling point of the calling thread; `raised` is the exception of the preceding
/// call, if any.
///
/// # Errors
/// THREAD_CANCELLED if the thread may not go on.
fn point(broker: &Broker, raised: Option<&SystemException>) -> Result<(), SystemException> {
    let priorities = broker.priorities.as_ref();
    priorities.map_or(Ok(()), |asked| asked.scheduling_point(raised))
}
