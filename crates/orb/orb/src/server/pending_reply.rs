//! Reply that is made after its upcall has returned, by any thread (asynchronous method handling,
//! AMH).
//!
//! [`ServerCall::answer_later`] saves the data of a request that its reply needs. Until the reply
//! is made, the request is in progress: its connection is not closed in an orderly way before, and
//! the ORB's shutdown waits for it. It occupies no thread. It is answered exactly once: if dropped
//! unanswered, it is answered with NO_RESPONSE, or with UNKNOWN if a panic drops it; if it exceeds
//! its time-out, with TIMEOUT, by the thread that reads its lane's replies.

use super::call::{Dispatched, EarlyReplySender, MadeReply, ServerCall};
use super::kept_reply::{Keeper, KeptReply};
use super::pending::{Awaited, PendingReplySender, RECORD, TooMany};
use crate::adapter::DispatchError;
use crate::budget::{Hold, NoRoom};
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::fixed_context::ReplyContexts;
use crate::interceptor::{OwnedContext, ServerPass};
use crate::lane::Alarm;
use crate::sync::{Mutex, lock};
use punctual_cdr::{Block, ByteOrder, CodeSets, Coding, Decoder, GiopVersion};
use punctual_exec::Quoted;
use punctual_giop::{ResponseFlags, ServiceContexts};
use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

/// Request that will be answered later; see the module documentation.
pub struct PendingReply {
    shared: Arc<Shared>,
    /// Alarm of the time-out, if there is one. Dropped with the request if that is answered in
    /// time.
    _alarm: Option<Alarm>,
}

/// State of a request that its servant and its alarm share; the first of them to answer takes the
/// data out.
struct Shared {
    operation: Box<str>,
    awaited: Arc<Awaited>,
    /// Data for the reply, which the first answer takes out. A later answer finds nothing and has
    /// no effect.
    open: Mutex<Option<Open>>,
}

/// Data of the request from which its pending reply is made.
struct Open {
    connection: Arc<dyn PendingReplySender>,
    request_id: u32,
    /// Number of bytes that the request's connection counts for the request.
    octets: usize,
    version: GiopVersion,
    response: ResponseFlags,
    code_sets: CodeSets,
    reply_contexts: ReplyContexts,
    /// Value to be kept until the request is answered.
    held: Option<Box<dyn Any + Send + Sync>>,
    /// Data for the interceptors' ending points, if the ORB has interceptors.
    intercepted: Option<Intercepted>,
    /// Receiver of the reply, if it is to be kept for repeats of the request. Taken when the first reply is made.
    keeper: Cell<Option<Keeper>>,
    /// Charge of the request's bytes to the budget of received data, for a long request, as its
    /// arguments may be kept until it is answered.
    _received: Option<Arc<Hold>>,
}

/// Request that is being answered. If dropped unanswered, it is answered like a dropped
/// [`PendingReply`].
struct Claimed<'s> {
    shared: &'s Shared,
    open: Open,
    is_answered: bool,
}

/// Data of a pending reply for the ending interception points of the interceptors.
struct Intercepted {
    /// Pass through the interceptors; present until the ending points have been called.
    pass: Option<Box<ServerPass>>,
    /// Service contexts of the request.
    contexts: Vec<OwnedContext>,
}

impl ServerCall<'_> {
    /// Defers the answer to the request: it is then given through the returned value, from any
    /// thread, within `timeouts.answer`. The request cannot be answered in another way any more;
    /// its arguments can still be read. Allocates.
    ///
    /// # Errors
    /// TRANSIENT if too many requests of the connection or of the ORB are pending
    /// (`limits.pending_replies_per_connection`, `limits.pending_replies`), or its bytes exceed the
    /// budget (`limits.received`). NO_RESOURCES if there is a time-out and the thread that monitors
    /// it cannot be started.
    pub fn answer_later(&mut self) -> Result<(PendingReply, Dispatched), DispatchError> {
        self.answer_within(self.conversation.broker().config().timeouts.answer)
    }

    /// Defers the answer as [`ServerCall::answer_later`] does, but with its own time-out, or none.
    /// A request that is not answered in time is answered with TIMEOUT, COMPLETED_MAYBE.
    ///
    /// # Errors
    /// As [`ServerCall::answer_later`].
    pub fn answer_within(
        &mut self,
        time_out: Option<Duration>,
    ) -> Result<(PendingReply, Dispatched), DispatchError> {
        self.tell_arguments(None)?;
        let connection = self.sender.answers_later().ok_or_else(gone)?;
        let response = match self.answered {
            true => ResponseFlags::NONE,
            false => self.response,
        };
        let is_awaited = response.response_expected();
        let received = self.message.and_then(|message| message.held.clone());
        // A long message is counted by itself.
        let octets = match &received {
            Some(_) => RECORD,
            None => self.arguments.position() + self.arguments.remaining() + RECORD,
        };
        let conversation = connection.conversation();
        let request = (self.request_id, octets);
        let added = connection.pending().add(&*connection, request, is_awaited);
        let awaited = added.map_err(refused)?;
        // The upcall's own count is still held, so this one succeeds whether the connection is
        // closing or not.
        conversation.begin_request();
        if self.has_reply() {
            self.reply.clear();
            self.made = MadeReply::None;
        }
        // From now on no answer of the upcall is sent.
        self.answered = true;
        let intercepted = self.pass.as_mut().map(|pass| {
            let contexts = self.contexts.iter();
            Intercepted {
                pass: Some(Box::new(pass.answered_later())),
                contexts: contexts.map(|(id, data)| (id, data.to_vec())).collect(),
            }
        });
        let open = Open {
            intercepted,
            keeper: Cell::new(self.keeper.take()),
            request_id: self.request_id,
            octets,
            version: self.version,
            response,
            code_sets: self.arguments.coding().code_sets,
            reply_contexts: std::mem::replace(&mut self.reply_contexts, ReplyContexts::None),
            held: None,
            _received: received,
            connection: connection.clone(),
        };
        let shared = Arc::new(Shared {
            operation: self.operation.into(),
            awaited,
            open: Mutex::new(Some(open)),
        });
        let alarm = match time_out {
            None => None,
            Some(time_out) => {
                let alarm = connection.wake_after(time_out, &Waker::from(shared.clone()));
                alarm.map_err(|error| shared.refuse(&error))?
            }
        };
        let pending = PendingReply {
            shared,
            _alarm: alarm,
        };
        Ok((pending, Dispatched(())))
    }
}

impl PendingReply {
    /// Returns the name of the requested operation, as sent in the request.
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.shared.operation
    }

    /// Returns `true` if the client waits for the answer: `false` if the request was a one-way, was
    /// cancelled, was answered with TIMEOUT, or arrived on a connection that has ended.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        self.shared.awaited.is_awaited()
    }

    /// Sets the waker for the time when the answer is no longer awaited; returns `true` if it is
    /// currently awaited. There is only one watcher at a time.
    pub fn watch(&self, watcher: &Waker) -> bool {
        self.shared.awaited.watch(watcher)
    }

    /// Keeps a value until the request is answered: it is dropped just before the reply is sent.
    /// For object adapters.
    pub fn hold(&self, what: Box<dyn Any + Send + Sync>) {
        // If the request has timed out by now, the value is dropped at once.
        if let Some(open) = &mut *lock(&self.shared.open) {
            open.held = Some(what);
        }
    }

    /// Answers the request: `make` encodes the reply, as a skeleton does. If the peer does not
    /// accept its replies, blocks for at most `timeouts.reply`.
    ///
    /// # Errors
    /// [`AnswerError`]; the request still counts as answered.
    pub fn answer(
        self,
        make: impl FnOnce(&mut ServerCall<'_>) -> Result<Dispatched, DispatchError>,
    ) -> Result<(), AnswerError> {
        let claimed = self.shared.claim();
        claimed.ok_or(AnswerError::TimedOut)?.make(make)
    }
}

impl Shared {
    /// Claims the right to answer the request; returns `None` if another thread has claimed it.
    fn claim(&self) -> Option<Claimed<'_>> {
        let open = lock(&self.open).take()?;
        Some(Claimed {
            shared: self,
            open,
            is_answered: false,
        })
    }

    /// Answers with an exception, as the time-out cannot be monitored. The answer that the upcall
    /// itself returns is not sent any more.
    #[cold]
    fn refuse(&self, error: &io::Error) -> DispatchError {
        let why = format!("no timer for the time-out of the answer: {error}");
        let exception = Kind::NoResources.because(why);
        if let Some(mut claimed) = self.claim() {
            claimed.fail(exception.clone());
        }
        exception.into()
    }
}

impl Claimed<'_> {
    fn make(
        &mut self,
        make: impl FnOnce(&mut ServerCall<'_>) -> Result<Dispatched, DispatchError>,
    ) -> Result<(), AnswerError> {
        let mut memory = Block::default();
        let (reply, outcome) = self.encoded(&mut memory, make);
        self.is_answered = true;
        // As for other requests: the object may be released before its client receives the answer.
        drop(self.open.held.take());
        if self.open.response.response_expected() && self.shared.awaited.is_closed() {
            return Err(AnswerError::NobodyWaits);
        }
        if let Some(reply) = reply {
            self.open.connection.send(&reply);
            // An answer that was sent may be reported here, too, if another one of the connection
            // fails at this moment; the other way round none is lost.
            if self.open.connection.conversation().has_failed() {
                return Err(AnswerError::NobodyWaits);
            }
        }
        outcome
    }

    fn fail(&mut self, exception: SystemException) {
        let peer = self.open.connection.conversation().peer();
        let operation = Quoted(&self.shared.operation);
        tracing::debug!(%peer, "`{operation}` is answered with {exception}");
        // The request is dropped, so an error in sending has no receiver.
        let _ = self.make(|_| Err(exception.into()));
    }

    /// Returns the encoded reply, if one is to be sent, and the result for the answering code.
    fn encoded(
        &mut self,
        memory: &mut Block,
        make: impl FnOnce(&mut ServerCall<'_>) -> Result<Dispatched, DispatchError>,
    ) -> (Option<Block>, Result<(), AnswerError>) {
        let intercepted = self.open.intercepted.as_mut();
        let pass = intercepted.and_then(|intercepted| intercepted.pass.take());
        let contexts = match &self.open.intercepted {
            Some(intercepted) => &intercepted.contexts[..],
            None => &[],
        };
        let contexts: Vec<_> = contexts.iter().map(|(id, data)| (*id, &data[..])).collect();
        let sender = LateSender(&*self.open.connection);
        let mut call = self.call(memory, &sender, ServiceContexts::new(&contexts));
        let made = make(&mut call);
        let made = match pass {
            Some(pass) => call.end_pass(pass, made),
            None => made,
        };
        if let Some(keeper) = self.open.keeper.take() {
            call.join_results();
            let unanswered = || Err(no_response("the servant has not answered").into());
            keeper.end(match call.is_owed_an_answer() && made.is_ok() {
                true => KeptReply::of(&call, &unanswered()),
                false => KeptReply::of(&call, &made),
            });
        }
        match made {
            Ok(_) if call.is_owed_an_answer() => {
                let nothing = no_response("the servant has not answered");
                let reply = call.fail(&nothing.clone().into());
                (reply, Err(AnswerError::Instead(nothing)))
            }
            Ok(_) => {
                let is_made = call.has_reply();
                drop(call);
                (is_made.then(|| std::mem::take(memory)), Ok(()))
            }
            Err(error) => {
                let reply = call.fail(&error);
                let outcome = match error {
                    DispatchError::System(exception) => Err(AnswerError::Instead(exception)),
                    _ => Ok(()),
                };
                (reply, outcome)
            }
        }
    }

    /// Rebuilds the call, as far as its reply needs it.
    fn call<'c>(
        &'c self,
        reply: &'c mut Block,
        sender: &'c LateSender<'c>,
        contexts: ServiceContexts<'c>,
    ) -> ServerCall<'c> {
        let open = &self.open;
        let conversation = open.connection.conversation();
        let coding = Coding {
            code_sets: open.code_sets,
            ..conversation.coding(open.version)
        };
        ServerCall {
            conversation,
            sender,
            operation: &self.shared.operation,
            request_id: open.request_id,
            version: open.version,
            response: open.response,
            contexts,
            reply_contexts: open.reply_contexts.clone(),
            arguments: Decoder::new(&[], ByteOrder::NATIVE, coding),
            message: None,
            arrival: None,
            reply,
            made: MadeReply::None,
            answered: false,
            pass: None,
            keeper: None,
        }
    }
}

impl Drop for Claimed<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.fail(match std::thread::panicking() {
                true => panicked(),
                false => no_response("the servant dropped the request without answering"),
            });
        }
        let connection = &self.open.connection;
        let request = (self.open.request_id, self.open.octets);
        let pending = connection.pending();
        pending.remove(&**connection, request, &self.shared.awaited);
        connection.ends_request();
    }
}

impl Drop for PendingReply {
    fn drop(&mut self) {
        drop(self.shared.claim());
    }
}

/// Answers with TIMEOUT when the time for the answer has passed.
impl Wake for Shared {
    fn wake(self: Arc<Self>) {
        if let Some(mut claimed) = self.claim() {
            claimed.open.connection.time_out();
            claimed.fail(timed_out());
            drop(claimed);
            self.awaited.time_out();
        }
    }
}

impl fmt::Debug for PendingReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingReply")
            .field("operation", &self.operation())
            .field("is_awaited", &self.is_awaited())
            .finish_non_exhaustive()
    }
}

/// Reason why an answer was not sent to the client as given.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The client's connection has ended: no answer was sent, or the client did not accept all of it.
    #[error("the answer is no longer awaited: the client's connection has ended")]
    NobodyWaits,
    /// The client has already been answered with TIMEOUT, as the limit `timeouts.answer` was
    /// exceeded: nothing was sent.
    #[error("the answer is too late: the client has received TIMEOUT")]
    TimedOut,
    /// The client received this exception in place of the answer.
    #[error("the client has received an exception instead: {0}")]
    Instead(SystemException),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<AnswerError> for SystemException {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Instead(exception) => exception,
            AnswerError::NobodyWaits => Kind::CommFailure.because(error.to_string()),
            AnswerError::TimedOut => timed_out(),
        }
    }
}

/// Sender for a call whose upcall has returned: sends nothing early.
struct LateSender<'c>(&'c dyn PendingReplySender);

impl EarlyReplySender for LateSender<'_> {
    fn send_early(&self, _: &Block) {}

    fn answers_later(&self) -> Option<Arc<dyn PendingReplySender>> {
        None
    }

    fn charge_reply(&self, octets: usize) -> (Hold, Result<(), NoRoom>) {
        self.0.charge_reply(octets)
    }
}

/// Returns the exception for a request that was dropped unanswered; TAO's AMH uses it when a
/// response handler is destroyed without a call.
fn no_response(why: &str) -> SystemException {
    let kind = Kind::NoResponse;
    SystemException::new(kind, minor::NOT_ANSWERED, CompletionStatus::Maybe).with_detail(why)
}

fn timed_out() -> SystemException {
    let kind = Kind::Timeout;
    SystemException::new(kind, minor::ANSWER_TIMED_OUT, CompletionStatus::Maybe).with_detail(
        "the servant has not answered within the time that it may take (timeouts.answer)",
    )
}

fn panicked() -> SystemException {
    let kind = Kind::Unknown;
    SystemException::new(kind, minor::SERVANT_PANICKED, CompletionStatus::Maybe)
        .with_detail("the servant panicked before it had answered")
}

/// Returns the error for a connection that no longer exists while one of its requests is served,
/// which should not happen.
#[cold]
pub(super) fn gone() -> DispatchError {
    let kind = Kind::Internal;
    SystemException::new(kind, minor::BROKEN_INVARIANT, CompletionStatus::No)
        .with_detail("the request cannot be answered later: its upcall is over")
        .into()
}

#[cold]
pub(super) fn refused(too_many: TooMany) -> DispatchError {
    let why = match too_many {
        TooMany::OfConnection(limit) => format!(
            "{limit} requests of this connection wait for their answers (limits.pending_replies_per_connection)"
        ),
        TooMany::OfOrb(limit) => {
            format!("{limit} requests wait for their answers (limits.pending_replies)")
        }
        TooMany::Octets(full) => full.to_string(),
    };
    discarded(why)
}

fn discarded(why: String) -> DispatchError {
    SystemException::new(Kind::Transient, minor::DISCARDED, CompletionStatus::No)
        .with_detail(why)
        .into()
}
