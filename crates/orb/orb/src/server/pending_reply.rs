//! A reply that is made after its upcall has returned, by any thread (asynchronous method handling, AMH).
//!
//! [`ServerCall::answer_later`] takes out of a request what its reply needs. Until that is made, the request is one in
//! progress: its connection says goodbye after it, and the ORB's shutdown waits for it. No thread is kept for it. It is
//! answered exactly once: one that is dropped is answered with NO_RESPONSE, or with UNKNOWN where a panic drops it.

use super::call::{Dispatched, SendsEarly, ServerCall};
use super::pending::{AnswersLater, Awaited, TooMany};
use super::reply_contexts::ReplyContexts;
use crate::adapter::DispatchError;
use crate::budget::Hold;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::interceptor::{OwnedContext, ServerPass};
use crate::sync::{Mutex, lock};
use punctual_cdr::{Block, ByteOrder, CodeSets, Coding, Decoder, GiopVersion};
use punctual_giop::{ResponseFlags, ServiceContexts};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;

/// A request that will be answered: see the module.
pub struct PendingReply {
    connection: Arc<dyn AnswersLater>,
    awaited: Arc<Awaited>,
    operation: Box<str>,
    request_id: u32,
    version: GiopVersion,
    response: ResponseFlags,
    code_sets: CodeSets,
    reply_contexts: ReplyContexts,
    /// What is to stay until it is answered.
    held: Option<Box<dyn Any + Send + Sync>>,
    /// Where the ORB has interceptors: what their ending points need.
    intercepted: Option<Mutex<Intercepted>>,
    /// Its octets in the account of what all peers have sent, if they are many: its arguments may be kept until it is answered.
    _received: Option<Arc<Hold>>,
    is_answered: bool,
}

/// See [`PendingReply::intercepted`].
struct Intercepted {
    /// Until they have been called.
    pass: Option<Box<ServerPass>>,
    /// The request's.
    contexts: Vec<OwnedContext>,
}

impl ServerCall<'_> {
    /// Has the request answered later: by what this returns, from any thread. Nothing else can be answered to it from
    /// now on; its arguments can still be read. Allocates.
    ///
    /// # Errors
    /// TRANSIENT where too many requests of the connection, or of all, wait to be answered so
    /// (`limits.pending_replies_per_connection`, `limits.pending_replies`).
    pub fn answer_later(&mut self) -> Result<(PendingReply, Dispatched), DispatchError> {
        let connection = self.sender.answers_later().ok_or_else(gone)?;
        let response = match self.answered {
            true => ResponseFlags::NONE,
            false => self.response,
        };
        let is_awaited = response.response_expected();
        let conversation = connection.conversation();
        let added = connection
            .pending()
            .add(conversation.broker(), self.request_id, is_awaited);
        let awaited = added.map_err(refused)?;
        // The upcall's own is in progress, so that this one is, too: whether or not the connection is closing.
        conversation.begin_request();
        if self.has_reply {
            self.reply.clear();
            self.has_reply = false;
        }
        // From now on nothing that the upcall answers is sent.
        self.answered = true;
        let intercepted = self.pass.as_mut().map(|pass| {
            let contexts = self.contexts.iter();
            Mutex::new(Intercepted {
                pass: Some(Box::new(pass.answered_later())),
                contexts: contexts.map(|(id, data)| (id, data.to_vec())).collect(),
            })
        });
        let pending = PendingReply {
            intercepted,
            operation: self.operation.into(),
            request_id: self.request_id,
            version: self.version,
            response,
            code_sets: self.arguments.coding().code_sets,
            reply_contexts: std::mem::replace(&mut self.reply_contexts, ReplyContexts::None),
            held: None,
            _received: self.message.and_then(|message| message.held.clone()),
            is_answered: false,
            awaited,
            connection,
        };
        Ok((pending, Dispatched(())))
    }
}

impl PendingReply {
    /// The operation's name on the wire.
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// Whether somebody waits for the answer: not where the request was a one-way, was cancelled, or came on a connection that has
    /// ended.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        self.awaited.is_awaited()
    }

    /// Has `watcher` woken when nobody waits for the answer any more; whether somebody does now. One watcher at a time.
    pub fn watch(&self, watcher: &Waker) -> bool {
        self.awaited.watch(watcher)
    }

    /// Keeps something until the request is answered: it is dropped just before the reply is sent. For object adapters.
    pub fn hold(&mut self, what: Box<dyn Any + Send + Sync>) {
        self.held = Some(what);
    }

    /// Answers: `make` makes the reply, as a skeleton does. May wait for a peer that does not take its replies, for no longer
    /// than `timeouts.reply`.
    ///
    /// # Errors
    /// [`AnswerError`]: the request counts as answered all the same.
    pub fn answer(
        mut self,
        make: impl FnOnce(&mut ServerCall<'_>) -> Result<Dispatched, DispatchError>,
    ) -> Result<(), AnswerError> {
        self.make(make)
    }

    fn make(
        &mut self,
        make: impl FnOnce(&mut ServerCall<'_>) -> Result<Dispatched, DispatchError>,
    ) -> Result<(), AnswerError> {
        let mut memory = Block::default();
        let (reply, outcome) = self.encoded(&mut memory, make);
        self.is_answered = true;
        // As for other requests: the object may go before its client hears of it.
        drop(self.held.take());
        if self.response.response_expected() && self.awaited.is_closed() {
            return Err(AnswerError::NobodyWaits);
        }
        if let Some(reply) = reply {
            self.connection.send(&reply);
        }
        outcome
    }

    /// The reply, if one is to be sent, and what became of the answer.
    fn encoded(
        &self,
        memory: &mut Block,
        make: impl FnOnce(&mut ServerCall<'_>) -> Result<Dispatched, DispatchError>,
    ) -> (Option<Block>, Result<(), AnswerError>) {
        let mut intercepted = self.intercepted.as_ref().map(lock);
        let (pass, contexts) = match &mut intercepted {
            Some(one) => (one.pass.take(), &one.contexts[..]),
            None => (None, &[][..]),
        };
        let contexts: Vec<_> = contexts.iter().map(|(id, data)| (*id, &data[..])).collect();
        let mut call = self.call(memory, ServiceContexts::new(&contexts));
        let made = make(&mut call);
        let made = match pass {
            Some(pass) => call.end_pass(pass, made),
            None => made,
        };
        match made {
            Ok(_) if call.is_owed_an_answer() => {
                let nothing = no_response("the servant has answered nothing");
                let reply = call.fail(&nothing.clone().into());
                (reply, Err(AnswerError::Instead(nothing)))
            }
            Ok(_) => {
                let is_made = call.has_reply;
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

    /// The request once more, as far as its reply needs it.
    fn call<'c>(&'c self, reply: &'c mut Block, contexts: ServiceContexts<'c>) -> ServerCall<'c> {
        let conversation = self.connection.conversation();
        let coding = Coding {
            code_sets: self.code_sets,
            ..conversation.coding(self.version)
        };
        ServerCall {
            conversation,
            sender: &Nobody,
            operation: &self.operation,
            request_id: self.request_id,
            version: self.version,
            response: self.response,
            contexts,
            reply_contexts: self.reply_contexts.clone(),
            arguments: Decoder::new(&[], ByteOrder::NATIVE, coding),
            message: None,
            arrival: None,
            reply,
            has_reply: false,
            answered: false,
            pass: None,
        }
    }
}

impl Drop for PendingReply {
    fn drop(&mut self) {
        if !self.is_answered {
            let exception = match std::thread::panicking() {
                true => panicked(),
                false => no_response("the servant has let go of the request without an answer"),
            };
            let peer = self.connection.conversation().peer();
            tracing::debug!(%peer, "`{}` is answered with {exception}", self.operation);
            // Whether it is heard is nobody's concern any more.
            let _ = self.make(|_| Err(exception.into()));
        }
        let broker = self.connection.conversation().broker();
        let pending = self.connection.pending();
        pending.remove(broker, self.request_id, &self.awaited);
        self.connection.ends_request();
    }
}

impl fmt::Debug for PendingReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingReply")
            .field("operation", &self.operation)
            .field("request_id", &self.request_id)
            .field("is_awaited", &self.is_awaited())
            .finish_non_exhaustive()
    }
}

/// Why an answer has not reached the client as it was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The connection has ended: nothing was sent.
    #[error("nobody waits for the answer: the client's connection has ended")]
    NobodyWaits,
    /// The client was told this instead.
    #[error("the client was told instead: {0}")]
    Instead(SystemException),
}

impl From<AnswerError> for SystemException {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Instead(exception) => exception,
            AnswerError::NobodyWaits => Kind::CommFailure.because(error.to_string()),
        }
    }
}

/// Sends nothing early: the upcall is over.
struct Nobody;

impl SendsEarly for Nobody {
    fn send_early(&self, _: &Block) {}

    fn answers_later(&self) -> Option<Arc<dyn AnswersLater>> {
        None
    }
}

/// As TAO's AMH has it for a response handler that is destroyed without having been called.
fn no_response(why: &str) -> SystemException {
    let kind = Kind::NoResponse;
    SystemException::new(kind, minor::NOT_ANSWERED, CompletionStatus::Maybe).with_detail(why)
}

fn panicked() -> SystemException {
    let kind = Kind::Unknown;
    SystemException::new(kind, minor::SERVANT_PANICKED, CompletionStatus::Maybe)
        .with_detail("the servant panicked before it had answered")
}

/// The connection is gone while one of its requests is served: that is not to happen.
#[cold]
fn gone() -> DispatchError {
    let kind = Kind::Internal;
    SystemException::new(kind, minor::BROKEN_INVARIANT, CompletionStatus::No)
        .with_detail("the request cannot be answered later: its upcall is over")
        .into()
}

#[cold]
fn refused(too_many: TooMany) -> DispatchError {
    let why = match too_many {
        TooMany::OfConnection(limit) => format!(
            "{limit} requests of this connection wait for their answers (limits.pending_replies_per_connection)"
        ),
        TooMany::OfOrb(limit) => {
            format!("{limit} requests wait for their answers (limits.pending_replies)")
        }
    };
    SystemException::new(Kind::Transient, minor::DISCARDED, CompletionStatus::No)
        .with_detail(why)
        .into()
}
