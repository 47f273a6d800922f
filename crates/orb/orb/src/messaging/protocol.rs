//! Interface of messaging protocols: GIOP, GIOPlite and the frame-sequencing ESIOP implement it,
//! and so may user-defined ones (Schmidt et al. 2001, §3.3.1).
//!
//! A protocol declares what it needs of a link; a link that does not provide it is refused when the
//! ORB starts. Each connection has a [`Session`] of its protocol, which encodes and decodes
//! messages. Their contents (a request for an operation, a reply with a status) are the same for
//! all protocols, and are given in the terms of GIOP.

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

/// Messaging protocol, such as GIOP: the encoding of requests and replies as messages.
pub trait Messaging: Send + Sync + Debug {
    /// Returns the protocol's name as a part of protocol names, e.g. `giop_lite` in
    /// `giop_lite+uiop`.
    fn name(&self) -> &str;

    /// Returns the guarantees that the messaging protocol needs from a link.
    fn needs(&self) -> Needs;

    /// Returns the optional features that the messaging protocol supports.
    fn abilities(&self) -> Abilities;

    /// Makes the session of a new connection, at either end.
    fn session(&self) -> Arc<dyn Session>;
}

/// Guarantees that a messaging protocol needs from a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Sent data must arrive, or the connection must report that it has ended.
    pub reliable: bool,
    /// Data must arrive in the order in which it was sent.
    pub ordered: bool,
    /// Framing that the link must have; `None` if any framing is accepted.
    pub framing: Option<Framing>,
    /// True if the link must carry messages of any length.
    pub any_length: bool,
}

impl Needs {
    /// Returns, as text, the needs that the guarantees `given` do not satisfy.
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

/// Optional features that a messaging protocol supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// True if the protocol has requests with replies, and LocateRequests.
    pub two_way: bool,
    /// True if messages have service contexts, and so code sets can be negotiated. Otherwise text
    /// is UTF-8, and wide text UTF-16.
    pub contexts: bool,
    /// True if long messages can be sent in GIOP fragments.
    pub fragments: bool,
    /// True if one message can contain several one-way requests.
    pub batches: bool,
    /// True if the sender chooses the byte order. Otherwise only machines of equal byte order
    /// interoperate.
    pub either_order: bool,
}

/// Description of a message at the start of the received bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Header in GIOP's terms: kind, version, byte order, and whether fragments follow.
    pub header: MessageHeader,
    /// Total length of the message in bytes.
    pub length: usize,
    /// Position in the message from which CDR alignment is counted.
    pub origin: usize,
    /// Start of the message's header, after the bytes of the frame.
    pub head: usize,
    /// True if the message contains several requests ([`Session::get_batch`]).
    pub batch: bool,
}

/// Data about the arrival of a request, in a protocol that numbers its frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameArrival {
    /// Number of the sender's stream of frames.
    pub stream: u32,
    /// Sequence number of the frame in the sender's stream.
    pub sequence: u64,
    /// Time of sending, in nanoseconds since 1970 by the sender's clock.
    pub sent_at: u64,
    /// Arrival in relation to earlier frames: whether some are missing, or this one is late.
    pub arrival: Arrival,
    /// Statistics of the sender's stream of frames so far.
    pub statistics: Statistics,
}

/// Error: the bytes are not a message of the protocol.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadFrame(
    /// Description of the error in the received bytes.
    pub Box<str>,
);

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for BadFrame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

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

/// A one-way request that is buffered, to be sent together with others.
#[derive(Debug)]
pub struct QueuedRequest {
    /// Marshaled arguments, in the machine's byte order, aligned relative to a multiple of 8.
    pub body: Block,
    /// Time at which the client made the one-way request.
    pub queued_at: SystemTime,
}

/// Result of examining the bytes received so far for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Examined {
    /// The start of a message; more bytes are needed to continue.
    Incomplete {
        /// Number of bytes, counted from the message's start, without which it cannot be examined
        /// further.
        need: usize,
    },
    /// Description of a message that has been received completely.
    Complete(Frame),
}

/// Decoded header of a received message, by the kind of message.
#[derive(Clone, Debug)]
pub enum Head<'m> {
    /// A request, and its arrival data in protocols that number their frames.
    Request(RequestHeader<'m>, Option<FrameArrival>),
    /// Header of a reply.
    Reply(ReplyHeader<'m>),
    /// A CancelRequest: the client no longer awaits the reply.
    Cancel(CancelRequest),
    /// Header of a LocateRequest, which asks for the location of an object.
    LocateRequest(LocateRequestHeader<'m>),
    /// Header of the reply to a LocateRequest.
    LocateReply(LocateReplyHeader),
}

/// Part of a reply's header that the caller of the request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyHead {
    /// Id of the request that the reply answers.
    pub request_id: u32,
    /// Status of the reply, such as NO_EXCEPTION.
    pub status: ReplyStatus,
    /// Position of the body, relative to the origin of alignment.
    pub body: usize,
}

/// Description of a reply that is alone in its memory block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnReply {
    /// Status of the reply: NO_EXCEPTION or USER_EXCEPTION.
    pub status: ReplyStatus,
    /// Byte order in which the reply is encoded.
    pub order: ByteOrder,
    /// Position in the block from which CDR alignment is counted.
    pub origin: usize,
    /// Position of the body, relative to the origin of alignment.
    pub body: usize,
}

/// Positions of the variable fields in a message that starts at the beginning of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatableHead {
    /// Position in the block from which CDR alignment is counted.
    pub origin: usize,
    /// Position of the request id, an `unsigned long` in the machine's byte order.
    pub request_id: usize,
    /// Position of the message's size, also an `unsigned long`.
    pub size: usize,
    /// Number of leading bytes that the message's size does not include.
    pub uncounted: usize,
}

/// Function that is called for each request in a message with several.
pub type EachRequest<'f, 'm> =
    dyn FnMut(RequestHeader<'m>, Option<FrameArrival>, Decoder<'m>) -> Result<(), CdrError> + 'f;

/// Session of a messaging protocol on one connection. May be used by any number of threads at once.
pub trait Session: Send + Sync + Debug {
    /// Determines whether `octets` begin with a complete message. `available` counts them together
    /// with the bytes lent beside them ([`Block::full_len`]).
    ///
    /// # Errors
    /// [`BadFrame`] if they are not the start of a message of this protocol.
    fn examine(
        &self,
        octets: &[u8],
        available: usize,
        limits: &Limits,
    ) -> Result<Examined, BadFrame>;

    /// Begins a message in an empty block; returns the encoder for it.
    fn begin<'e>(
        &self,
        block: Block,
        kind: MessageKind,
        order: ByteOrder,
        coding: Coding<'e>,
    ) -> Encoder<'e>;

    /// Fills in the fields that are known only when the message is complete, such as its size.
    ///
    /// # Errors
    /// [`CdrError::LengthOverLimit`] if it is too long for the protocol.
    fn finish(&self, block: &mut Block) -> Result<(), CdrError>;

    /// Writes a message's header, without the padding before the body.
    ///
    /// # Errors
    /// If the protocol cannot express the header, or the header is too long.
    fn put_head(&self, out: &mut Encoder<'_>, head: &Head<'_>) -> Result<(), CdrError>;

    /// Reads the header of a message of this kind, and moves on to the body.
    ///
    /// # Errors
    /// If it cannot be decoded.
    fn get_head<'m>(
        &self,
        kind: MessageKind,
        input: &mut Decoder<'m>,
    ) -> Result<Head<'m>, CdrError>;

    /// Recognizes the usual reply to this request by the fast path: `received` must be exactly one
    /// complete message. If it returns `None`, use [`Session::examine`].
    #[inline]
    fn match_plain_reply(&self, received: &[u8], request_id: u32) -> Option<OwnReply> {
        let _ = (received, request_id);
        None
    }

    /// Returns whether a reply that [`Session::match_plain_reply`] has recognized may have service
    /// contexts.
    fn may_have_contexts(&self, reply: &OwnReply) -> bool {
        let _ = reply;
        true
    }

    /// Recognizes a usual request by the fast path: `received` must be exactly one complete
    /// message. If it returns `None`, use [`Session::examine`].
    ///
    /// `requests` is the calling thread's own state.
    #[inline]
    fn plain_request<'m>(
        &self,
        requests: &'m mut PlainRequests,
        received: &'m [u8],
        limits: &'m Limits,
    ) -> Option<PlainRequest<'m>> {
        let _ = (requests, received, limits);
        None
    }

    /// Decodes the header of a usual reply without service contexts by the fast path, given the bytes
    /// from the origin of alignment on. If it returns `None`, use [`Session::get_head`].
    #[inline]
    fn parse_plain_reply(&self, header: &MessageHeader, octets: &[u8]) -> Option<ReplyHead> {
        let _ = (header, octets);
        None
    }

    /// Returns the id of the request that a reply or LocateReply answers.
    fn reply_id(&self, header: &MessageHeader, input: &mut Decoder<'_>) -> Option<u32> {
        match self.get_head(header.kind, input).ok()? {
            Head::Reply(reply) => Some(reply.request_id),
            Head::LocateReply(reply) => Some(reply.request_id),
            _ => None,
        }
    }

    /// Returns the positions of the variable fields in a request's header without service contexts,
    /// so that the header can be written once and sent with different ids; `None` if headers must
    /// be written anew for each request.
    fn repeatable_head(&self, version: GiopVersion) -> Option<RepeatableHead> {
        let _ = version;
        None
    }

    /// Fills in the fields that are known only at the time of sending. Called under the sending
    /// lock, in the order in which messages are sent; not called for batches.
    fn stamp(&self, message: &mut Block) {
        let _ = message;
    }

    /// Writes a message that contains several one-way requests for one operation of one object
    /// (Schmidt et al. 2001, figure 6), into an empty block.
    ///
    /// # Errors
    /// [`CdrError::Invalid`] if the protocol has no such message.
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

    /// Decodes a message of several requests, and calls `each` for every one.
    ///
    /// # Errors
    /// If it cannot be decoded, and the errors of `each`.
    fn get_batch<'m>(
        &self,
        input: &mut Decoder<'m>,
        each: &mut EachRequest<'_, 'm>,
    ) -> Result<(), CdrError> {
        let _ = (input, each);
        Err(CdrError::Invalid("the protocol has no batches"))
    }
}
