//! Messages that GIOPlite shares with GIOP.

use punctual_cdr::{
    Block, ByteOrder, CdrError, Coding, Decoder, Encoder, GiopVersion, Lent, Limits, NarrowCodeSet,
};

use super::framing::{Kind, MessageHeader};
use crate::locate::{LocateReplyHeader, LocateRequestHeader};
use crate::message::{as_in_giop_1_2, enter_body, header_and_size};
use crate::plain::PlainRequest;
use crate::reply::{ReplyHeader, ReplyStatus};
use crate::request::{RequestHeader, ResponseFlags};
use crate::service_context::ServiceContexts;
use crate::target::Target;

/// Offset in a message from which alignment counts, in bytes.
pub const ORIGIN: usize = 1;

/// Values of the flags octet: the answer that a request asks for.
mod flags {
    pub(super) const NONE: u8 = 0;
    /// Value that older peers send for each two-way call.
    pub(super) const TWO_WAY: u8 = 1;
    pub(super) const SYNC_WITH_TARGET: u8 = 3;
    pub(super) const SYNC_WITH_SERVER: u8 = 129;
}

/// Begins a message at the end of `block`; returns an encoder positioned after the header, whose
/// size [`finish_message`] fills in. Values are encoded in the machine's byte order as in GIOP 1.2;
/// the version in `coding` is ignored.
#[inline]
#[must_use]
pub fn begin_message(mut block: Block, kind: Kind, coding: Coding<'_>) -> Encoder<'_> {
    let header = MessageHeader { kind, size: 0 }.to_octets();
    let (before, behind) = header.split_at(ORIGIN);
    block.extend_from_slice(before);
    let mut out = Encoder::append(block, ByteOrder::NATIVE, as_in_giop_1_2(coding));
    out.put_bytes(behind);
    out
}

/// Fills in the size of the message that a block holds, lent runs included.
///
/// # Errors
/// [`CdrError::LengthOverLimit`] above 4 GiB; [`CdrError::Truncated`] if there is no header.
#[inline]
pub fn finish_message(block: &mut Block) -> Result<(), CdrError> {
    finish_message_at(block, 0)
}

/// Fills in the size of the message that begins at offset `start` of a block and ends with it. All
/// runs lent in the block belong to this message.
///
/// # Errors
/// As [`finish_message`].
#[inline]
pub fn finish_message_at(block: &mut Block, start: usize) -> Result<(), CdrError> {
    let (header, length) = header_and_size::<{ MessageHeader::LEN }>(block, start)?;
    let [size @ .., _] = header;
    *size = length.to_ne_bytes();
    Ok(())
}

/// Returns a decoder of a whole message, positioned after its header. The version in `coding` is
/// ignored.
#[inline]
#[must_use]
pub fn message_decoder<'m>(message: &'m [u8], coding: Coding<'m>) -> Decoder<'m> {
    message_decoder_with_lent(message, &[], coding)
}

/// Returns a decoder as [`message_decoder`] does, of bytes between which lent runs belong. Their
/// offsets count from the message's [`ORIGIN`]: each [`Lent::at`] of the block is reduced by that.
#[inline]
#[must_use]
pub fn message_decoder_with_lent<'m>(
    message: &'m [u8],
    lent: &'m [Lent],
    coding: Coding<'m>,
) -> Decoder<'m> {
    let octets = message.get(ORIGIN..).unwrap_or_default();
    let coding = as_in_giop_1_2(coding);
    let mut decoder = if lent.is_empty() {
        Decoder::new(octets, ByteOrder::NATIVE, coding)
    } else {
        Decoder::with_lent(octets, lent, ByteOrder::NATIVE, coding)
    };
    // If even the header is missing, the first read reports it.
    let _ = decoder.skip(MessageHeader::LEN - ORIGIN);
    decoder
}

/// Writes a request's header. If a body follows, call [`crate::align_body`] before it.
///
/// # Errors
/// [`CdrError::Invalid`] for content that GIOPlite lacks: service contexts, another target than an
/// object key, other flags than those that [`ResponseFlags`] names; and violations of the limits.
pub fn encode_request(header: &RequestHeader<'_>, out: &mut Encoder<'_>) -> Result<(), CdrError> {
    no_contexts(&header.contexts)?;
    out.put_u32(header.request_id);
    out.put_u8(match header.response {
        ResponseFlags::NONE => flags::NONE,
        ResponseFlags::SYNC_WITH_SERVER => flags::SYNC_WITH_SERVER,
        ResponseFlags::SYNC_WITH_TARGET => flags::SYNC_WITH_TARGET,
        _ => return Err(CdrError::Invalid("unknown response flags")),
    });
    put_key(&header.target, out)?;
    put_operation(header.operation, out)
}

/// Reads a request's header and leaves the decoder at the body.
///
/// # Errors
/// A [`CdrError`] for a malformed header.
pub fn decode_request<'m>(input: &mut Decoder<'m>) -> Result<RequestHeader<'m>, CdrError> {
    let request_id = input.get_u32()?;
    let response = match input.get_u8()? {
        flags::NONE => ResponseFlags::NONE,
        flags::TWO_WAY | flags::SYNC_WITH_TARGET => ResponseFlags::SYNC_WITH_TARGET,
        flags::SYNC_WITH_SERVER => ResponseFlags::SYNC_WITH_SERVER,
        _ => return Err(CdrError::Invalid("unknown response flags")),
    };
    let header = RequestHeader {
        request_id,
        response,
        target: Target::ObjectKey(input.get_octets()?),
        operation: input.get_identifier()?,
        contexts: ServiceContexts::none(),
    };
    enter_body(input)?;
    Ok(header)
}

/// Returns the header of a request if `received` is exactly one whole request, within the limits.
#[must_use]
pub fn read_plain_request<'m>(received: &'m [u8], limits: &'m Limits) -> Option<PlainRequest<'m>> {
    let header = MessageHeader::parse(received.first_chunk()?).ok()?;
    let is_request = header.kind == Kind::Request
        && header.message_len() == received.len()
        && received.len() <= limits.message;
    if !is_request {
        return None;
    }
    let mut input = message_decoder(received, Coding::new(GiopVersion::V1_2, limits));
    let request = decode_request(&mut input).ok()?;
    let Target::ObjectKey(object_key) = request.target else {
        return None;
    };
    Some(PlainRequest {
        request_id: request.request_id,
        response: request.response,
        object_key,
        operation: request.operation,
        contexts: None,
        order: ByteOrder::NATIVE,
        origin: ORIGIN,
        body: received.len() - ORIGIN - input.remaining(),
    })
}

/// Writes a reply's header. If a body follows, call [`crate::align_body`] before it.
///
/// # Errors
/// [`CdrError::Invalid`] if there are service contexts.
pub fn encode_reply(header: &ReplyHeader<'_>, out: &mut Encoder<'_>) -> Result<(), CdrError> {
    no_contexts(&header.contexts)?;
    out.put_u32(header.request_id);
    out.put_u32(header.status.number());
    Ok(())
}

/// Reads a reply's header and leaves the decoder at the body.
///
/// # Errors
/// A [`CdrError`] for a malformed header.
pub fn decode_reply<'m>(input: &mut Decoder<'m>) -> Result<ReplyHeader<'m>, CdrError> {
    let request_id = input.get_u32()?;
    let number = input.get_u32()?;
    let status = ReplyStatus::from_number(number, GiopVersion::V1_2)
        .ok_or(CdrError::UnknownEnumerator(number))?;
    enter_body(input)?;
    Ok(ReplyHeader {
        request_id,
        status,
        contexts: ServiceContexts::none(),
    })
}

/// Returns the status, and the offset of the body from [`ORIGIN`], if `received` is exactly one whole
/// message: the reply to `request_id`, with results or a user exception.
#[inline]
#[must_use]
pub fn match_plain_reply(received: &[u8], request_id: u32) -> Option<(ReplyStatus, usize)> {
    let head: &[u8; REPLY_HEAD] = received.first_chunk()?;
    let [z0, z1, z2, z3, kind, i0, i1, i2, i3, s0, s1, s2, s3] = *head;
    let number = |octets| u32::from_ne_bytes(octets);
    let is_own = kind == Kind::Reply.number()
        && number([z0, z1, z2, z3]) as usize == received.len() - MessageHeader::LEN
        && number([i0, i1, i2, i3]) == request_id;
    let status = match number([s0, s1, s2, s3]) {
        0 if is_own => ReplyStatus::NoException,
        1 if is_own => ReplyStatus::UserException,
        _ => return None,
    };
    // Without a body there may be padding, or part of it.
    let body = (REPLY_HEAD - ORIGIN).next_multiple_of(8);
    Some((status, body.min(received.len() - ORIGIN)))
}

/// Size of the header of a message and of a reply together, in bytes.
const REPLY_HEAD: usize = MessageHeader::LEN + 8;

/// Writes a locate request.
///
/// # Errors
/// [`CdrError::Invalid`] for another target than an object key, and violations of the limits.
pub fn encode_locate_request(
    header: &LocateRequestHeader<'_>,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    out.put_u32(header.request_id);
    put_key(&header.target, out)
}

/// Reads a locate request.
///
/// # Errors
/// A [`CdrError`] for a malformed request.
pub fn decode_locate_request<'m>(
    input: &mut Decoder<'m>,
) -> Result<LocateRequestHeader<'m>, CdrError> {
    Ok(LocateRequestHeader {
        request_id: input.get_u32()?,
        target: Target::ObjectKey(input.get_octets()?),
    })
}

/// Writes a locate reply's header; a body follows without alignment.
///
/// # Errors
/// None today: every status of GIOP 1.2 can be sent.
pub fn encode_locate_reply(
    header: &LocateReplyHeader,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    header.encode(out)
}

/// Reads a locate reply's header and leaves the decoder at the body.
///
/// # Errors
/// A [`CdrError`] for a malformed header.
pub fn decode_locate_reply(input: &mut Decoder<'_>) -> Result<LocateReplyHeader, CdrError> {
    LocateReplyHeader::decode(input)
}

/// Returns a complete GIOPlite CloseConnection message.
#[must_use]
pub const fn close_connection() -> [u8; MessageHeader::LEN] {
    bare(Kind::CloseConnection)
}

/// Returns a complete GIOPlite MessageError message.
#[must_use]
pub const fn message_error() -> [u8; MessageHeader::LEN] {
    bare(Kind::MessageError)
}

const fn bare(kind: Kind) -> [u8; MessageHeader::LEN] {
    MessageHeader { kind, size: 0 }.to_octets()
}

fn no_contexts(contexts: &ServiceContexts<'_>) -> Result<(), CdrError> {
    if contexts.is_empty() {
        return Ok(());
    }
    Err(CdrError::Invalid("GIOPlite carries no service contexts"))
}

fn put_key(target: &Target<'_>, out: &mut Encoder<'_>) -> Result<(), CdrError> {
    match target {
        Target::ObjectKey(key) => out.put_octets(key),
        _ => Err(CdrError::Invalid(
            "in GIOPlite an object is addressed by its key",
        )),
    }
}

/// Writes an operation's name, an identifier to which no negotiated code set applies.
#[inline]
pub(super) fn put_operation(operation: &str, out: &mut Encoder<'_>) -> Result<(), CdrError> {
    out.put_string_in(NarrowCodeSet::Utf8, operation)
}
