//! The seam for messaging protocols: GIOP, GIOPlite and the frame-sequencing ESIOP stand behind it, and
//! so may a user's own (Schmidt et al. 2001, §3.3.1).
//!
//! A protocol says what it needs of a link; a pair that does not fit is refused when the ORB starts.
//! Each connection has a [`Session`] of its protocol, which lays out messages and reads them. What the
//! messages say (a request for an operation, a reply with a status) is the same for all, and is given
//! in the terms of GIOP.

use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder, GiopVersion, Limits};
use punctual_giop::sequenced::{self, Arrival, Statistics};
use punctual_giop::{
    CancelRequest, FrameError, LocateReplyHeader, LocateRequestHeader, MessageHeader, MessageKind,
    PlainRequest, PlainRequests, ReplyHeader, ReplyStatus, RequestHeader,
};
use punctual_link::{Framing, Guarantees};
use std::fmt::Debug;
use std::sync::Arc;
use std::time::SystemTime;

/// A messaging protocol.
pub trait Messaging: Send + Sync + Debug {
    /// Its name in the names of protocols, e.g. `giop_lite` in `giop_lite+uiop`.
    fn name(&self) -> &str;

    /// What it needs of a link.
    fn needs(&self) -> Needs;

    /// What can be said in it.
    fn abilities(&self) -> Abilities;

    /// The beginning of a conversation: one connection's, from either end.
    fn session(&self) -> Arc<dyn Session>;
}

/// What a messaging protocol needs of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// What was sent arrives, or the connection reports its end.
    pub reliable: bool,
    /// What was sent first arrives first.
    pub ordered: bool,
    /// A framing of this kind; `None` for any.
    pub framing: Option<Framing>,
    /// Messages of any length.
    pub any_length: bool,
}

impl Needs {
    /// What of it `given` lacks, in words.
    #[must_use]
    pub fn lacking(&self, given: Guarantees) -> Vec<&'static str> {
        let framing = self.framing.filter(|framing| *framing != given.framing);
        [
            (self.reliable && !given.reliable, "reliable delivery"),
            (self.ordered && !given.ordered, "order"),
            (framing == Some(Framing::Stream), "a stream of octets"),
            (framing == Some(Framing::Datagram), "datagrams"),
            (
                self.any_length && given.largest.is_some(),
                "messages of any length",
            ),
        ]
        .into_iter()
        .filter_map(|(lacks, what)| lacks.then_some(what))
        .collect()
    }
}

/// What can be said in a messaging protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Requests with replies, and questions where an object is.
    pub two_way: bool,
    /// Service contexts, and with them code sets that are negotiated. Without, text is UTF-8, wide text
    /// UTF-16.
    pub contexts: bool,
    /// Long messages in GIOP's fragments.
    pub fragments: bool,
    /// Several one-way requests in one message.
    pub batches: bool,
    /// An octet order of the sender's choice. Without, only machines alike understand each other.
    pub either_order: bool,
}

/// A message at the front of what was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What it is, in GIOP's terms: kind, version, byte order, whether fragments follow.
    pub header: MessageHeader,
    /// Octets in all.
    pub length: usize,
    /// Where alignment counts from.
    pub origin: usize,
    /// Where the message's head begins, behind the frame's own octets.
    pub head: usize,
    /// Whether it is several requests in one ([`Session::get_batch`]).
    pub batch: bool,
}

/// How a request arrived, in a protocol that numbers its frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameArrival {
    /// Which of the sender's streams it belongs to.
    pub stream: u32,
    /// Its number in that stream.
    pub sequence: u64,
    /// When it was sent, in nanoseconds since 1970 by the sender's clock.
    pub sent_at: u64,
    /// What it tells of those before it: whether some are missing, whether it comes late.
    pub arrival: Arrival,
    /// What has become of the stream so far.
    pub statistics: Statistics,
}

/// Octets that are no message of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadFrame(
    /// What is wrong with them, in words.
    pub Box<str>,
);

impl From<FrameError> for BadFrame {
    fn from(error: FrameError) -> Self {
        Self(error.to_string().into())
    }
}

impl From<sequenced::FrameError> for BadFrame {
    fn from(error: sequenced::FrameError) -> Self {
        Self(error.to_string().into())
    }
}

/// A one-way request that waits to be sent together with others.
#[derive(Debug)]
pub struct QueuedRequest {
    /// Its arguments, marshaled from a multiple of 8 on in the machine's order.
    pub body: Block,
    /// When it was made.
    pub queued_at: SystemTime,
}

/// What the octets at hand are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Examined {
    /// The beginning of a message: this many octets in all are needed to go on.
    Incomplete {
        /// Counted from the message's start.
        need: usize,
    },
    /// A whole message.
    Complete(Frame),
}

/// What a message says before its body.
#[derive(Clone, Debug)]
pub enum Head<'m> {
    /// A request, and what is known of its arrival in protocols that number their frames.
    Request(RequestHeader<'m>, Option<FrameArrival>),
    /// A reply.
    Reply(ReplyHeader<'m>),
    /// Nobody waits any more.
    Cancel(CancelRequest),
    /// Where is this object?
    LocateRequest(LocateRequestHeader<'m>),
    /// There.
    LocateReply(LocateReplyHeader),
}

/// What the head of a reply says, as far as its caller needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyHead {
    /// The request that it answers.
    pub request_id: u32,
    /// What it brings.
    pub status: ReplyStatus,
    /// Where its body begins, counted from where alignment does.
    pub body: usize,
}

/// A reply that fills its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnReply {
    /// What it brings: results or a user exception.
    pub status: ReplyStatus,
    /// Its byte order.
    pub order: ByteOrder,
    /// Where alignment counts from.
    pub origin: usize,
    /// Where its body begins, counted from there.
    pub body: usize,
}

/// Where things stand in a message that begins a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatableHead {
    /// Where alignment counts from.
    pub origin: usize,
    /// Where the request id stands, an `unsigned long` in the machine's order.
    pub request_id: usize,
    /// Where the message's size stands, another one.
    pub size: usize,
    /// How many octets ahead of what it counts.
    pub uncounted: usize,
}

/// One of several requests in a message, given to a function that is called for each.
pub type EachRequest<'f, 'm> =
    dyn FnMut(RequestHeader<'m>, Option<FrameArrival>, Decoder<'m>) -> Result<(), CdrError> + 'f;

/// One connection's conversation in a messaging protocol. Any number of threads use it.
pub trait Session: Send + Sync + Debug {
    /// Tells whether `octets` begin with a whole message. `available` counts them together with what is
    /// lent beside them ([`Block::full_len`]).
    ///
    /// # Errors
    /// [`BadFrame`] when they are no beginning of a message of this protocol.
    fn examine(
        &self,
        octets: &[u8],
        available: usize,
        limits: &Limits,
    ) -> Result<Examined, BadFrame>;

    /// Begins a message in an empty block.
    fn begin<'e>(
        &self,
        block: Block,
        kind: MessageKind,
        order: ByteOrder,
        coding: Coding<'e>,
    ) -> Encoder<'e>;

    /// Fills in what is known only when the message is complete: its size.
    ///
    /// # Errors
    /// [`CdrError::LengthOverLimit`] when it is too long for the protocol.
    fn finish(&self, block: &mut Block) -> Result<(), CdrError>;

    /// Writes what a message says before its body, alignment of the body excepted.
    ///
    /// # Errors
    /// What cannot be said in this protocol, or is too long.
    fn put_head(&self, out: &mut Encoder<'_>, head: &Head<'_>) -> Result<(), CdrError>;

    /// Reads what a message of this kind says before its body, and goes on to the body.
    ///
    /// # Errors
    /// What does not decode.
    fn get_head<'m>(
        &self,
        kind: MessageKind,
        input: &mut Decoder<'m>,
    ) -> Result<Head<'m>, CdrError>;

    /// Whether `received` is one whole message and nothing else: the reply to this request, of the usual
    /// kind, which can be told at a glance. `None` sends the reader to [`Session::examine`].
    #[inline]
    fn own_reply(&self, received: &[u8], request_id: u32) -> Option<OwnReply> {
        let _ = (received, request_id);
        None
    }

    /// What `received` asks for, if it is one whole message and nothing else: a request of the usual
    /// kind, which can be told at a glance. `None` sends the reader to [`Session::examine`].
    ///
    /// `requests` are those of the thread that asks.
    #[inline]
    fn plain_request<'m>(
        &self,
        requests: &'m mut PlainRequests,
        received: &'m [u8],
        limits: &Limits,
    ) -> Option<PlainRequest<'m>> {
        let _ = (requests, received, limits);
        None
    }

    /// The head of a reply, in the octets from where alignment counts, if it is of the usual kind: one
    /// that can be told at a glance. `None` sends the reader to [`Session::get_head`].
    #[inline]
    fn glance_at_reply(&self, header: &MessageHeader, octets: &[u8]) -> Option<ReplyHead> {
        let _ = (header, octets);
        None
    }

    /// The request that a reply or locate reply answers.
    fn reply_id(&self, header: &MessageHeader, input: &mut Decoder<'_>) -> Option<u32> {
        match self.get_head(header.kind, input).ok()? {
            Head::Reply(reply) => Some(reply.request_id),
            Head::LocateReply(reply) => Some(reply.request_id),
            _ => None,
        }
    }

    /// How a request's head without service contexts, written once, can be sent again and again with
    /// another id; `None` where heads must be written anew for each request.
    fn repeatable_head(&self, version: GiopVersion) -> Option<RepeatableHead> {
        let _ = version;
        None
    }

    /// Fills in what is known only as the message leaves. Called under the sending lock, in the order in
    /// which messages leave; not for batches.
    fn stamp(&self, message: &mut Block) {
        let _ = message;
    }

    /// A message of several one-way requests to one operation of one object (Schmidt et al. 2001, figure 6), in an
    /// empty block.
    ///
    /// # Errors
    /// [`CdrError::Invalid`] where the protocol has no such message.
    fn batch(
        &self,
        block: Block,
        object_key: &[u8],
        operation: &str,
        requests: &[QueuedRequest],
        coding: Coding<'_>,
    ) -> Result<Block, CdrError> {
        let _ = (block, object_key, operation, requests, coding);
        Err(CdrError::Invalid("the protocol has no batches"))
    }

    /// Takes several requests apart.
    ///
    /// # Errors
    /// What does not decode, and those of `each`.
    fn get_batch<'m>(
        &self,
        input: &mut Decoder<'m>,
        each: &mut EachRequest<'_, 'm>,
    ) -> Result<(), CdrError> {
        let _ = (input, each);
        Err(CdrError::Invalid("the protocol has no batches"))
    }
}
