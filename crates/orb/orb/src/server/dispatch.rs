//! Dispatching of a message to the code that answers it (CORBA 3.3 part 2, §9.4).
//!
//! A request goes through these stages:
//!
//! 1. its header is read: by the fast path ([`Dispatcher::serve_plain`]) or by the session;
//! 2. it is counted as in progress, so that the connection does not close before it is answered;
//! 3. the header's contents are evaluated ([`head`]), and its object's key is found;
//! 4. the object adapter answers it ([`answer`]);
//! 5. the answer, or the exception instead, is sent ([`conclude`]).

mod answer;
mod conclude;
mod head;
mod locate;

use super::call::{Answer, EarlyReplySender, ServerCall};
use super::connection::ServerConnection;
use super::conversation::Conversation;
use super::recorded_request::RecordedRequest;
use super::refusal::Refusal;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::lane::ClientConnection;
use crate::messaging::{FrameArrival, Head, Message};
use crate::probe::{self, Point};
use crate::timeline;
use crate::upcall::Serving;
use punctual_cdr::{Block, CdrError, CodeSets, Decoder, GiopVersion};
use punctual_giop::sequenced::Arrival;
use punctual_giop::{MessageKind, PlainRequest, RequestHeader};
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// Dispatcher of one connection's requests, used by a thread while it serves the connection.
pub(super) struct Dispatcher<'s> {
    pub(super) connection: &'s ServerConnection,
    pub(super) serving: &'s Serving,
    /// Reason why the thread refuses requests, if it does.
    pub(super) refuses: Option<Refusal>,
    /// True if the dispatcher's request was counted as in progress when it arrived.
    pub(super) has_begun: bool,
    /// Record of the request in a timeline, if it has been recorded already.
    pub(super) seen: Option<RecordedRequest>,
}

impl Dispatcher<'_> {
    #[inline]
    fn conversation(&self) -> &Conversation {
        &self.connection.conversation
    }

    /// Returns the two sides of a call: the connection on which it was received, and the sender of
    /// early answers.
    #[inline]
    fn parties(&self) -> (&Conversation, &dyn EarlyReplySender) {
        (self.conversation(), self.connection)
    }

    /// Serves a plain request, which was received into `block`. The reply is encoded in `spare`.
    // Inlined in the loop of each strategy: a call saves and restores every register.
    #[inline(always)]
    pub(super) fn serve_plain(&self, block: &Block, request: &PlainRequest<'_>, spare: &mut Block) {
        if timeline::is_recording() {
            return self.serve_recorded(block, request, spare);
        }
        self.serve_plain_as(block, request, spare, None);
    }

    /// Serves a plain request of which a timeline is being recorded.
    #[cold]
    #[inline(never)]
    fn serve_recorded(&self, block: &Block, request: &PlainRequest<'_>, spare: &mut Block) {
        let seen = RecordedRequest::read(self.connection, request.request_id);
        self.serve_plain_as(block, request, spare, Some(seen));
    }

    // Inlined in both callers: without recording, the timeline costs nothing.
    #[inline(always)]
    fn serve_plain_as(
        &self,
        block: &Block,
        request: &PlainRequest<'_>,
        spare: &mut Block,
        seen: Option<RecordedRequest>,
    ) {
        probe::begins!(Point::ServerMessagingReceive);
        // CloseConnection tells the client that the request was not begun.
        let Some(_in_progress) = self.connection.begin() else {
            return;
        };
        let coding = self.conversation().coding(GiopVersion::V1_2);
        let octets = block.get(request.origin..).unwrap_or_default();
        let body = Decoder::at(octets, request.body, request.order, coding);
        let call = ServerCall::of_plain(self.parties(), request, body, spare);
        // Usually it owns nothing that must be dropped, and testing that costs less than dropping
        // it.
        let mut call = ManuallyDrop::new(call);
        let answer = self.answer(request.object_key, &mut call, seen);
        self.conclude(&call, answer, seen);
        if call.owns_memory() {
            drop_call(call);
        }
        // The memory of the reply sent before is reused.
        spare.reuse();
    }

    /// Handles a received GIOP message of any kind.
    pub(super) fn handle(&self, message: Message) {
        probe::begins!(Point::ServerMessagingReceive);
        let kind = message.header.kind;
        let handled = match kind {
            MessageKind::Request if message.batch => self.batch(&message),
            MessageKind::Request => self.request(&message),
            MessageKind::LocateRequest => self.locate_request(&message),
            MessageKind::CancelRequest => self.cancel(&message),
            MessageKind::CloseConnection => {
                self.conversation().close();
                Ok(())
            }
            MessageKind::MessageError => {
                let complaint = "the peer reports a malformed message; closed";
                self.conversation().complain(complaint);
                self.conversation().close();
                Ok(())
            }
            kind => {
                self.take_reply(kind, message);
                Ok(())
            }
        };
        if let Err(error) = handled {
            self.connection
                .refuse(&format!("the header of a {kind} does not decode: {error}"));
        }
    }

    /// Passes a reply to the caller that waits for it (a callback over this connection). Refuses
    /// messages that only servers may send.
    fn take_reply(&self, kind: MessageKind, message: Message) {
        let is_reply = matches!(kind, MessageKind::Reply | MessageKind::LocateReply);
        match self.calls_back().filter(|_| is_reply) {
            Some(calls) => calls.take_reply(message),
            None => self
                .connection
                .refuse(&format!("received a {kind}, which only servers may send")),
        }
    }

    /// Returns the client side of the connection, if calls to the client wait for replies on it.
    fn calls_back(&self) -> Option<Arc<ClientConnection>> {
        self.connection.back.as_ref()?.existing()
    }

    /// Serves one request. Fails if the header cannot be decoded, in which case no reply can be
    /// sent.
    fn request(&self, message: &Message) -> Result<(), CdrError> {
        let mut decoder = self.decoder(message);
        let session = &self.conversation().session;
        match session.get_head(MessageKind::Request, &mut decoder)? {
            Head::Request(header, arrival) => {
                self.serve_request(message, (&header, arrival), decoder)
            }
            _ => Err(CdrError::Invalid("the header is not a request's")),
        }
    }

    /// Serves the one-way requests in a message with several, in their order.
    fn batch(&self, message: &Message) -> Result<(), CdrError> {
        let mut decoder = self.decoder(message);
        let mut each = |header: RequestHeader<'_>, arrival, body: Decoder<'_>| {
            self.serve_request(message, (&header, arrival), body)
        };
        self.conversation()
            .session
            .get_batch(&mut decoder, &mut each)
    }

    fn serve_request(
        &self,
        message: &Message,
        (header, arrival): (&RequestHeader<'_>, Option<FrameArrival>),
        mut arguments: Decoder<'_>,
    ) -> Result<(), CdrError> {
        if let Some(arrival) = &arrival
            && matches!(arrival.arrival, Arrival::Duplicate | Arrival::Stray)
        {
            tracing::debug!(peer = %self.conversation().peer(), ?arrival, "the frame is dropped");
            return Ok(());
        }
        let in_progress = (!self.has_begun).then(|| self.connection.begin());
        if matches!(in_progress, Some(None)) {
            // CloseConnection tells the client that this request was not begun.
            return Ok(());
        }
        self.take_listen_points(header)?;
        let read = || RecordedRequest::read(self.connection, header.request_id);
        let seen = self.seen.or_else(|| timeline::is_recording().then(read));
        let version = message.header.version;
        let code_sets = self.agreed_code_sets(version, header);
        arguments.set_code_sets(*code_sets.as_ref().unwrap_or(&CodeSets::UNNEGOTIATED));
        let mut reply = Block::default();
        let arguments = (arguments, message);
        let parties = self.parties();
        let mut call = ServerCall::new(parties, header, version, arguments, arrival, &mut reply);
        let answer = match self.admit(header.contexts, code_sets, &header.target) {
            Ok(key) => self.answer(&key, &mut call, seen),
            Err(error) => Answer::Failed(error),
        };
        self.conclude(&call, answer, seen);
        Ok(())
    }

    /// Cancels a request that is answered after its upcall; its servant may ask whether the caller
    /// still waits. Other requests are served on arrival, so there is nothing to cancel.
    fn cancel(&self, message: &Message) -> Result<(), CdrError> {
        if self.connection.pending.is_empty() {
            return Ok(());
        }
        let mut decoder = self.decoder(message);
        let session = &self.conversation().session;
        if let Head::Cancel(cancel) = session.get_head(MessageKind::CancelRequest, &mut decoder)? {
            self.connection.pending.cancel(cancel.request_id);
        }
        Ok(())
    }

    fn decoder<'m>(&'m self, message: &'m Message) -> Decoder<'m> {
        message.decoder(self.conversation().coding(message.header.version))
    }
}

#[cold]
#[inline(never)]
fn drop_call(call: ManuallyDrop<ServerCall<'_>>) {
    drop(ManuallyDrop::into_inner(call));
}

/// Returns the exception for an object key that no object adapter knows.
#[cold]
fn no_object() -> SystemException {
    SystemException::new(
        Kind::ObjectNotExist,
        minor::NO_ADAPTER,
        CompletionStatus::No,
    )
    .with_detail("no object adapter knows this object key")
}
