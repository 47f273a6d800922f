//! GIOPlite as a messaging protocol (Schmidt et al. 2001, §3.4.2): GIOP between machines with equal
//! data formats, with headers at least 15 bytes shorter.

use super::protocol::{
    Abilities, BadFrame, EachRequest, Examined, Frame, Head, Messaging, Needs, OwnReply,
    QueuedRequest, RepeatableHead, Session,
};
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder, GiopVersion, Limits};
use punctual_giop::lite::{self, Kind, ORIGIN};
use punctual_giop::{
    CancelRequest, MessageHeader, MessageKind, PlainRequest, PlainRequests, RequestHeader,
    ResponseFlags, ServiceContexts, Target,
};
use std::sync::Arc;

/// Messaging protocol GIOPlite, which has shorter headers than GIOP.
#[derive(Clone, Copy, Debug, Default)]
pub struct GiopLite;

#[derive(Debug)]
struct LiteSession;

impl GiopLite {
    /// Name of the messaging protocol GIOPlite.
    pub const NAME: &'static str = "giop_lite";
}

impl Messaging for GiopLite {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn needs(&self) -> Needs {
        Needs {
            reliable: true,
            ordered: true,
            framing: None,
            any_length: true,
        }
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            two_way: true,
            contexts: false,
            fragments: false,
            batches: true,
            either_order: false,
        }
    }

    fn session(&self) -> Arc<dyn Session> {
        Arc::new(LiteSession)
    }
}

impl Session for LiteSession {
    fn examine(
        &self,
        octets: &[u8],
        available: usize,
        limits: &Limits,
    ) -> Result<Examined, BadFrame> {
        let header = match lite::examine(octets, available, limits)? {
            lite::Examined::Incomplete { need } => return Ok(Examined::Incomplete { need }),
            lite::Examined::Complete(header) => header,
        };
        let (version, order) = (GiopVersion::V1_2, ByteOrder::NATIVE);
        Ok(Examined::Complete(Frame {
            header: MessageHeader::new(version, order, as_in_giop(header.kind), header.size),
            length: header.message_len(),
            origin: ORIGIN,
            head: lite::MessageHeader::LEN,
            batch: header.kind == Kind::Batch,
        }))
    }

    /// Begins a message, always in the machine's own byte order.
    fn begin<'e>(
        &self,
        block: Block,
        kind: MessageKind,
        _order: ByteOrder,
        coding: Coding<'e>,
    ) -> Encoder<'e> {
        let kind = match kind {
            MessageKind::Request => Kind::Request,
            MessageKind::Reply => Kind::Reply,
            MessageKind::CancelRequest => Kind::CancelRequest,
            MessageKind::LocateRequest => Kind::LocateRequest,
            MessageKind::LocateReply => Kind::LocateReply,
            MessageKind::CloseConnection => Kind::CloseConnection,
            MessageKind::MessageError | MessageKind::Fragment => Kind::MessageError,
        };
        lite::begin_message(block, kind, coding)
    }

    fn finish(&self, block: &mut Block) -> Result<(), CdrError> {
        lite::finish_message(block)
    }

    fn put_head(&self, out: &mut Encoder<'_>, head: &Head<'_>) -> Result<(), CdrError> {
        match head {
            Head::Request(header, _) => lite::encode_request(header, out),
            Head::Reply(header) => lite::encode_reply(header, out),
            Head::Cancel(cancel) => {
                cancel.encode(out);
                Ok(())
            }
            Head::LocateRequest(header) => lite::encode_locate_request(header, out),
            Head::LocateReply(header) => {
                lite::encode_locate_reply(header, out)?;
                Ok(())
            }
        }
    }

    #[inline]
    fn match_plain_reply(&self, received: &[u8], request_id: u32) -> Option<OwnReply> {
        let (status, body) = lite::match_plain_reply(received, request_id)?;
        Some(OwnReply {
            status,
            order: ByteOrder::NATIVE,
            origin: ORIGIN,
            body,
        })
    }

    fn may_have_contexts(&self, _reply: &OwnReply) -> bool {
        false
    }

    fn plain_request<'m>(
        &self,
        _requests: &'m mut PlainRequests,
        received: &'m [u8],
        limits: &'m Limits,
    ) -> Option<PlainRequest<'m>> {
        lite::read_plain_request(received, limits)
    }

    fn repeatable_head(&self, _version: GiopVersion) -> Option<RepeatableHead> {
        Some(RepeatableHead {
            origin: ORIGIN,
            request_id: lite::MessageHeader::LEN,
            size: 0,
            uncounted: lite::MessageHeader::LEN,
        })
    }

    fn reply_id(&self, _header: &MessageHeader, input: &mut Decoder<'_>) -> Option<u32> {
        input.get_u32().ok()
    }

    fn get_head<'m>(
        &self,
        kind: MessageKind,
        input: &mut Decoder<'m>,
    ) -> Result<Head<'m>, CdrError> {
        Ok(match kind {
            MessageKind::Request => Head::Request(lite::decode_request(input)?, None),
            MessageKind::Reply => Head::Reply(lite::decode_reply(input)?),
            MessageKind::CancelRequest => Head::Cancel(CancelRequest::decode(input)?),
            MessageKind::LocateRequest => Head::LocateRequest(lite::decode_locate_request(input)?),
            MessageKind::LocateReply => Head::LocateReply(lite::decode_locate_reply(input)?),
            _ => return Err(CdrError::Invalid("the message has no head")),
        })
    }

    fn batch(
        &self,
        block: Block,
        object_key: &[u8],
        operation: &str,
        requests: &[QueuedRequest],
        coding: Coding<'_>,
    ) -> Result<Block, CdrError> {
        let mut batch = lite::BatchWriter::begin(block, object_key, operation, coding)?;
        for request in requests {
            batch.push_body(&request.body)?;
        }
        batch.finish()
    }

    fn get_batch<'m>(
        &self,
        input: &mut Decoder<'m>,
        each: &mut EachRequest<'_, 'm>,
    ) -> Result<(), CdrError> {
        let batch = lite::decode_batch(input)?;
        let header = RequestHeader {
            request_id: 0,
            response: ResponseFlags::NONE,
            target: Target::ObjectKey(batch.object_key),
            operation: batch.operation,
            contexts: ServiceContexts::none(),
        };
        for body in batch.bodies {
            each(header.clone(), None, body)?;
        }
        Ok(())
    }
}

fn as_in_giop(kind: Kind) -> MessageKind {
    match kind {
        Kind::Request | Kind::Batch => MessageKind::Request,
        Kind::Reply => MessageKind::Reply,
        Kind::CancelRequest => MessageKind::CancelRequest,
        Kind::LocateRequest => MessageKind::LocateRequest,
        Kind::LocateReply => MessageKind::LocateReply,
        Kind::CloseConnection => MessageKind::CloseConnection,
        Kind::MessageError => MessageKind::MessageError,
    }
}
