//! From a message to what answers it (CORBA 3.3 part 2, §9.4).

use super::adapter::ObjectAdapter;
use super::call::{Answer, SendsEarly, ServerCall};
use super::connection::ServerConnection;
use super::conversation::Conversation;
use super::locate::locate_reply;
use super::panics::panicked;
use super::refusal::Refusal;
use super::seen::Seen;
use crate::adapter::{DispatchError, Location};
use crate::exception::{
    CompletionStatus, SystemException, SystemExceptionKind as Kind, cdr_exception,
    code_set_exception, minor,
};
use crate::invocation_policies::is_late_by;
use crate::lane::ClientConnection;
use crate::messaging::{FrameArrival, Head, Message};
use crate::priorities::BIND_PRIORITY_BAND;
use crate::probe::{self, Point};
use crate::timeline;
use crate::upcall::Serving;
use punctual_cdr::{Block, CdrError, CodeSets, Decoder, GiopVersion};
use punctual_exec::Quoted;
use punctual_giop::code_sets::CodeSetContext;
use punctual_giop::sequenced::Arrival;
use punctual_giop::service_context::RT_CORBA_PRIORITY_RANGE;
use punctual_giop::{MessageKind, PlainRequest, RequestHeader, Target, code_sets, service_context};
use std::borrow::Cow;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Serves the requests of one connection, for as long as a thread has it.
pub(super) struct Dispatcher<'s> {
    pub(super) connection: &'s ServerConnection,
    pub(super) serving: &'s Serving,
    /// Why requests are not served, if they are not.
    pub(super) refuses: Option<Refusal>,
    /// Whether its request was counted as in progress when it came.
    pub(super) has_begun: bool,
    /// What a timeline has of that already.
    pub(super) seen: Option<Seen>,
}

impl Dispatcher<'_> {
    #[inline]
    fn conversation(&self) -> &Conversation {
        &self.connection.conversation
    }

    /// Who a call is received from, and who answers it early.
    #[inline]
    fn parties(&self) -> (&Conversation, &dyn SendsEarly) {
        (self.conversation(), self.connection)
    }

    /// Does what a message asks for.
    pub(super) fn handle(&self, message: Message) {
        probe::begins!(Point::ServerMessagingReceive);
        let handled = match message.header.kind {
            MessageKind::Request if message.batch => self.batch(&message),
            MessageKind::Request => self.request(&message),
            MessageKind::LocateRequest => self.locate_request(&message),
            MessageKind::CancelRequest => self.cancel(&message),
            MessageKind::CloseConnection => {
                self.conversation().close();
                Ok(())
            }
            MessageKind::MessageError => {
                self.conversation()
                    .complain("the peer says that a message of ours was malformed; closed");
                self.conversation().close();
                Ok(())
            }
            kind => {
                let is_reply = matches!(kind, MessageKind::Reply | MessageKind::LocateReply);
                if is_reply && let Some(calls) = self.calls_back() {
                    calls.take_reply(message);
                    return;
                }
                self.connection
                    .refuse(&format!("a {kind} came, which is a server's to send"));
                Ok(())
            }
        };
        if let Err(error) = handled {
            let kind = message.header.kind;
            self.connection
                .refuse(&format!("the header of a {kind} does not decode: {error}"));
        }
    }

    /// The calls to the client that wait for their replies here.
    fn calls_back(&self) -> Option<Arc<ClientConnection>> {
        self.connection.back.as_ref()?.existing()
    }

    /// The client may have told where it listens (CORBA 3.3 part 2, §9.8.1).
    fn hear_listen_points(&self, header: &RequestHeader<'_>) -> Result<(), CdrError> {
        let told = header.contexts.find(service_context::BI_DIR_IIOP);
        match (&self.connection.back, told) {
            (Some(back), Some(data)) => back.is_told(data),
            _ => Ok(()),
        }
    }

    /// Whether a request may reach this object, by a connection that this side has opened.
    fn may_be_called(&self, key: &[u8]) -> bool {
        !self.connection.is_of_client
            || self
                .connection
                .adapter
                .get()
                .is_some_and(|adapter| adapter.is_bidirectional(key))
    }

    /// Does what a plain request asks for, which was received into `block`.
    #[inline]
    pub(super) fn serve_plain(&self, block: &Block, request: &PlainRequest<'_>, spare: &mut Block) {
        if timeline::is_recording() {
            return self.serve_seen(block, request, spare);
        }
        self.serve_plain_as(block, request, spare, None);
    }

    /// The same of a request that a timeline has.
    #[cold]
    #[inline(never)]
    fn serve_seen(&self, block: &Block, request: &PlainRequest<'_>, spare: &mut Block) {
        let seen = Seen::read(self.connection, request.request_id);
        self.serve_plain_as(block, request, spare, Some(seen));
    }

    // Twice the same: what tells a timeline costs nothing where none is being recorded.
    #[inline(always)]
    fn serve_plain_as(
        &self,
        block: &Block,
        request: &PlainRequest<'_>,
        spare: &mut Block,
        seen: Option<Seen>,
    ) {
        probe::begins!(Point::ServerMessagingReceive);
        // CloseConnection tells the client of one that was not begun.
        let Some(_in_progress) = self.connection.begin() else {
            return;
        };
        let coding = self.conversation().coding(GiopVersion::V1_2);
        let body = Decoder::at(block, request.body, request.order, coding);
        let call = ServerCall::of_plain(self.parties(), request, body, spare);
        // As a rule it owns nothing that is to be dropped, which is told by less than its end would take.
        let mut call = ManuallyDrop::new(call);
        let answer = self.answer(request.object_key, &mut call, seen);
        self.conclude(&call, answer, seen);
        if call.owns_memory() {
            drop_rarely(call);
        }
        // The memory of what has been sent is used again.
        spare.reuse();
    }

    /// A request. The error is a header that does not decode, so that nobody can be answered.
    fn request(&self, message: &Message) -> Result<(), CdrError> {
        let mut decoder = self.decoder(message);
        match self
            .conversation()
            .session
            .get_head(MessageKind::Request, &mut decoder)?
        {
            Head::Request(header, arrival) => {
                self.serve_request(message, (&header, arrival), decoder)
            }
            _ => Err(CdrError::Invalid("the head is not a request's")),
        }
    }

    /// Several one-way requests in one message, served in their order.
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
        mut decoder: Decoder<'_>,
    ) -> Result<(), CdrError> {
        if let Some(arrival) = &arrival
            && matches!(arrival.arrival, Arrival::Duplicate | Arrival::Stray)
        {
            tracing::debug!(peer = %self.conversation().peer(), ?arrival, "the frame is dropped");
            return Ok(());
        }
        let version = message.header.version;
        let _in_progress = match self.has_begun {
            true => None,
            false => match self.connection.begin() {
                Some(in_progress) => Some(in_progress),
                // CloseConnection tells the client that this one was not begun.
                None => return Ok(()),
            },
        };
        self.hear_listen_points(header)?;
        let read = || Seen::read(self.connection, header.request_id);
        let seen = self.seen.or_else(|| timeline::is_recording().then(read));
        let code_sets = self.agreed_code_sets(version, header);
        decoder.set_code_sets(*code_sets.as_ref().unwrap_or(&CodeSets::UNNEGOTIATED));
        let mut reply = Block::default();
        let mut call = ServerCall::new(
            self.parties(),
            header,
            version,
            (decoder, message),
            arrival,
            &mut reply,
        );
        let key = code_sets.and_then(|_| self.object_key(&header.target));
        let answer = match (comes_too_late(&call), key) {
            (Some(late), _) => late,
            (None, Ok(key)) if !self.may_be_called(&key) => {
                Answer::Failed(not_bidirectional().into())
            }
            (None, Ok(key)) => self.answer(&key, &mut call, seen),
            (None, Err(exception)) => Answer::Failed(exception.into()),
        };
        self.conclude(&call, answer, seen);
        Ok(())
    }

    /// Sends what a call was answered with, if anybody waits for that.
    #[inline(always)]
    fn conclude(&self, call: &ServerCall<'_>, answer: Answer, seen: Option<Seen>) {
        self.send_answer(call, answer);
        if let Some(seen) = seen {
            seen.is_answered();
        }
    }

    #[inline(always)]
    fn send_answer(&self, call: &ServerCall<'_>, answer: Answer) {
        match answer {
            Answer::Given => match call.reply_made() {
                Some(reply) => self.connection.answer_with(reply),
                None => self.has_no_reply(call),
            },
            Answer::Failed(error) => self.fail(call, &error),
        }
    }

    /// A one-way, as a rule.
    #[inline(never)]
    fn has_no_reply(&self, call: &ServerCall<'_>) {
        if call.is_owed_an_answer() {
            self.fail(call, &unanswered());
        }
    }

    #[cold]
    fn fail(&self, call: &ServerCall<'_>, error: &DispatchError) {
        if let DispatchError::System(exception) = error {
            self.note(call.operation(), exception);
        }
        if let Some(reply) = call.fail(error) {
            self.connection.send(&reply);
        }
    }

    /// Logs what a request was answered with instead of a result: a line where the peer is at fault,
    /// for debugging where it may be the servant's way to say no.
    fn note(&self, operation: &str, exception: &SystemException) {
        let operation = Quoted(operation);
        match exception.kind() {
            Kind::Marshal
            | Kind::BadOperation
            | Kind::ObjectNotExist
            | Kind::CodesetIncompatible
            | Kind::DataConversion => {
                self.conversation()
                    .complain(&format!("`{operation}` is answered with {exception}"));
            }
            _ => {
                tracing::debug!(peer = %self.conversation().peer(), "`{operation}` is answered with {exception}")
            }
        }
    }

    #[inline(always)]
    fn answer(&self, key: &[u8], call: &mut ServerCall<'_>, seen: Option<Seen>) -> Answer {
        let Some(adapter) = self.connection.adapter.get() else {
            return nobody_knows();
        };
        if let Some(refusal) = self.refuses {
            return self.refused(refusal);
        }
        if call.operation.len() == BIND_PRIORITY_BAND.len()
            && let Some(answer) = self.bind_band(call)
        {
            return answer;
        }
        let upcall = self.serving.upcall(call.arrival());
        let around = seen.map(|seen| (seen, seen.begins_upcall(self.connection)));
        let dispatched = catch_unwind(AssertUnwindSafe(|| adapter.dispatch(key, call)));
        if let Some((seen, before)) = around {
            seen.ends_upcall(before);
        }
        drop(upcall);
        match dispatched {
            Ok(Ok(_)) => Answer::Given,
            Ok(Err(error)) => Answer::Failed(error),
            Err(payload) => {
                let exception = panicked(self.conversation().peer(), call.operation(), &*payload);
                Answer::Failed(exception.into())
            }
        }
    }

    #[cold]
    fn refused(&self, refusal: Refusal) -> Answer {
        self.connection.lane().counters.has_refused();
        Answer::Failed(refusal.exception().into())
    }

    /// The answer to `_bind_priority_band`, in an ORB with Real-time CORBA; `None` of another operation. In other ORBs
    /// servants do not know it.
    #[cold]
    fn bind_band(&self, call: &mut ServerCall<'_>) -> Option<Answer> {
        if call.operation != BIND_PRIORITY_BAND {
            return None;
        }
        let priorities = self.conversation().broker().priorities.as_ref()?;
        let range = call.contexts().find(RT_CORBA_PRIORITY_RANGE);
        Some(match priorities.band(range) {
            Ok(band) => match call.reply(|_| Ok(())) {
                Ok(_) => {
                    self.connection.has_band(*band.start());
                    Answer::Given
                }
                Err(error) => Answer::Failed(error),
            },
            Err(exception) => Answer::Failed(exception.into()),
        })
    }

    /// Where an object is. An adapter may have to ask the application, whose panics are not the peer's matter.
    fn locate(&self, adapter: &dyn ObjectAdapter, key: &[u8]) -> Location {
        let located = catch_unwind(AssertUnwindSafe(|| adapter.locate(key)));
        located.unwrap_or_else(|_| {
            tracing::error!(peer = %self.conversation().peer(), "what the object adapter asked where an object is panicked");
            Location::Unknown
        })
    }

    /// Requests are served as they come: there is nothing to stop but what is answered later, whose servant may ask
    /// whether anybody waits.
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

    fn locate_request(&self, message: &Message) -> Result<(), CdrError> {
        let version = message.header.version;
        let mut decoder = self.decoder(message);
        let head = self
            .conversation()
            .session
            .get_head(MessageKind::LocateRequest, &mut decoder)?;
        let Head::LocateRequest(header) = head else {
            return Err(CdrError::Invalid("the head is not a locate request's"));
        };
        let Some(_in_progress) = self.connection.begin() else {
            return Ok(());
        };
        let location = match (
            self.object_key(&header.target),
            self.connection.adapter.get(),
        ) {
            (Ok(key), Some(adapter)) if self.may_be_called(&key) => self.locate(&**adapter, &key),
            _ => Location::Unknown,
        };
        self.connection.send(&locate_reply(
            self.conversation(),
            header.request_id,
            version,
            &location,
        )?);
        Ok(())
    }

    fn decoder<'m>(&'m self, message: &'m Message) -> Decoder<'m> {
        message.decoder(self.conversation().coding(message.header.version))
    }

    /// The code sets of this request: its connection's, which its first request's context names.
    fn agreed_code_sets(
        &self,
        version: GiopVersion,
        header: &RequestHeader<'_>,
    ) -> Result<CodeSets, SystemException> {
        if !self.conversation().abilities.contexts {
            return Ok(CodeSets::NATIVE);
        }
        if version == GiopVersion::V1_0 {
            return Ok(CodeSets::UNNEGOTIATED);
        }
        if let Some(context) = header.contexts.find(service_context::CODE_SETS) {
            let context = CodeSetContext::decode(context)
                .map_err(|error| cdr_exception(error, CompletionStatus::No))?;
            self.conversation()
                .set_code_sets(code_sets::from_context(context).map_err(code_set_exception)?);
        }
        Ok(self.conversation().code_sets())
    }

    /// The object key that a request means, however it says it (§9.4.2.3).
    fn object_key<'m>(&self, target: &Target<'m>) -> Result<Cow<'m, [u8]>, SystemException> {
        match target {
            Target::ObjectKey(key) => Ok(Cow::Borrowed(key)),
            Target::Profile { tag, data } => self.key_of_profile(*tag, data).map(Cow::Owned),
            Target::Reference { selected, ior } => {
                let profile = ior.profiles.get(*selected as usize).ok_or_else(no_object)?;
                self.key_of_profile(profile.tag, &profile.data)
                    .map(Cow::Owned)
            }
        }
    }

    fn key_of_profile(&self, tag: u32, data: &[u8]) -> Result<Vec<u8>, SystemException> {
        let registry = self.conversation().broker().protocols.now();
        let codec = registry.codec(tag).ok_or_else(no_object)?;
        codec
            .decode(data)
            .map(|profile| profile.object_key)
            .map_err(|_| no_object())
    }
}

#[cold]
#[inline(never)]
fn drop_rarely(call: ManuallyDrop<ServerCall<'_>>) {
    drop(ManuallyDrop::into_inner(call));
}

#[cold]
fn not_bidirectional() -> SystemException {
    let (kind, minor) = (Kind::NoPermission, minor::NOT_BIDIRECTIONAL);
    SystemException::new(kind, minor, CompletionStatus::No).with_detail(
        "the object's POA does not allow calls by a connection of the client's (the policy Bidirectional)",
    )
}

#[cold]
fn nobody_knows() -> Answer {
    Answer::Failed(no_object().into())
}

fn no_object() -> SystemException {
    SystemException::new(
        Kind::ObjectNotExist,
        minor::NO_ADAPTER,
        CompletionStatus::No,
    )
    .with_detail("no object adapter knows this object key")
}

/// A servant of one's own that says it has answered, with the proof of another call.
#[cold]
fn unanswered() -> DispatchError {
    SystemException::new(
        Kind::Internal,
        minor::BROKEN_INVARIANT,
        CompletionStatus::Maybe,
    )
    .with_detail("the servant has answered nothing")
    .into()
}

/// What a request is answered with that says until when it may be delivered, and is delivered later.
fn comes_too_late(call: &ServerCall<'_>) -> Option<Answer> {
    let data = call.contexts.find(service_context::INVOCATION_POLICIES)?;
    let late = match is_late_by(data) {
        Ok(late) => late?,
        Err(error) => {
            let exception = cdr_exception(error, CompletionStatus::No);
            let exception = exception.in_context("reading the caller's policies");
            return Some(Answer::Failed(exception.into()));
        }
    };
    let late = format!("the request came {late:?} after its RequestEndTime");
    let exception =
        SystemException::new(Kind::Timeout, minor::CALL_TIMED_OUT, CompletionStatus::No);
    Some(Answer::Failed(exception.with_detail(late).into()))
}
