//! One call within the process.

use super::locality::Caller;
use crate::adapter::{DispatchError, LocalRequest, Provided, Went};
use crate::client::out_of_place;
use crate::exception::SystemException;
use crate::operation::NamedOperation;
use crate::policy::{Collocation, SyncScope};
use crate::server;
use crate::upcall::WithinProcess;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What became of a call.
enum Entered {
    /// Somebody has been let to the servant.
    Here,
    /// A request is to be sent.
    ByWire,
    /// It was refused, or has failed, as a request may.
    Failed(SystemException),
}

/// Calls the servant, if the object is one of this process, or else makes a request.
// Beside the stub, which is thus small enough to stand in its callers, and in whose place the result is written.
#[inline(never)]
pub(crate) fn call<V, B, R, E>(
    caller: Caller<'_>,
    operation: &NamedOperation<'_>,
    buffers: B,
    here: impl FnOnce(B, &V) -> Result<R, E>,
    wire: impl FnOnce(B) -> Result<R, E>,
) -> Result<R, E>
where
    V: ?Sized + 'static,
    E: From<SystemException>,
{
    let mut held = Some((buffers, here));
    // Each in a place of its own: a result is written once and read as it was written.
    let (mut result, mut error) = (None, None);
    let mut by_wire = false;
    let entered = enter(caller, operation, &mut |provided| {
        if !caller.may_wait && provided.answers_later() && caller.must_not_wait() {
            by_wire = true;
        } else if let Some(servant) = provided.view::<V>()
            && let Some((buffers, here)) = held.take()
        {
            match here(buffers, servant) {
                Ok(value) => result = Some(value),
                Err(raised) => keep(&mut error, raised),
            }
        }
    });
    match entered {
        Entered::Here => match (result, error) {
            (Some(result), _) => return Ok(result),
            (None, Some(error)) => return Err(error),
            (None, None) if by_wire => {}
            // Another interface's servant: what it says to a request is for it to say.
            (None, None) => caller.locality.leave(),
        },
        Entered::ByWire => {}
        Entered::Failed(exception) => return Err(exception.into()),
    }
    match held {
        Some((buffers, _)) => wire(buffers),
        None => Err(out_of_place().into()),
    }
}

/// The same of a one-way: what is heard is what keeps a request from being sent, and what the SyncScope has the caller wait
/// for.
#[inline(never)]
pub(crate) fn one_way<V: ?Sized + 'static>(
    caller: Caller<'_>,
    operation: &NamedOperation<'_>,
    here: impl FnOnce(&V) -> Result<(), SystemException>,
    wire: impl FnOnce() -> Result<(), SystemException>,
) -> Result<(), SystemException> {
    let here = |(), servant: &V| here(servant).map_err(Failed::InServant);
    let wire = |()| wire().map_err(Failed::ByWire);
    match call(caller, operation, (), here, wire) {
        Ok(()) => Ok(()),
        Err(Failed::ByWire(exception)) => Err(exception),
        Err(failed) => heard(caller, failed),
    }
}

/// Why a one-way has not come to its end.
enum Failed {
    InServant(SystemException),
    /// Before, or as it panicked.
    Refused(SystemException),
    ByWire(SystemException),
}

impl From<SystemException> for Failed {
    fn from(exception: SystemException) -> Self {
        Self::Refused(exception)
    }
}

/// What a caller hears of a one-way that has failed here.
#[cold]
fn heard(caller: Caller<'_>, failed: Failed) -> Result<(), SystemException> {
    let waits_for = caller.sync_scope();
    match failed {
        Failed::ByWire(exception) => Err(exception),
        Failed::Refused(exception) | Failed::InServant(exception)
            if waits_for == Some(SyncScope::WithTarget) =>
        {
            Err(exception)
        }
        Failed::Refused(exception)
            if waits_for == Some(SyncScope::WithServer) && exception.is_not_begun() =>
        {
            Err(exception)
        }
        Failed::Refused(_) | Failed::InServant(_) => Ok(()),
    }
}

#[cold]
fn keep<E>(place: &mut Option<E>, error: E) {
    *place = Some(error);
}

/// Lets `run` to the servant.
#[inline(never)]
fn enter(
    caller: Caller<'_>,
    operation: &NamedOperation<'_>,
    run: &mut dyn FnMut(&Provided<'_>),
) -> Entered {
    let Some(here) = caller.locality.here(caller) else {
        return Entered::ByWire;
    };
    let way = caller.way();
    if way == Collocation::None {
        return Entered::ByWire;
    }
    let upcall = WithinProcess::enter(here.broker.number());
    let entered = catch_unwind(AssertUnwindSafe(|| {
        if way == Collocation::Direct && here.object.direct(run) == Went::Here {
            return Ok(Went::Here);
        }
        let has_timeout = || caller.has_timeout();
        let request = LocalRequest::new(operation.name(), operation.is_two_way(), &has_timeout);
        here.object.through_adapter(&request, run)
    }));
    drop(upcall);
    match entered {
        Ok(Ok(Went::Here)) => Entered::Here,
        Ok(Ok(Went::ByWire)) => Entered::ByWire,
        Ok(Err(error)) => refused(caller, operation, error),
        Err(payload) => {
            let name = operation.name();
            Entered::Failed(server::panicked(&"this process", name, &*payload))
        }
    }
}

#[cold]
fn refused(caller: Caller<'_>, operation: &NamedOperation<'_>, error: DispatchError) -> Entered {
    match error {
        DispatchError::System(exception) => {
            let name = operation.name();
            Entered::Failed(exception.in_context(format_args!("calling `{name}`")))
        }
        // Requests follow forwards, and remember where they have led.
        DispatchError::Forward(_) | DispatchError::ForwardPermanently(_) => {
            caller.locality.leave();
            Entered::ByWire
        }
    }
}
