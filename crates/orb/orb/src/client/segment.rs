//! Calls of threads in scheduling segments (Real-time CORBA 1.2, dynamic scheduling): each is a scheduling point, before it
//! and behind it, where a cancelled thread stops. They go the long way, so that no other call asks for any of this.

use super::invocation::Call;
use super::outcome::ReplyOutcome;
use super::write::Ask;
use crate::broker::Broker;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind};

/// Makes a call of a thread in a segment.
///
/// # Errors
/// What `make` says, and THREAD_CANCELLED.
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
        // The call has said so itself, and how far it has come.
        Some(raised) if raised.kind() == Kind::ThreadCancelled => return made,
        Some(_) => CompletionStatus::Maybe,
    };
    told.map_err(|exception| exception.completed_as(completed))?;
    made
}

/// Whether the calling thread may go on, which has been raised this if it was raised anything.
///
/// # Errors
/// THREAD_CANCELLED.
fn point(broker: &Broker, raised: Option<&SystemException>) -> Result<(), SystemException> {
    let priorities = broker.priorities.as_ref();
    priorities.map_or(Ok(()), |asked| asked.scheduling_point(raised))
}
