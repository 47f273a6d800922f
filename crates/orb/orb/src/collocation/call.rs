//! One call within the process.

use super::provided::Provided;
use super::seam::{LocalRequest, Went};
use crate::adapter::DispatchError;
use crate::client::Operation;
use crate::exception::SystemException;
use crate::orb::Orb;
use crate::policy::Collocation;
use crate::reference::ObjectRef;
use crate::server;
use std::cell::RefCell;
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

/// Calls the servant, if the object is one of this process. `None` when a request is to be sent; the servant
/// has not been called then.
pub(crate) fn call<V, R, E>(
    object: &ObjectRef,
    operation: &Operation,
    call: impl FnOnce(&V) -> Result<R, E>,
) -> Option<Result<R, E>>
where
    V: ?Sized + 'static,
    E: From<SystemException>,
{
    let mut call = Some(call);
    let mut outcome = None;
    let entered = enter(object, operation, &mut |provided| {
        if let Some(servant) = provided.view::<V>()
            && let Some(call) = call.take()
        {
            outcome = Some(call(servant));
        }
    });
    match entered {
        Entered::Here => {
            if outcome.is_none() {
                // Another interface's servant: what it says to a request is for it to say.
                object.locality().leave();
            }
            outcome
        }
        Entered::ByWire => None,
        Entered::Failed(exception) => Some(Err(exception.into())),
    }
}

/// Lets `run` to the servant.
fn enter(object: &ObjectRef, operation: &Operation, run: &mut dyn FnMut(Provided<'_>)) -> Entered {
    let Some(here) = object.locality().here(object) else {
        return Entered::ByWire;
    };
    let way = object.collocation();
    if way == Collocation::None {
        return Entered::ByWire;
    }
    let upcall = Upcall::of(here.orb);
    let entered = catch_unwind(AssertUnwindSafe(|| {
        if way == Collocation::Direct && here.object.direct(run) == Went::Here {
            return Ok(Went::Here);
        }
        let request = LocalRequest::new(operation.name(), operation.is_two_way());
        here.object.through_adapter(&request, run)
    }));
    drop(upcall);
    match entered {
        Ok(Ok(Went::Here)) => Entered::Here,
        Ok(Ok(Went::ByWire)) => Entered::ByWire,
        Ok(Err(error)) => refused(object, operation, error),
        Err(payload) => {
            let name = operation.name();
            Entered::Failed(server::panicked(&"this process", name, &*payload))
        }
    }
}

#[cold]
fn refused(object: &ObjectRef, operation: &Operation, error: DispatchError) -> Entered {
    match error {
        DispatchError::System(exception) => {
            let name = operation.name();
            Entered::Failed(exception.in_context(format_args!("calling `{name}`")))
        }
        // Requests follow forwards, and remember where they have led.
        DispatchError::Forward(_) | DispatchError::ForwardPermanently(_) => {
            object.locality().leave();
            Entered::ByWire
        }
    }
}

thread_local! {
    /// The ORBs that the calling thread is in upcalls of without a request, innermost last.
    static UPCALLS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Marks the calling thread as in an upcall, until dropped.
struct Upcall(());

impl Upcall {
    #[inline]
    fn of(orb: u64) -> Self {
        // A thread that is ending has no such memory any more, and nobody asks there.
        let _ = UPCALLS.try_with(|upcalls| upcalls.borrow_mut().push(orb));
        Self(())
    }
}

impl Drop for Upcall {
    #[inline]
    fn drop(&mut self) {
        let _ = UPCALLS.try_with(|upcalls| upcalls.borrow_mut().pop());
    }
}

/// Whether the calling thread is in an upcall of this ORB without a request.
pub(crate) fn in_upcall_of(orb: &Orb) -> bool {
    UPCALLS.with_borrow(|upcalls| upcalls.contains(&orb.number()))
}

/// Whether it is in any. For whoever may run at any time: a panic's hook.
pub(crate) fn in_upcall() -> bool {
    let is_in = |upcalls: &RefCell<Vec<u64>>| upcalls.try_borrow().is_ok_and(|all| !all.is_empty());
    UPCALLS.try_with(is_in).unwrap_or(false)
}
