//! Deferred calls of operations that are known at run time only: the base of deferred synchronous
//! requests of the Dynamic Invocation Interface (CORBA 3.3 part 1, §11.2).

use super::deferred::{Handled, HandledCall};
use super::object::ObjectRef;
use super::pollable::Pollable;
use crate::client::{self, Body, CalledOperation, Deferred, Described};
use crate::exception::{CompletionStatus, SystemException, unmarshal_exception};
use crate::operation::OperationDetails;
use punctual_cdr::{CdrError, Decoder, Encoder};
use punctual_exec::Deadline;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

/// Request that has been sent and whose results are read later. Dropping it before that cancels the
/// call.
#[derive(Debug)]
pub struct DeferredRequest(Deferred<ObjectRef>);

impl ObjectRef {
    /// Sends a two-way request, even to an object of this process; `arguments` may be called again
    /// later. `details` describes the operation to interceptors.
    ///
    /// A failure to send becomes the result of the call.
    #[must_use = "dropped, the call is cancelled"]
    pub fn send_deferred(
        &self,
        operation: Arc<str>,
        details: Arc<dyn OperationDetails + Send>,
        arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError> + Send + 'static,
    ) -> DeferredRequest {
        let lane = self.callee().lane.clone();
        let operation = CalledOperation::Named(Box::new(Described {
            name: operation,
            details,
        }));
        DeferredRequest(Deferred::begin(
            self.clone(),
            lane,
            operation,
            Box::new(arguments),
        ))
    }
}

impl DeferredRequest {
    /// Calls `finish` once, when the results or a failure have arrived, on the thread that reads
    /// replies (`docs/guide/asynchrony.md`) or, after a shutdown of the ORB, on the calling thread.
    pub fn when_done(self, finish: impl FnOnce(Self) + Send + 'static) {
        Handled::begin(WhenDone { call: self, finish });
    }

    /// Waits for the results, and calls `results` to read them; `exceptions` decodes the user
    /// exception with a given id, or returns `None` if the operation does not declare it.
    ///
    /// # Errors
    /// The exception that the servant has raised. System exceptions of the ORB: TRANSIENT if no
    /// endpoint could be connected to, COMM_FAILURE if the connection broke, TIMEOUT if the time
    /// was up, MARSHAL and BAD_PARAM for values that cannot be sent or read.
    pub fn finish<R, E: From<SystemException>>(
        self,
        results: impl FnOnce(&mut Decoder<'_>) -> Result<R, CdrError>,
        exceptions: impl FnOnce(&str, &mut Decoder<'_>) -> Result<Option<E>, CdrError>,
    ) -> Result<R, E> {
        let unreadable = |error| {
            let exception = unmarshal_exception(error, CompletionStatus::Yes);
            exception.in_context("reading the results")
        };
        let (mut results, mut exceptions) = (Some(results), Some(exceptions));
        let mut outcome = None;
        self.0.finish(&mut |body, decoder| {
            // A call has one reply.
            outcome = match body {
                Body::Results => results
                    .take()
                    .map(|results| results(decoder).map_err(|error| unreadable(error).into())),
                Body::UserException => exceptions.take().map(|exceptions| {
                    let id = decoder.get_string().map_err(unreadable)?;
                    match exceptions(&id, decoder).map_err(unreadable)? {
                        Some(exception) => Err(exception),
                        None => Err(client::unlisted(&id).into()),
                    }
                }),
            };
        })?;
        outcome.unwrap_or_else(|| Err(client::out_of_place().into()))
    }
}

/// Request in flight, and the function that is called with it when it is done.
struct WhenDone<F> {
    call: DeferredRequest,
    finish: F,
}

impl<F: FnOnce(DeferredRequest) + Send + 'static> HandledCall for WhenDone<F> {
    type Outcome = ();

    fn call(&mut self) -> &mut Deferred<ObjectRef> {
        &mut self.call.0
    }

    fn poll(&mut self, watcher: impl FnOnce() -> Waker) -> Option<()> {
        self.call.0.poll(&watcher()).then_some(())
    }

    fn handle(self, (): ()) {
        (self.finish)(self.call);
    }
}

impl Pollable for DeferredRequest {
    fn is_ready(&mut self, timeout: Duration) -> bool {
        self.0.wait(Deadline::after(timeout))
    }

    fn look(&mut self, waker: &Waker) -> bool {
        self.0.poll(waker)
    }
}
