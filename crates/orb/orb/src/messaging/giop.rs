//! GIOP as a messaging protocol (CORBA 3.3 part 2, chapter 9).

use super::protocol::{
    Abilities, BadFrame, Examined, Frame, Head, Messaging, Needs, OwnReply, RepeatableHead,
    ReplyHead, Session,
};
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder, GiopVersion, Limits};
use punctual_giop::{
    CancelRequest, LocateReplyHeader, LocateRequestHeader, MessageHeader, MessageKind,
    PlainRequest, PlainRequests, ReplyHeader, RequestHeader, begin_message, examine,
    finish_message, match_plain_reply, parse_plain_reply,
};
use std::sync::Arc;

/// Messaging protocol GIOP, in versions 1.0 to 1.2.
#[derive(Clone, Copy, Debug)]
pub struct Giop {
    one_way: bool,
}

/// Offset of the body in a plain reply without service contexts, in bytes.
const PLAIN_REPLY_HEAD: usize = MessageHeader::LEN + 12;

/// Session of the protocol GIOP, which needs no state.
#[derive(Debug)]
struct GiopSession;

impl Giop {
    /// Name of the messaging protocol GIOP.
    pub const NAME: &'static str = "giop";
    /// Name of the messaging protocol GIOP restricted to one-way requests.
    pub const ONE_WAY_NAME: &'static str = "giop_oneway";

    /// Makes standard GIOP, which needs links that are reliable and keep the order.
    #[must_use]
    pub fn new() -> Self {
        Self { one_way: false }
    }

    /// Makes GIOP with one-way requests only, over any link, each in a datagram, which may be lost:
    /// TAO calls this DIOP.
    #[must_use]
    pub fn one_way() -> Self {
        Self { one_way: true }
    }
}

impl Default for Giop {
    fn default() -> Self {
        Self::new()
    }
}

impl Messaging for Giop {
    fn name(&self) -> &str {
        if self.one_way {
            Self::ONE_WAY_NAME
        } else {
            Self::NAME
        }
    }

    fn needs(&self) -> Needs {
        Needs {
            reliable: !self.one_way,
            ordered: !self.one_way,
            framing: None,
            any_length: !self.one_way,
        }
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            two_way: !self.one_way,
            contexts: true,
            fragments: !self.one_way,
            batches: false,
            either_order: true,
        }
    }

    fn session(&self) -> Arc<dyn Session> {
        Arc::new(GiopSession)
    }
}

impl Session for GiopSession {
    fn examine(
        &self,
        octets: &[u8],
        available: usize,
        limits: &Limits,
    ) -> Result<Examined, BadFrame> {
        let header = match examine(octets, limits)? {
            punctual_giop::Examined::Complete(header) => header,
            punctual_giop::Examined::Incomplete { need } if need <= available => {
                // The rest of the message is lent memory.
                match octets.first_chunk() {
                    Some(header) => MessageHeader::parse(header)?,
                    None => return Ok(Examined::Incomplete { need }),
                }
            }
            punctual_giop::Examined::Incomplete { need } => {
                return Ok(Examined::Incomplete { need });
            }
        };
        Ok(Examined::Complete(Frame {
            header,
            length: header.message_len(),
            origin: 0,
            head: MessageHeader::LEN,
            batch: false,
        }))
    }

    fn begin<'e>(
        &self,
        block: Block,
        kind: MessageKind,
        order: ByteOrder,
        coding: Coding<'e>,
    ) -> Encoder<'e> {
        let mut out = Encoder::new(block, order, coding);
        begin_message(&mut out, kind);
        out
    }

    fn finish(&self, block: &mut Block) -> Result<(), CdrError> {
        finish_message(block)
    }

    fn put_head(&self, out: &mut Encoder<'_>, head: &Head<'_>) -> Result<(), CdrError> {
        match head {
            Head::Request(header, _) => header.encode(out),
            Head::Reply(header) => header.encode(out),
            Head::Cancel(cancel) => {
                cancel.encode(out);
                Ok(())
            }
            Head::LocateRequest(header) => header.encode(out),
            Head::LocateReply(header) => header.encode(out),
        }
    }

    #[inline]
    fn match_plain_reply(&self, received: &[u8], request_id: u32) -> Option<OwnReply> {
        let (order, status, body) = match_plain_reply(received, request_id)?;
        Some(OwnReply {
            status,
            order,
            origin: 0,
            body,
        })
    }

    fn may_have_contexts(&self, reply: &OwnReply) -> bool {
        reply.body != PLAIN_REPLY_HEAD
    }

    #[inline]
    fn plain_request<'m>(
        &self,
        requests: &'m mut PlainRequests,
        received: &'m [u8],
        limits: &'m Limits,
    ) -> Option<PlainRequest<'m>> {
        requests.read(received, limits)
    }

    #[inline]
    fn parse_plain_reply(&self, header: &MessageHeader, octets: &[u8]) -> Option<ReplyHead> {
        parse_plain_reply(header, octets).map(|(request_id, status, body)| ReplyHead {
            request_id,
            status,
            body,
        })
    }

    fn repeatable_head(&self, version: GiopVersion) -> Option<RepeatableHead> {
        let request_id = match version {
            // After the number of contexts.
            GiopVersion::V1_0 | GiopVersion::V1_1 => MessageHeader::LEN + 4,
            GiopVersion::V1_2 => MessageHeader::LEN,
        };
        Some(RepeatableHead {
            origin: 0,
            request_id,
            size: MessageHeader::LEN - 4,
            uncounted: MessageHeader::LEN,
        })
    }

    fn get_head<'m>(
        &self,
        kind: MessageKind,
        input: &mut Decoder<'m>,
    ) -> Result<Head<'m>, CdrError> {
        Ok(match kind {
            MessageKind::Request => Head::Request(RequestHeader::decode(input)?, None),
            MessageKind::Reply => Head::Reply(ReplyHeader::decode(input)?),
            MessageKind::CancelRequest => Head::Cancel(CancelRequest::decode(input)?),
            MessageKind::LocateRequest => Head::LocateRequest(LocateRequestHeader::decode(input)?),
            MessageKind::LocateReply => Head::LocateReply(LocateReplyHeader::decode(input)?),
            _ => return Err(CdrError::Invalid("the message has no header")),
        })
    }
}
