//! Asynchronous calls, whose callers do not wait: with a poller, as a future, or with a reply handler
//! (CORBA 3.3 part 2, §22).

use super::object::ObjectRef;
use super::pollable::{Pollable, PollableSet, no_response, not_in_time};
use super::reply_handler::ReplyHandler;
use crate::client::{self, CalledOperation, Callee, Deferred, Owner, RemoteObject};
use crate::collocation;
use crate::exception::{
    CompletionStatus, OperationError, SystemException, SystemExceptionKind, unmarshal_exception,
};
use crate::lane::{Continuation, Lane};
use crate::operation::Operation;
use parking_lot::Mutex;
use punctual_cdr::{CdrError, Decoder, Encoder};
use punctual_exec::Deadline;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// Function that unmarshals the results of an operation.
type ReadResults<R> = fn(&mut Decoder<'_>) -> Result<R, CdrError>;

impl Owner for ObjectRef {
    fn callee_of<'c>(&'c self, lane: &'c Arc<Lane>) -> Callee<'c> {
        Callee {
            lane,
            ..self.callee()
        }
    }
}

/// Call in flight (Messaging::Poller; CORBA 3.3 part 2, §22.13): its result can be polled, waited
/// for, or awaited with any executor. The request has been sent before the poller is returned.
///
/// [`Poller::wait`] reads the reply on the calling thread, as a synchronous call does, and at equal
/// cost. If the poller is awaited as a future, a thread of the ORB reads the reply; the first such
/// call starts that thread (`docs/guide/asynchrony.md`).
///
/// Dropping the poller before the result has arrived cancels the call: the ORB sends CancelRequest.
#[must_use = "dropped, the call is cancelled"]
pub struct Poller<R, E = SystemException> {
    state: State<R, E>,
}

enum State<R, E> {
    /// Result of a call within the process; `None` once it has been taken.
    Made(Option<Result<R, E>>),
    Begun(Option<Box<Begun<R>>>),
}

/// Request in flight, and the function that reads its results.
struct Begun<R> {
    call: Deferred<ObjectRef>,
    results: ReadResults<R>,
}

impl<R, E: OperationError> Poller<R, E> {
    /// Returns whether the result is available. Waits for it up to `timeout`
    /// (Messaging::Poller::is_ready; `Duration::ZERO` does not wait).
    pub fn is_ready(&mut self, timeout: Duration) -> bool {
        match &mut self.state {
            State::Made(_) | State::Begun(None) => true,
            State::Begun(Some(begun)) => begun.call.wait(Deadline::after(timeout)),
        }
    }

    /// Waits for the result, until the time-out of the call.
    ///
    /// # Errors
    /// The exception that the servant has raised. System exceptions of the ORB: TRANSIENT if no endpoint could be
    /// connected to, COMM_FAILURE if the connection broke, TIMEOUT if the time was up, MARSHAL and BAD_PARAM for values
    /// that cannot be sent or read.
    pub fn wait(mut self) -> Result<R, E> {
        self.take().unwrap_or_else(|| Err(taken().into()))
    }

    /// Waits for the result up to `timeout`.
    ///
    /// # Errors
    /// The poller itself, if the result has not arrived in time.
    pub fn wait_for(mut self, timeout: Duration) -> Result<Result<R, E>, Self> {
        match self.is_ready(timeout) {
            true => Ok(self.wait()),
            false => Err(self),
        }
    }

    /// Returns the result as soon as it is available, waiting for it up to `timeout`. May be called
    /// again after a time-out (the operations of a type-specific poller, CORBA 3.3 part 1, §17.10).
    ///
    /// # Errors
    /// The exception that the servant or the server has raised, or a system exception of the ORB.
    /// TIMEOUT (minor code 1) if the result has not arrived in time, NO_RESPONSE if `timeout` is
    /// zero; OBJECT_NOT_EXIST once the result has been taken.
    pub fn result(&mut self, timeout: Duration) -> Result<R, E> {
        if !self.is_ready(timeout) {
            return Err(match timeout.is_zero() {
                true => no_response().into(),
                false => not_in_time().into(),
            });
        }
        self.take().unwrap_or_else(|| Err(taken().into()))
    }

    /// Creates a set to wait for several calls; this call is not added to it
    /// (`Pollable::create_pollable_set`).
    #[must_use]
    pub fn create_pollable_set(&self) -> PollableSet {
        PollableSet::new()
    }

    fn take(&mut self) -> Option<Result<R, E>> {
        match &mut self.state {
            State::Made(result) => result.take(),
            State::Begun(begun) => begun.take().map(|begun| begun.finish()),
        }
    }
}

impl<R> Begun<R> {
    fn finish<E: OperationError>(self) -> Result<R, E> {
        let Self { call, results } = self;
        read(call, results)
    }
}

/// Reads the results, or the user exception, of a call, waiting for them if necessary.
fn read<R, E: OperationError>(call: Deferred<ObjectRef>, results: ReadResults<R>) -> Result<R, E> {
    let read = read_if_done(results, |results| Some(call.finish(results)));
    read.unwrap_or_else(|| Err(client::out_of_place().into()))
}

/// Reads the results, or the user exception, that `finish` passes on; returns `None` if `finish` does.
fn read_if_done<R, E: OperationError>(
    results: ReadResults<R>,
    finish: impl FnOnce(&mut client::Results<'_>) -> Option<Result<(), SystemException>>,
) -> Option<Result<R, E>> {
    let unreadable = |error| {
        let exception = unmarshal_exception(error, CompletionStatus::Yes);
        exception.in_context("reading the results")
    };
    let mut outcome = None;
    let finished = finish(&mut |body, decoder| {
        outcome = Some(match body {
            client::Body::Results => results(decoder).map_err(|error| unreadable(error).into()),
            client::Body::UserException => raised(decoder, unreadable),
        });
    })?;
    Some(match finished {
        Ok(()) => outcome.unwrap_or_else(|| Err(client::out_of_place().into())),
        Err(exception) => Err(exception.into()),
    })
}

fn raised<R, E: OperationError>(
    decoder: &mut Decoder<'_>,
    unreadable: impl Fn(CdrError) -> SystemException,
) -> Result<R, E> {
    let id = decoder.get_string().map_err(&unreadable)?;
    match E::raised(&id, decoder).map_err(&unreadable)? {
        Some(exception) => Err(exception),
        None => Err(client::unlisted(&id).into()),
    }
}

/// Returns the exception for a result that has been taken already.
#[cold]
fn taken() -> SystemException {
    let detail = "the result of the call has been taken from its poller";
    SystemExceptionKind::ObjectNotExist
        .because(detail)
        .completed_as(CompletionStatus::Yes)
}

impl<R, E> Unpin for Poller<R, E> {}

impl<R, E: OperationError> Pollable for Poller<R, E> {
    fn is_ready(&mut self, timeout: Duration) -> bool {
        Self::is_ready(self, timeout)
    }

    fn look(&mut self, waker: &Waker) -> bool {
        match &mut self.state {
            State::Begun(Some(begun)) => begun.call.poll(waker),
            State::Made(_) | State::Begun(None) => true,
        }
    }
}

impl<R, E: OperationError> Future for Poller<R, E> {
    type Output = Result<R, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let State::Begun(Some(begun)) = &mut self.state
            && !begun.call.poll(context.waker())
        {
            return Poll::Pending;
        }
        Poll::Ready(self.take().unwrap_or_else(|| Err(taken().into())))
    }
}

impl<R, E> fmt::Debug for Poller<R, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let call = match &self.state {
            State::Begun(Some(begun)) => Some(&begun.call),
            _ => None,
        };
        f.debug_struct("Poller").field("call", &call).finish()
    }
}

/// Request in flight, and what is done when its reply has come.
pub(super) trait HandledCall: Send + 'static {
    type Outcome;

    /// Returns the call in flight.
    fn call(&mut self) -> &mut Deferred<ObjectRef>;

    /// Returns the outcome of the call if it is done; otherwise the waker that `watcher` makes is woken
    /// when it is time to poll again.
    fn poll(&mut self, watcher: impl FnOnce() -> Waker) -> Option<Self::Outcome>;

    /// Passes the outcome on.
    fn handle(self, outcome: Self::Outcome);
}

/// Asynchronous call whose result is passed to a reply handler.
pub(super) struct Handled<C> {
    lane: Arc<Lane>,
    /// The call, until it is done.
    call: Mutex<Option<C>>,
}

impl<C: HandledCall> Handled<C> {
    /// Registers the call, so that the thread that reads replies handles it when the result has arrived.
    pub(super) fn begin(mut call: C) {
        let lane = call.call().lane().clone();
        let this = Arc::new(Self {
            lane,
            call: Mutex::new(Some(call)),
        });
        let watcher = Waker::from(this.clone());
        let mut held = this.call.lock();
        let is_done = held.as_mut().is_some_and(|it| it.call().watch(&watcher));
        drop(held);
        if is_done {
            watcher.wake();
        }
    }
}

impl<C: HandledCall> Continuation for Handled<C> {
    fn go_on(self: Arc<Self>) {
        let mut held = self.call.lock();
        let watcher = || Waker::from(self.clone());
        let outcome = held.as_mut().and_then(|call| call.poll(watcher));
        if let Some(outcome) = outcome
            && let Some(call) = held.take()
        {
            drop(held);
            call.handle(outcome);
        }
    }
}

impl<C: HandledCall> Wake for Handled<C> {
    fn wake(self: Arc<Self>) {
        self.lane.submit(self.clone());
    }
}

/// Call of a generated stub, and the handler of its results.
struct TypedCall<R, E> {
    call: Deferred<ObjectRef>,
    results: ReadResults<R>,
    handler: ReplyHandler<R, E>,
}

impl<R, E> HandledCall for TypedCall<R, E>
where
    R: Send + 'static,
    E: OperationError + Send + 'static,
{
    type Outcome = Result<R, E>;

    fn call(&mut self) -> &mut Deferred<ObjectRef> {
        &mut self.call
    }

    fn poll(&mut self, watcher: impl FnOnce() -> Waker) -> Option<Result<R, E>> {
        read_if_done(self.results, |results| {
            self.call.poll_finish(watcher, results)
        })
    }

    fn handle(self, result: Result<R, E>) {
        let Self { call, handler, .. } = self;
        drop(call);
        handler.0(result);
    }
}

/// Call within the process that has finished, and whose reply handler has not been called yet.
struct Made(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Continuation for Made {
    fn go_on(self: Arc<Self>) {
        let handle = self.0.lock().take();
        if let Some(handle) = handle {
            handle();
        }
    }
}

impl ObjectRef {
    /// Begins a call. If the object is in this process, calls `here` with the servant, on this
    /// thread and to completion; otherwise sends a request, for which `arguments` may be called
    /// again later. For generated stubs.
    pub fn begin<V, R, E>(
        &self,
        operation: Operation,
        here: impl FnOnce(&V) -> Result<R, E>,
        arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError> + Send + 'static,
        results: ReadResults<R>,
    ) -> Poller<R, E>
    where
        V: ?Sized + 'static,
        E: OperationError,
    {
        let state = match self.begun(operation, here, arguments) {
            Ok(call) => State::Begun(Some(Box::new(Begun { call, results }))),
            Err(made) => State::Made(Some(made)),
        };
        Poller { state }
    }

    /// Begins a call like [`ObjectRef::begin`], with a reply handler, which is called exactly once.
    /// It is called by the thread that reads the lane's replies or, after a shutdown of the ORB, by
    /// the calling thread. For generated stubs.
    pub fn begin_handled<V, R, E>(
        &self,
        operation: Operation,
        handler: ReplyHandler<R, E>,
        here: impl FnOnce(&V) -> Result<R, E>,
        arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError> + Send + 'static,
        results: ReadResults<R>,
    ) where
        V: ?Sized + 'static,
        R: Send + 'static,
        E: OperationError + Send + 'static,
    {
        match self.begun(operation, here, arguments) {
            Ok(call) => Handled::begin(TypedCall {
                call,
                results,
                handler,
            }),
            Err(made) => {
                let handle: Box<dyn FnOnce() + Send> = Box::new(move || handler.0(made));
                let lane = self.callee().lane.clone();
                lane.submit(Arc::new(Made(Mutex::new(Some(handle)))));
            }
        }
    }

    /// Begins a call like [`ObjectRef::begin`] that is always sent as a request. For generated
    /// stubs without server-side code.
    pub fn begin_elsewhere<R, E: OperationError>(
        &self,
        operation: Operation,
        arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError> + Send + 'static,
        results: ReadResults<R>,
    ) -> Poller<R, E> {
        let call = self.request(operation, arguments);
        Poller {
            state: State::Begun(Some(Box::new(Begun { call, results }))),
        }
    }

    /// Begins a call like [`ObjectRef::begin_elsewhere`], with a reply handler. For generated stubs
    /// without server-side code.
    pub fn begin_handled_elsewhere<R, E>(
        &self,
        operation: Operation,
        handler: ReplyHandler<R, E>,
        arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError> + Send + 'static,
        results: ReadResults<R>,
    ) where
        R: Send + 'static,
        E: OperationError + Send + 'static,
    {
        Handled::begin(TypedCall {
            call: self.request(operation, arguments),
            results,
            handler,
        });
    }

    fn request(
        &self,
        operation: Operation,
        arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError> + Send + 'static,
    ) -> Deferred<Self> {
        let lane = self.callee().lane.clone();
        let operation = CalledOperation::Known(operation.name());
        Deferred::begin(self.clone(), lane, operation, Box::new(arguments))
    }

    /// Returns the request in flight, or the result of a call within the process.
    fn begun<V, R, E>(
        &self,
        operation: Operation,
        here: impl FnOnce(&V) -> Result<R, E>,
        arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError> + Send + 'static,
    ) -> Result<Deferred<Self>, Result<R, E>>
    where
        V: ?Sized + 'static,
        E: OperationError,
    {
        let begin = |to: Option<RemoteObject>| match to {
            None => self.request(operation, arguments),
            Some(to) => self.forwarded(to).request(operation, arguments),
        };
        if self.is_elsewhere() {
            return Ok(begin(None));
        }
        let mut begun = None;
        let made = collocation::call(
            collocation::Caller {
                may_wait: false,
                ..self.caller()
            },
            &operation,
            (),
            |(), servant: &V| here(servant),
            |(), to| {
                begun = Some(begin(to));
                // Not seen by any caller.
                Err(client::out_of_place().into())
            },
            || Some(()),
        );
        match begun {
            Some(call) => Ok(call),
            None => Err(made),
        }
    }
}
