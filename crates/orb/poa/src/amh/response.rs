//! The answer that a servant gives later.

use super::here::Here;
use crate::adapter::HeldRequest;
use crate::policy::AnswerTimeoutPolicy;
use punctual_orb::{
    AnswerError, CompletionStatus, DispatchError, Dispatched, ObjectRef, OperationError,
    PendingReply, ServerCall, SystemException, SystemExceptionKind as Kind, minor,
};
use std::fmt;
use std::task::Waker;

/// Puts an answer into a reply: the results, or what was raised. Written by the IDL compiler.
pub type AnswerWith<R, E> =
    fn(Result<R, E>, &mut ServerCall<'_>) -> Result<Dispatched, DispatchError>;

/// What one request is answered by, once, at any time and by any thread (TAO's response handler). It keeps no thread.
///
/// One that is dropped answers NO_RESPONSE, or UNKNOWN where a panic drops it: a client is never left without an answer. One that is
/// kept keeps its client waiting, a place among `limits.pending_replies`, and the shutdown of the ORB: until its time-out
/// (`timeouts.answer`, [`crate::PoaPolicy::AnswerTimeout`]), when the client is told TIMEOUT in its place.
///
/// Answering takes it, so that a second answer does not compile:
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

/// Whom it answers.
enum To<R, E> {
    /// A client, by wire.
    Client {
        pending: PendingReply,
        answer: AnswerWith<R, E>,
    },
    /// A caller of this process, which waits.
    Caller(Here<R, E>),
}

impl<R, E: OperationError> Response<R, E> {
    /// Takes it out of a request. For generated code.
    ///
    /// # Errors
    /// TRANSIENT where too many requests wait to be answered, and where the POA is being destroyed; NO_RESOURCES where
    /// a time-out cannot be kept.
    #[doc(hidden)]
    pub fn of(
        call: &mut ServerCall<'_>,
        answer: AnswerWith<R, E>,
    ) -> Result<(Self, Dispatched), DispatchError> {
        // Before anything is taken: what fails is answered as the upcall's own.
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

    /// Answers with the results: the return value, then `inout` and `out` parameters, as a tuple if they are several.
    ///
    /// # Errors
    /// [`AnswerError::NobodyWaits`] where the client's connection has ended; [`AnswerError::TimedOut`] where the client was told TIMEOUT
    /// before; [`AnswerError::Instead`] with what the client was
    /// told where the results cannot be marshaled. A servant need not care for either.
    pub fn reply(self, results: R) -> Result<(), AnswerError> {
        self.answer(Ok(results))
    }

    /// Answers with an exception of the operation's.
    ///
    /// # Errors
    /// As [`Response::reply`].
    pub fn raise(self, exception: impl Into<E>) -> Result<(), AnswerError> {
        self.answer(Err(exception.into()))
    }

    /// Answers with a system exception.
    ///
    /// # Errors
    /// As [`Response::reply`].
    pub fn fail(self, exception: impl Into<SystemException>) -> Result<(), AnswerError> {
        self.answer(Err(E::from(exception.into())))
    }

    /// Answers as a synchronous servant's method returns.
    ///
    /// # Errors
    /// As [`Response::reply`].
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
            // The client was told what the servant has said.
            Err(AnswerError::Instead(_)) if is_raised => Ok(()),
            other => other,
        }
    }

    /// Has the client make the call on another object (LOCATION_FORWARD, CORBA 3.3 part 2, §9.4.3.1). A caller of this process, who has made no
    /// request, is told TRANSIENT.
    ///
    /// # Errors
    /// As [`Response::reply`].
    pub fn forward(self, to: &ObjectRef) -> Result<(), AnswerError> {
        match self.0 {
            To::Client { pending, .. } => pending.answer(|_| Err(DispatchError::forward(to))),
            To::Caller(here) => {
                here.answer(Err(forwarded().into()));
                Ok(())
            }
        }
    }

    /// Whether somebody waits for the answer. Not where the client has cancelled the request or was told TIMEOUT, its connection has
    /// ended, or it made a one-way of it.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        match &self.0 {
            To::Client { pending, .. } => pending.is_awaited(),
            To::Caller(_) => true,
        }
    }

    /// Has `watcher` woken when nobody waits for the answer any more; whether somebody does now. The last watcher counts.
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
        .with_detail("the servant sends the call elsewhere, and it has come without a request")
}
