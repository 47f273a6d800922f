//! Calls of threads in scheduling segments (Real-time CORBA 1.2, dynamic scheduling): each is a scheduling point, before it
//! and behind it, where a cancelled thread stops.

use super::invocation::Call;
use super::outcome::ReplyOutcome;
use super::write::Ask;
use crate::broker::Broker;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind};
use crate::policy;

/// Whether the calling thread may make a call.
///
/// # Errors
/// THREAD_CANCELLED.
pub(super) fn before(broker: &Broker) -> Result<(), SystemException> {
    point(broker, None)
}

/// Whether it may go on behind one that raised this, if it raised anything.
///
/// # Errors
/// THREAD_CANCELLED.
pub(super) fn behind(
    broker: &Broker,
    raised: Option<&SystemException>,
) -> Result<(), SystemException> {
    let told = point(broker, raised);
    match raised {
        None => told.map_err(|exception| exception.completed_as(CompletionStatus::Yes)),
        // The call has said so itself, and how far it has come.
        Some(raised) if raised.kind() == Kind::ThreadCancelled => Ok(()),
        Some(_) => told.map_err(|exception| exception.completed_as(CompletionStatus::Maybe)),
    }
}

#[inline(never)]
fn point(broker: &Broker, raised: Option<&SystemException>) -> Result<(), SystemException> {
    let priorities = broker.priorities.as_ref();
    priorities.map_or(Ok(()), |asked| asked.scheduling_point(raised))
}

/// Makes a call the long way; `is_begun` where a first attempt has passed the point before it.
pub(super) fn around(
    call: &Call<'_>,
    is_begun: bool,
    make: impl FnOnce() -> Result<Option<ReplyOutcome>, SystemException>,
) -> Result<Option<ReplyOutcome>, SystemException> {
    if !policy::is_in_segment() || !matches!(call.ask, Ask::Request { .. }) {
        return make();
    }
    let broker = call.callee.broker();
    if !is_begun {
        before(broker)?;
    }
    let made = make();
    match &made {
        Err(exception) | Ok(Some(ReplyOutcome::SystemException(exception))) => {
            behind(broker, Some(exception))?;
        }
        Ok(_) => behind(broker, None)?,
    }
    made
}
