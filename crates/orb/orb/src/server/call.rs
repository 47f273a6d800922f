//! View of a call for the skeleton, and the reply that it makes.

use super::conversation::Conversation;
use super::kept_reply::Keeper;
use super::panics::panicked;
use super::peer_connection::PeerConnection;
use super::pending::PendingReplySender;
use crate::adapter::DispatchError;
use crate::budget::{FREE, Hold, NoRoom};
use crate::exception::{
    CompletionStatus, SystemException, SystemExceptionKind as Kind, UserException, cdr_exception,
    minor,
};
use crate::fixed_context::{ContextWord, ObeyedWord, ReplyContexts, RunsAt, WORD};
use crate::interceptor::ServerPass;
use crate::messaging::{FrameArrival, Message};
use crate::priority::Priority;
use crate::probe::{self, Point};
use crate::timeline;
use crate::upcall::record_reply_made;
use punctual_cdr::{Block, CdrError, Decoder, Encoder, Environment, GiopVersion, Lent};
use punctual_exec::Quoted;
use punctual_giop::{PlainRequest, ReplyStatus, RequestHeader, ResponseFlags, ServiceContexts};
use punctual_link::Loan;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Received request for a skeleton to answer.
pub struct ServerCall<'m> {
    pub(super) conversation: &'m Conversation,
    /// Sender of replies that are sent before or after the upcall.
    pub(super) sender: &'m dyn EarlyReplySender,
    pub(super) operation: &'m str,
    pub(super) request_id: u32,
    pub(super) version: GiopVersion,
    pub(super) response: ResponseFlags,
    pub(super) contexts: ServiceContexts<'m>,
    pub(super) reply_contexts: ReplyContexts,
    pub(super) arguments: Decoder<'m>,
    /// Message that contains the request; `None` for a plain request, which is short and contains
    /// no lent memory.
    pub(super) message: Option<&'m Message>,
    pub(super) arrival: Option<FrameArrival>,
    /// Block that holds the reply, or memory for it; owned by the serving thread.
    pub(super) reply: &'m mut Block,
    pub(super) made: MadeReply,
    /// True if the early reply of SYNC_WITH_SERVER has been made, or another object has taken over
    /// the reply.
    pub(super) answered: bool,
    /// Interceptors' state for this request, if the ORB has interceptors.
    pub(super) pass: Option<Box<ServerPass>>,
    /// Keeper of the reply, while the request is dispatched.
    pub(super) keeper: Option<Keeper>,
}

/// Reply that has been encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MadeReply {
    None,
    /// Answer of this status, with the service contexts of [`ServerCall::reply_contexts`].
    Answer(ReplyStatus),
    /// Reply of another server, which was passed back with its service contexts.
    PassedBack,
}

/// Sender of replies that are sent before their upcall (SYNC_WITH_SERVER) or after it has returned.
pub(super) trait EarlyReplySender: Sync {
    fn send_early(&self, reply: &Block);

    /// Returns the sender of replies made after the upcall; `None` if the connection no longer
    /// exists.
    fn answers_later(&self) -> Option<Arc<dyn PendingReplySender>>;

    /// Charges a long reply to the budget, until it has been sent and freed
    /// ([`crate::budget::Received::charge_closable`]).
    fn charge_reply(&self, octets: usize) -> (Hold, Result<(), NoRoom>);
}

/// Token that proves that a call was answered, by [`ServerCall::reply`] or [`ServerCall::raise`].
#[derive(Debug)]
pub struct Dispatched(pub(super) ());

/// Result of an upcall: a reply was given, or the call failed.
pub(super) enum Answer {
    Given,
    Failed(DispatchError),
}

impl<'m> ServerCall<'m> {
    pub(super) fn new(
        (conversation, sender): (&'m Conversation, &'m dyn EarlyReplySender),
        header: &RequestHeader<'m>,
        version: GiopVersion,
        (arguments, message): (Decoder<'m>, &'m Message),
        arrival: Option<FrameArrival>,
        reply: &'m mut Block,
    ) -> Self {
        Self {
            conversation,
            sender,
            operation: header.operation,
            request_id: header.request_id,
            version,
            response: if conversation.abilities.two_way {
                header.response
            } else {
                ResponseFlags::NONE
            },
            contexts: header.contexts,
            reply_contexts: ReplyContexts::None,
            arguments,
            message: Some(message),
            arrival,
            reply,
            made: MadeReply::None,
            answered: false,
            pass: None,
            keeper: None,
        }
    }

    #[inline]
    pub(super) fn of_plain(
        (conversation, sender): (&'m Conversation, &'m dyn EarlyReplySender),
        request: &PlainRequest<'m>,
        arguments: Decoder<'m>,
        reply: &'m mut Block,
    ) -> Self {
        Self {
            conversation,
            sender,
            operation: request.operation,
            request_id: request.request_id,
            version: GiopVersion::V1_2,
            // Datagrams have GIOP headers, but no replies.
            response: if conversation.abilities.two_way {
                request.response
            } else {
                ResponseFlags::NONE
            },
            contexts: request.contexts(),
            reply_contexts: ReplyContexts::None,
            arguments,
            message: None,
            arrival: None,
            reply,
            made: MadeReply::None,
            answered: false,
            pass: None,
            keeper: None,
        }
    }

    /// Returns the shared memory that the sender has lent with the message.
    pub(super) fn lent(&self) -> &'m [Lent] {
        match self.message {
            Some(message) if !message.batch => message.block.lent(),
            _ => &[],
        }
    }

    /// Returns the operation's name as sent in the request.
    #[must_use]
    pub fn operation(&self) -> &'m str {
        self.operation
    }

    /// Returns the decoder of the arguments, in declaration order. Borrowed values live as long as
    /// the request.
    pub fn arguments(&mut self) -> &mut Decoder<'m> {
        probe::begins!(Point::ServerDemarshal);
        &mut self.arguments
    }

    /// Returns the environment that decoded values need: the ORB that received the request.
    #[inline]
    pub(crate) fn environment(&self) -> &'m dyn Environment {
        self.conversation.environment()
    }

    /// Returns a handle by which the servant can see later whether the client's connection still exists.
    #[must_use]
    pub fn peer_connection(&self) -> PeerConnection {
        self.conversation.peer_connection()
    }

    /// Returns the service contexts of the request.
    #[must_use]
    pub fn contexts(&self) -> ServiceContexts<'m> {
        self.contexts
    }

    /// Adds a service context to the reply, whatever its status; replaces a context with this id.
    /// To be called before the reply is made. Protocols without service contexts send none.
    #[inline]
    pub fn set_reply_context(&mut self, id: u32, data: &[u8]) {
        if self.conversation.abilities.contexts {
            self.reply_contexts.set(id, data);
        }
    }

    /// Gives the calling thread the scheduling that a word of the request demands, and adds the word to the reply, if
    /// the thread's last request for this scheduler carried an equal word and the thread's scheduling has not changed
    /// since. Returns the thread's previous scheduling.
    // Not inlined: in another crate, thread-local state would be accessed by a call through a
    // pointer.
    #[inline(never)]
    pub(crate) fn obey_again(&mut self, by: ObeyedWord) -> Option<RunsAt> {
        let data: [u8; WORD] = self.contexts.short(by.context)?;
        if timeline::is_recording() || !self.reply_contexts.is_none() {
            return None;
        }
        let (before, priority) = RunsAt::obey_again(by, data)?;
        // The request has a service context, so the protocol allows one in the reply.
        let id = by.context;
        self.reply_contexts = ReplyContexts::Word(ContextWord { id, data });
        self.count_at(priority);
        Some(before)
    }

    /// Counts the request among those that its lane has served at this CORBA priority
    /// ([`crate::LaneStatistics::by_priority`]). To be called by the code that sets the upcall's
    /// priority. Takes no lock, and allocates only for the first such request of a lane.
    #[inline]
    pub fn count_at(&self, priority: Priority) {
        self.conversation.counters().record_served_at(priority);
    }

    /// Returns a buffer of `length` bytes to fill and to pass as a result. If memory is shared with
    /// the client, the bytes are sent without a copy; otherwise the buffer is ordinary memory.
    #[must_use]
    pub fn loan(&self, length: usize) -> Loan {
        let lent = self.conversation.link().loan(length);
        lent.unwrap_or_else(|| Loan::from_heap(length))
    }

    /// Returns the arrival data of the request, in a messaging protocol that numbers its frames.
    #[must_use]
    pub fn arrival(&self) -> Option<FrameArrival> {
        self.arrival
    }

    /// Returns `true` if the client waits for a reply.
    #[must_use]
    pub fn expects_reply(&self) -> bool {
        self.response.response_expected()
    }

    /// Has each of several objects serve the request, one after the other, with arguments from the beginning: a one-way
    /// to a group. Exceptions and panics of one object do not reach the others; they are logged at debug level, panics as
    /// errors.
    pub fn serve_each<T>(
        &mut self,
        objects: impl IntoIterator<Item = T>,
        mut serve: impl FnMut(&mut Self, T) -> Result<Dispatched, DispatchError>,
    ) -> Dispatched {
        let begin = self.arguments.clone();
        for object in objects {
            self.arguments = begin.clone();
            self.reply_contexts = ReplyContexts::None;
            self.answered = false;
            let served = catch_unwind(AssertUnwindSafe(|| serve(self, object)));
            let failure = match served {
                Ok(Ok(Dispatched(()))) => continue,
                Ok(Err(DispatchError::System(exception))) => exception.to_string(),
                Ok(Err(_)) => "a forward, which a group's member cannot answer with".to_owned(),
                Err(payload) => {
                    let peer = self.conversation.peer();
                    panicked(peer, self.operation, &*payload).to_string()
                }
            };
            let (peer, operation) = (self.conversation.peer(), Quoted(self.operation));
            tracing::debug!(%peer, "`{operation}` ends with {failure} at an object of the group");
        }
        Dispatched(())
    }

    /// Answers with the results that `results` marshals; a one-way sends nothing.
    ///
    /// # Errors
    /// The exception for the caller if the results cannot be marshaled. Its completion status is
    /// COMPLETED_YES.
    pub fn reply(
        &mut self,
        results: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Result<Dispatched, DispatchError> {
        self.answer(ReplyStatus::NoException, results)
    }

    /// Answers with a user exception.
    ///
    /// # Errors
    /// The exception for the caller if it cannot be marshaled.
    pub fn raise<E: UserException>(&mut self, exception: &E) -> Result<Dispatched, DispatchError> {
        self.raise_as(E::REPOSITORY_ID, |out| exception.marshal(out))
    }

    /// Answers with a user exception whose repository id is known only at run time, and whose
    /// members are marshaled by `members`.
    ///
    /// # Errors
    /// The exception for the caller if it cannot be marshaled.
    pub fn raise_as(
        &mut self,
        repository_id: &str,
        members: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Result<Dispatched, DispatchError> {
        self.answer(ReplyStatus::UserException, |out| {
            out.put_string(repository_id)?;
            members(out)
        })
    }

    /// Returns the error for an operation that the object does not have.
    #[must_use]
    pub fn bad_operation(&self) -> DispatchError {
        SystemException::new(
            Kind::BadOperation,
            minor::NO_SUCH_OPERATION,
            CompletionStatus::No,
        )
        .with_detail(format!(
            "the object has no operation `{}`",
            Quoted(self.operation)
        ))
        .into()
    }

    pub(super) fn answer(
        &mut self,
        status: ReplyStatus,
        write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Result<Dispatched, DispatchError> {
        probe::begins!(Point::ServerMessagingSend);
        if !self.expects_reply() || self.answered {
            return Ok(Dispatched(()));
        }
        if self.has_reply() {
            self.forget_answer();
        }
        if self.reply.capacity() == 0 {
            *self.reply = self.conversation.link().lend(0);
        }
        let written = match self.begin_reply(status) {
            Some(template) => self.complete_reply(template, write),
            None => self.encode_reply(status, write),
        };
        let length = written.map_err(marshaling_failed)?;
        if length > self.conversation.long_reply {
            self.charge_long_reply(length)?;
        }
        self.made = MadeReply::Answer(status);
        Ok(Dispatched(()))
    }

    /// Checks that a long reply does not exceed its limit, and charges it to the budget. Discards it
    /// otherwise.
    #[cold]
    #[inline(never)]
    pub(super) fn charge_long_reply(&mut self, length: usize) -> Result<(), DispatchError> {
        let limit = self.conversation.broker().limits().message;
        if length > limit {
            // A second answer replaces the first.
            *self.reply = Block::default();
            return Err(too_large(length, limit).into());
        }
        if length > FREE {
            record_reply_made(length);
            let (charge, granted) = self.sender.charge_reply(length);
            if let Err(full) = granted {
                // Freed before the charge is dropped.
                *self.reply = Block::default();
                return Err(no_room(length, full).into());
            }
            self.reply.attach_charge(Arc::new(charge));
        }
        let conversation = self.conversation;
        if conversation.fragmenting.applies_to_long(self.reply, length)
            || conversation.broker().tracer().is_on()
        {
            self.join_results();
        }
        Ok(())
    }

    /// Copies results that would be sent from the servant's memory into the reply, whose bytes are looked at. Those that the
    /// link lends stay where they are.
    #[cold]
    pub(super) fn join_results(&mut self) {
        if !self.conversation.lends {
            self.reply.join();
        }
    }

    /// Discards an earlier answer: of several answers the last one counts.
    #[cold]
    fn forget_answer(&mut self) {
        self.reply.clear();
        self.made = MadeReply::None;
    }

    /// Records that the servant has been found and is about to run. Sends the reply now if the
    /// client waits only for that (SYNC_WITH_SERVER). For object adapters.
    ///
    /// # Errors
    /// The exception for the client if the answer cannot be sent.
    #[inline]
    pub fn found(&mut self) -> Result<(), DispatchError> {
        if self.response == ResponseFlags::SYNC_WITH_SERVER {
            crate::cold::cold_path();
            return self.answer_before_upcall();
        }
        Ok(())
    }

    #[inline(never)]
    fn answer_before_upcall(&mut self) -> Result<(), DispatchError> {
        // A servant manager may have the request served twice.
        if self.version != GiopVersion::V1_2 || self.answered {
            return Ok(());
        }
        let reply = self.early_reply();
        let reply = reply.map_err(|error| cdr_exception(error, CompletionStatus::No))?;
        self.sender.send_early(&reply);
        Ok(())
    }

    /// Returns `true` if the call owns anything that must be dropped.
    #[inline]
    pub(super) fn owns_memory(&self) -> bool {
        self.pass.is_some() || self.reply_contexts.own_memory()
    }

    /// Returns `true` if a reply has been encoded.
    #[inline]
    pub(super) fn has_reply(&self) -> bool {
        self.made != MadeReply::None
    }

    /// Returns the encoded reply, if the client waits for one.
    #[inline]
    pub(super) fn reply_made(&self) -> Option<&Block> {
        self.has_reply().then_some(&*self.reply)
    }

    /// Returns `true` if the client wants a reply as soon as the servant has been found.
    pub(super) fn is_early(&self) -> bool {
        self.response == ResponseFlags::SYNC_WITH_SERVER
    }

    /// Returns what the operating system or TLS says about the client: the certificate that it has proved to own, or the
    /// user of its process. Empty if they say nothing, as for TCP. Computed once for a connection.
    #[must_use]
    pub fn peer_identity(&self) -> &'m Arc<[u8]> {
        self.conversation.peer_identity()
    }

    /// Returns `true` if the client waits for a reply and none has been made.
    #[inline]
    pub(super) fn is_owed_an_answer(&self) -> bool {
        !self.has_reply() && !self.answered && self.expects_reply()
    }
}

impl fmt::Debug for ServerCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerCall")
            .field("operation", &self.operation)
            .field("request_id", &self.request_id)
            .finish_non_exhaustive()
    }
}

#[cold]
fn marshaling_failed(error: CdrError) -> DispatchError {
    let exception = cdr_exception(error, CompletionStatus::Yes);
    exception.in_context("marshaling the results").into()
}

#[cold]
fn no_room(length: usize, full: NoRoom) -> SystemException {
    let (kind, minor) = (Kind::NoResources, minor::NO_ROOM_FOR_RESULTS);
    SystemException::new(kind, minor, CompletionStatus::Yes)
        .with_detail(format!("no room for a reply of {length} octets: {full}"))
}

#[cold]
fn too_large(length: usize, limit: usize) -> SystemException {
    SystemException::new(Kind::ImpLimit, minor::LIMIT, CompletionStatus::Yes).with_detail(format!(
        "the reply takes {length} octets, over the limit of {limit} (limits.message)"
    ))
}
