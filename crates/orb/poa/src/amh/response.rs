//! Responses: handles by which servants answer requests later.

use super::here::Here;
use crate::adapter::HeldRequest;
use crate::policy::AnswerTimeoutPolicy;
use punctual_orb::{
    AnswerError, CompletionStatus, DispatchError, Dispatched, ObjectRef, OperationError,
    PendingReply, ServerCall, SystemException, SystemExceptionKind as Kind, minor,
};
use std::fmt;
use std::task::Waker;

/// Function that writes an answer into a reply: the results, or the exception. Written by the IDL
/// compiler.
pub type AnswerWith<R, E> =
    fn(Result<R, E>, &mut ServerCall<'_>) -> Result<Dispatched, DispatchError>;

/// Handle for answering one request, once, at any time and on any thread (TAO's response handler).
/// It occupies no thread.
///
/// A response that is dropped answers NO_RESPONSE, or UNKNOWN if a panic drops it: a client is
/// never left without an answer. While it is pending, the client waits, the request counts towards
/// `limits.pending_replies`, and the ORB's shutdown is delayed. At its time-out (`timeouts.answer`,
/// [`crate::PoaPolicy::AnswerTimeout`]) the client gets TIMEOUT instead.
///
/// Answering takes it by value, so that a second answer does not compile:
///
/// ```compile_fail,E0382
/// # use punctual_poa::Response;
/// fn twice(response: Response<i32>) {
///     let _ = response.reply(1);
///     let _ = response.reply(2);
/// }
/// ```
#[must_use = "dropped, it answers NO_RESPONSE"]
pub struct Response<R, E = SystemException>(To<R, E>);

/// Destination to which the servant's answer is sent.
enum To<R, E> {
    /// Remote client whose request arrived over a connection.
    Client {
        pending: PendingReply,
        answer: AnswerWith<R, E>,
    },
    /// Waiting caller in this process.
    Caller(Here<R, E>),
}

impl<R, E: OperationError> Response<R, E> {
    /// Takes the response out of a request. For generated code.
    ///
    /// # Errors
    /// TRANSIENT if too many requests wait to be answered, or the POA is being destroyed;
    /// NO_RESOURCES if no timer can be set for the time-out.
    #[doc(hidden)]
    pub fn of(
        call: &mut ServerCall<'_>,
        answer: AnswerWith<R, E>,
    ) -> Result<(Self, Dispatched), DispatchError> {
        // Nothing is taken from the request before this, so that an error is answered as the
        // upcall's own.
        let held = HeldRequest::of_upcall()?;
        let policy = held.as_ref().map(HeldRequest::answer_timeout);
        let (pending, dispatched) = match policy.unwrap_or_default() {
            AnswerTimeoutPolicy::OfOrb => call.answer_later()?,
            AnswerTimeoutPolicy::After(time) => call.answer_within(Some(time))?,
            AnswerTimeoutPolicy::Never => call.answer_within(None)?,
        };
        if let Some(held) = held {
            pending.hold(Box::new(held));
        }
        Ok((Self(To::Client { pending, answer }), dispatched))
    }

    pub(super) fn to_caller(here: Here<R, E>) -> Self {
        Self(To::Caller(here))
    }

    /// Answers with the results: the return value, then `inout` and `out` parameters, as a tuple if
    /// there are several.
    ///
    /// # Errors
    /// [`AnswerError::NobodyWaits`] if the client's connection has ended; [`AnswerError::TimedOut`]
    /// if the client got TIMEOUT before; [`AnswerError::Instead`] with the exception that the
    /// client got if the results cannot be marshaled. A servant may ignore all of them.
    pub fn reply(self, results: R) -> Result<(), AnswerError> {
        self.answer(Ok(results))
    }

    /// Answers with an exception of the operation's.
    ///
    /// # Errors
    /// Those of [`Response::reply`].
    pub fn raise(self, exception: impl Into<E>) -> Result<(), AnswerError> {
        self.answer(Err(exception.into()))
    }

    /// Answers with a system exception.
    ///
    /// # Errors
    /// Those of [`Response::reply`].
    pub fn fail(self, exception: impl Into<SystemException>) -> Result<(), AnswerError> {
        self.answer(Err(E::from(exception.into())))
    }

    /// Answers with a result as a synchronous servant's method returns it: the results or an
    /// exception.
    ///
    /// # Errors
    /// Those of [`Response::reply`].
    pub fn answer(self, result: Result<R, E>) -> Result<(), AnswerError> {
        let (pending, answer) = match self.0 {
            To::Client { pending, answer } => (pending, answer),
            To::Caller(here) => {
                here.answer(result);
                return Ok(());
            }
        };
        let is_raised = result.is_err();
        match pending.answer(|call| answer(result, call)) {
            // The client got the exception that the servant raised.
            Err(AnswerError::Instead(_)) if is_raised => Ok(()),
            other => other,
        }
    }

    /// Makes the client repeat the call on another object (LOCATION_FORWARD, CORBA 3.3 part 2,
    /// §9.4.3.1). A caller of this process, which has made no request, gets TRANSIENT.
    ///
    /// # Errors
    /// Those of [`Response::reply`].
    pub fn forward(self, to: &ObjectRef) -> Result<(), AnswerError> {
        match self.0 {
            To::Client { pending, .. } => pending.answer(|_| Err(DispatchError::forward(to))),
            To::Caller(here) => {
                here.answer(Err(forwarded().into()));
                Ok(())
            }
        }
    }

    /// Returns whether the answer is awaited. It is not if the client has cancelled the request or
    /// got TIMEOUT, if its connection has ended, or if the request is a one-way.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        match &self.0 {
            To::Client { pending, .. } => pending.is_awaited(),
            To::Caller(_) => true,
        }
    }

    /// Registers a waker that is woken when the answer is no longer awaited, in place of an earlier
    /// one; returns whether the answer is awaited now.
    pub fn watch(&self, watcher: &Waker) -> bool {
        match &self.0 {
            To::Client { pending, .. } => pending.watch(watcher),
            To::Caller(_) => true,
        }
    }
}

impl<R, E> fmt::Debug for Response<R, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pending = match &self.0 {
            To::Client { pending, .. } => Some(pending),
            To::Caller(_) => None,
        };
        f.debug_tuple("Response").field(&pending).finish()
    }
}

fn forwarded() -> SystemException {
    SystemException::new(Kind::Transient, minor::DISCARDED, CompletionStatus::No)
        .with_detail("the servant forwards the call, which a call within the process cannot follow")
}
