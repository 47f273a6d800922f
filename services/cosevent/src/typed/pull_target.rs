//! Object of `Pull<I>` that the channel calls: events are pulled from it, by each of its operations.
//!
//! The object is what the supplier's `get_typed_supplier` returns.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use punctual::asynchronous::Pollable as _;
use punctual::dynamic::{InvokeError, Request};
use punctual::{Any, Interface as _, ObjectRef, SystemException, TypeCode, Typed as _};

use super::pulled::{PULL, TRY};
use super::{AskedObject, PullInterface};
use crate::cos_event_comm::{Disconnected, PullSupplier, PullSupplierTryPullError};
use crate::cos_typed_event_comm::TypedPullSupplier;
use crate::limits::Pulling;
use crate::peer::TryPulled;
use crate::until_end::End;

/// Object of `Pull<I>`, from which the channel pulls.
pub(crate) struct PullTarget {
    interface: PullInterface,
    object: AskedObject,
    pulling: Pulling,
}

impl PullTarget {
    /// Returns a target that is still to be asked for; `timeout` is the time limit of each call that does not wait for an
    /// event.
    pub(crate) fn new(interface: PullInterface, pulling: Pulling, timeout: Duration) -> Self {
        let object = AskedObject::new(interface.id(), timeout);
        Self {
            object: match pulling {
                Pulling::Try => object,
                // An event that is answered later would be lost.
                Pulling::Wait => object.without_limit(),
            },
            interface,
            pulling,
        }
    }

    pub(crate) fn interface(&self) -> &PullInterface {
        &self.interface
    }

    /// Returns the number of operations to pull by.
    pub(crate) fn operations(&self) -> usize {
        self.interface.interface().operations().len()
    }

    /// Returns the object of the supplier; asks for it the first time.
    ///
    /// # Errors
    /// Those of [`AskedObject::get`].
    pub(crate) fn object(&self, supplier: &PullSupplier) -> Result<&ObjectRef, SystemException> {
        self.object.get("get_typed_supplier", || {
            let typed = TypedPullSupplier::from_object(supplier.as_object().clone());
            typed.get_typed_supplier()
        })
    }

    /// Pulls an event by an operation, and calls `then` with the outcome. Does not wait for it; a call without a time limit is
    /// given up at the end of the connection.
    ///
    /// # Errors
    /// The request cannot be made; `then` is not called.
    pub(crate) fn pull(
        &self,
        object: &ObjectRef,
        place: usize,
        end: &End,
        then: impl FnOnce(TryPulled) + Send + 'static,
    ) -> Result<(), SystemException> {
        let Some(operation) = self.interface.interface().operations().get(place) else {
            return Ok(());
        };
        let (begin, result) = match self.pulling {
            Pulling::Try => (TRY, TypeCode::BOOLEAN),
            Pulling::Wait => (PULL, TypeCode::VOID),
        };
        let mut request = Request::new(object, &format!("{begin}{}", operation.name));
        // One argument that is decoded as all of them. An exception that some suppliers may declare ends the connection.
        request
            .add_out("arguments", &operation.parameters)
            .set_return_type(&result)
            .add_exception(&Disconnected::type_code());
        if self.pulling == Pulling::Try {
            return request.sendc_with(move |request, outcome| then(pulled(&request, outcome)));
        }
        request.send_deferred()?;
        let mut open = Some((request, then));
        let call = poll_fn(move |context| {
            if let Some((request, _)) = &mut open
                && !request.look(context.waker())
            {
                return Poll::Pending;
            }
            if let Some((mut request, then)) = open.take() {
                let outcome = request.get_response();
                then(pulled(&request, outcome));
            }
            Poll::Ready(())
        });
        object.orb().spawn(end.until(place, call));
        Ok(())
    }
}

/// Returns the outcome of an operation as one of `try_pull`.
fn pulled(request: &Request, outcome: Result<(), InvokeError>) -> TryPulled {
    match outcome {
        Ok(()) => {
            let event = request.argument(0).cloned().unwrap_or_default();
            let has_event = has_event(request.return_value())?;
            Ok((event, has_event))
        }
        Err(InvokeError::User(_)) => Err(Disconnected.into()),
        Err(InvokeError::System(exception)) => Err(exception.into()),
    }
}

/// Returns the result of `try_…`; `pull_…` has none, and always returns an event.
fn has_event(result: &Any) -> Result<bool, PullSupplierTryPullError> {
    if *result.type_code() == TypeCode::VOID {
        return Ok(true);
    }
    let result = result.extract::<bool>().map_err(SystemException::from);
    Ok(result?)
}
