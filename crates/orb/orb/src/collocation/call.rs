//! One call within the process, without a request.

use super::intercepted::{self, Final, Upcall};
use super::locality::{Caller, Locality};
use crate::adapter::{DispatchError, LocalRequest, Provided, Went};
use crate::client::{RemoteObject, out_of_place, too_many_forwards};
use crate::exception::{OperationError, SystemException, SystemExceptionKind as Kind};
use crate::interceptor::{Interceptors, Outcome};
use crate::operation::NamedOperation;
use crate::policy::{Collocation, SyncScope};
use crate::server;
use crate::upcall::WithinProcess;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Result of the attempt to call an object within the process directly.
enum Entered {
    /// The servant has been called on the caller's thread.
    Here,
    /// The call must be sent as a request.
    ByWire,
    /// The call must pass through request interceptors.
    Intercepted,
    /// The call was refused, or failed, with this exception.
    Failed(SystemException),
}

/// Error of a call within the process, as interceptors see it.
pub(crate) trait Failure: From<SystemException> {
    /// Returns the outcome of the call as request interceptors see it.
    fn outcome(&self) -> Outcome;

    /// Creates the error for an exception raised by an interceptor of the caller.
    fn raised(exception: SystemException) -> Self;
}

impl<E: OperationError> Failure for E {
    fn outcome(&self) -> Outcome {
        match self.system() {
            Some(exception) => Outcome::System(exception.clone()),
            None => Outcome::User(self.exception_id().to_owned()),
        }
    }

    fn raised(exception: SystemException) -> Self {
        exception.into()
    }
}

/// Calls the servant, if the object is in this process, or else makes a request: through the
/// caller's reference, or to the object that interceptors have forwarded the call to. `again`
/// returns new buffers for a call that is forwarded after a servant has already used the first
/// ones; such a call is sent as a request.
// Separate from the stub, which is thus small enough to be inlined in its callers, and in whose
// place the result is written.
#[inline(never)]
pub(crate) fn call<V, B, R, E>(
    caller: Caller<'_>,
    operation: &NamedOperation<'_>,
    buffers: B,
    here: impl FnOnce(B, &V) -> Result<R, E>,
    wire: impl FnOnce(B, Option<RemoteObject>) -> Result<R, E>,
    again: impl FnOnce() -> Option<B>,
) -> Result<R, E>
where
    V: ?Sized + 'static,
    E: Failure,
{
    let mut held = Some((buffers, here));
    // In two variables, so that a result is written once and read in place.
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
            // The servant has another interface: its reply to a request decides.
            (None, None) => caller.locality.leave(),
        },
        Entered::ByWire => {}
        Entered::Intercepted => return call_intercepted(caller, operation, held, wire, again),
        Entered::Failed(exception) => return Err(exception.into()),
    }
    match held {
        Some((buffers, _)) => wire(buffers, None),
        None => Err(out_of_place().into()),
    }
}

/// Makes a call as [`call`] does, but with interceptors.
#[cold]
#[inline(never)]
fn call_intercepted<V, B, R, E>(
    caller: Caller<'_>,
    operation: &NamedOperation<'_>,
    held: Option<(B, impl FnOnce(B, &V) -> Result<R, E>)>,
    wire: impl FnOnce(B, Option<RemoteObject>) -> Result<R, E>,
    again: impl FnOnce() -> Option<B>,
) -> Result<R, E>
where
    V: ?Sized + 'static,
    E: Failure,
{
    let (held, came) = (Cell::new(held), RefCell::new(None));
    let mut run = |provided: &Provided<'_>| {
        if !caller.may_wait && provided.answers_later() && caller.must_not_wait() {
            // The servant was not called: the call goes by wire.
        } else if let Some(servant) = provided.view::<V>()
            && let Some((buffers, here)) = held.take()
        {
            came.replace(Some(here(buffers, servant)));
        }
    };
    let ended = || {
        let came = came.borrow();
        came.as_ref().map(|came| match came {
            Ok(_) => Outcome::Reply,
            Err(error) => error.outcome(),
        })
    };
    let is_held = || {
        let there = held.take();
        let is_held = there.is_some();
        held.set(there);
        is_held
    };
    let upcall = Repeatable {
        run: &mut run,
        ended: &ended,
        is_held: &is_held,
    };
    let stop = go(caller, operation, upcall);
    match stop {
        Stop::Stands => came.take().unwrap_or_else(|| Err(out_of_place().into())),
        Stop::Raised(exception) => Err(E::raised(exception)),
        Stop::Refused(exception) => Err(exception.into()),
        Stop::ByWire(object) => match held.take().map(|(buffers, _)| buffers).or_else(again) {
            Some(buffers) => wire(buffers, object.map(|it| *it)),
            None => Err(E::raised(cannot_be_forwarded(operation))),
        },
    }
}

/// Returns the exception for a call that an interceptor forwards after its servant has written
/// results into the caller's buffers, when there are no other buffers.
#[cold]
fn cannot_be_forwarded(operation: &NamedOperation<'_>) -> SystemException {
    Kind::BadInvOrder.because(format!(
        "`{}`: an interceptor forwards a call whose results go into buffers of its caller",
        operation.name()
    ))
}

/// Call that can be repeated as long as no servant has been called.
struct Repeatable<'u> {
    run: &'u mut dyn FnMut(&Provided<'_>),
    ended: &'u dyn Fn() -> Option<Outcome>,
    /// Returns `true` as long as no servant has been called.
    is_held: &'u dyn Fn() -> bool,
}

/// End of a collocated call between its interception points.
enum Stop {
    /// The servant was called, and its result is final.
    Stands,
    /// A request is to be sent: to the given object, if the call was forwarded, otherwise to the
    /// original one.
    ByWire(Option<Box<RemoteObject>>),
    Refused(SystemException),
    Raised(SystemException),
}

/// Calls the interceptors, with the servant between their starting and ending points. Follows
/// forwards, as many as a request may (`max_forwards`).
fn go(caller: Caller<'_>, operation: &NamedOperation<'_>, upcall: Repeatable<'_>) -> Stop {
    let Repeatable {
        run,
        ended,
        is_held,
    } = upcall;
    let named = |exception: SystemException| {
        exception.in_context(format_args!("calling `{}`", operation.name()))
    };
    let most = caller.orb.config().max_forwards;
    let mut forwarded: Option<Box<(RemoteObject, Locality)>> = None;
    for _ in 0..=most {
        let caller = match &forwarded {
            None => caller,
            Some(forwarded) => Caller {
                object: &forwarded.0,
                locality: &forwarded.1,
                ..caller
            },
        };
        let by_wire = caller.way() == Collocation::None || !is_held();
        let Some(here) = caller.locality.here(caller).filter(|_| !by_wire) else {
            return Stop::ByWire(forwarded.map(|it| Box::new(it.0)));
        };
        let upcall = Upcall {
            run: &mut *run,
            ended,
        };
        match intercepted::enter(caller, here, operation, upcall) {
            Final::Stands => return Stop::Stands,
            Final::ByWire => return Stop::ByWire(forwarded.map(|it| Box::new(it.0))),
            Final::Refused(exception) => return Stop::Refused(named(exception)),
            Final::Raised(exception) => return Stop::Raised(named(exception)),
            Final::Forward(to) => {
                let object = caller.object.forwarded(*to);
                forwarded = Some(Box::new((object, Locality::default())));
            }
        }
    }
    let to = forwarded.as_ref().map_or(caller.object, |it| &it.0);
    let (from, to) = (caller.object.original(), to.original());
    Stop::Raised(named(too_many_forwards(most, from, to.ior())))
}

/// Makes a one-way call as [`call`] does. Returns only those failures that prevent a request from
/// being sent, or that the SyncScope requires to be reported.
#[inline(never)]
pub(crate) fn one_way<V: ?Sized + 'static>(
    caller: Caller<'_>,
    operation: &NamedOperation<'_>,
    here: impl FnOnce(&V) -> Result<(), SystemException>,
    wire: impl FnOnce(Option<RemoteObject>) -> Result<(), SystemException>,
) -> Result<(), SystemException> {
    let here = |(), servant: &V| here(servant).map_err(Failed::InServant);
    let wire = |(), to: Option<RemoteObject>| wire(to).map_err(Failed::ByWire);
    match call(caller, operation, (), here, wire, || Some(())) {
        Ok(()) => Ok(()),
        Err(Failed::ByWire(exception)) => Err(exception),
        Err(failed) => heard(caller, failed),
    }
}

/// Reason why a one-way call has failed.
enum Failed {
    InServant(SystemException),
    /// The one-way was refused before the servant was called, or the servant panicked.
    Refused(SystemException),
    ByWire(SystemException),
}

impl Failure for Failed {
    fn outcome(&self) -> Outcome {
        let (Self::InServant(exception) | Self::Refused(exception) | Self::ByWire(exception)) =
            self;
        Outcome::System(exception.clone())
    }

    fn raised(exception: SystemException) -> Self {
        // Reported to the caller whatever the SyncScope.
        Self::ByWire(exception)
    }
}

impl From<SystemException> for Failed {
    fn from(exception: SystemException) -> Self {
        Self::Refused(exception)
    }
}

/// Returns what the caller of a failed one-way within the process learns: the failure, if its
/// SyncScope covers it.
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

/// Enters the object's ORB and calls `run` with the servant.
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
    if way == Collocation::None && !here.is_proxy {
        return Entered::ByWire;
    }
    if Interceptors::ARE_BUILT_IN && here.is_intercepted {
        return Entered::Intercepted;
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
        // Requests follow forwards, and remember where they led.
        DispatchError::Forward(_) | DispatchError::ForwardPermanently(_) => {
            caller.locality.leave();
            Entered::ByWire
        }
    }
}
