//! The request header (CORBA 3.3 part 2, §9.4.2).
//!
//! ```text
//! 1.0  contexts, ulong id, boolean response, key, string operation, sequence<octet> principal
//! 1.1  contexts, ulong id, boolean response, octet reserved[3], key, operation, principal
//! 1.2  ulong id, octet response flags, octet reserved[3], target, operation, contexts;
//!      the body is aligned to 8, if there is one
//! ```

use punctual_cdr::{ByteOrder, CdrError, Decoder, Encoder, GiopVersion, Limits};

use crate::header::{MessageHeader, MessageKind};
use crate::message::enter_body;
use crate::service_context::ServiceContexts;
use crate::target::Target;

/// What a request of the usual kind says before its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainRequest<'m> {
    /// What the reply will refer to.
    pub request_id: u32,
    /// Which answer is wanted.
    pub response: ResponseFlags,
    /// The object that is called.
    pub object_key: &'m [u8],
    /// The operation's name in IDL.
    pub operation: &'m str,
    /// The byte order.
    pub order: ByteOrder,
    /// Where the body begins.
    pub body: usize,
}

/// Whether `received` is one whole message and nothing else: a request of the usual kind, that is GIOP
/// 1.2, not fragmented, to an object key, without service contexts. `None` for anything else, malformed
/// or not: [`crate::examine`] and [`RequestHeader::decode`] tell more. Checks all that they check.
#[inline]
#[must_use]
pub fn plain_request<'m>(received: &'m [u8], limits: &Limits) -> Option<PlainRequest<'m>> {
    /// Up to the length of the object key.
    const HEAD: usize = MessageHeader::LEN + 16;
    const REQUEST: u8 = MessageKind::Request.number();
    let head: &[u8; HEAD] = received.first_chunk()?;
    let (start, numbers) = head.split_first_chunk::<8>()?;
    let order = match start {
        [b'G', b'I', b'O', b'P', 1, 2, 0, REQUEST] => ByteOrder::Big,
        [b'G', b'I', b'O', b'P', 1, 2, 1, REQUEST] => ByteOrder::Little,
        _ => return None,
    };
    let number = |octets: &[u8; 4]| match order {
        ByteOrder::Big => u32::from_be_bytes(*octets),
        ByteOrder::Little => u32::from_le_bytes(*octets),
    };
    let (size, numbers) = numbers.split_first_chunk()?;
    let (id, numbers) = numbers.split_first_chunk()?;
    // Reserved octets and padding are not looked at.
    let [response, _, _, _, 0, 0, _, _, key @ ..] = numbers else {
        return None;
    };
    let key_length = number(key.first_chunk()?) as usize;
    if number(size) as usize != received.len() - MessageHeader::LEN
        || received.len() > limits.message
        || key_length > limits.sequence
    {
        return None;
    }
    let behind = received.get(HEAD..)?;
    let (object_key, _) = behind.split_at_checked(key_length)?;
    let (length, behind) = behind
        .get(key_length.next_multiple_of(4)..)?
        .split_first_chunk()?;
    let name_length = number(length) as usize;
    if name_length > limits.string {
        return None;
    }
    let (name, _) = behind.split_at_checked(name_length)?;
    let (0, name) = name.split_last()? else {
        return None;
    };
    let operation = punctual_cdr::short_ascii(name)?;
    let behind = behind.get(name_length.next_multiple_of(4)..)?;
    let ([0, 0, 0, 0], behind) = behind.split_first_chunk()? else {
        return None;
    };
    let end = received.len() - behind.len();
    Some(PlainRequest {
        request_id: number(id),
        response: ResponseFlags(*response),
        object_key,
        operation,
        order,
        // Where there is no body there may be padding, or part of it.
        body: end.next_multiple_of(8).min(received.len()),
    })
}

/// Which answer a request wants (§9.4.2.2): not the number of a SyncScope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResponseFlags(
    /// The octet, as it is in GIOP 1.2.
    pub u8,
);

impl ResponseFlags {
    /// No reply: SYNC_NONE and SYNC_WITH_TRANSPORT.
    pub const NONE: Self = Self(0x00);
    /// A reply before the target is called: SYNC_WITH_SERVER.
    pub const SYNC_WITH_SERVER: Self = Self(0x01);
    /// A reply by the target: SYNC_WITH_TARGET, and every two-way call.
    pub const SYNC_WITH_TARGET: Self = Self(0x03);

    /// Whether the client waits for a reply.
    #[inline]
    #[must_use]
    pub const fn response_expected(self) -> bool {
        self.0 & 0x01 != 0
    }
}

/// The header of a request. Decoding borrows from the message and allocates only for a target
/// that is a whole reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHeader<'m> {
    /// What the reply will refer to.
    pub request_id: u32,
    /// Which answer is wanted. Before 1.2 a boolean travels, and true is read as
    /// [`ResponseFlags::SYNC_WITH_TARGET`].
    pub response: ResponseFlags,
    /// The object that is called.
    pub target: Target<'m>,
    /// The operation's name in IDL.
    pub operation: &'m str,
    /// What ORBs and services tell beside.
    pub contexts: ServiceContexts<'m>,
}

impl<'m> RequestHeader<'m> {
    /// Reads the header and leaves the decoder at the body.
    ///
    /// # Errors
    /// A [`CdrError`] that tells what is malformed.
    pub fn decode(input: &mut Decoder<'m>) -> Result<Self, CdrError> {
        let header = if input.coding().version == GiopVersion::V1_2 {
            let request_id = input.get_u32()?;
            let response = ResponseFlags(input.get_u8()?);
            input.skip(3)?;
            Self {
                request_id,
                response,
                target: Target::decode(input)?,
                operation: input.get_identifier()?,
                contexts: ServiceContexts::decode(input)?,
            }
        } else {
            let contexts = ServiceContexts::decode(input)?;
            let request_id = input.get_u32()?;
            let response = match input.get_bool()? {
                true => ResponseFlags::SYNC_WITH_TARGET,
                false => ResponseFlags::NONE,
            };
            if input.coding().version == GiopVersion::V1_1 {
                input.skip(3)?;
            }
            let header = Self {
                request_id,
                response,
                target: Target::decode(input)?,
                operation: input.get_identifier()?,
                contexts,
            };
            let _principal = input.get_octets()?;
            header
        };
        enter_body(input)?;
        Ok(header)
    }

    /// Writes the header. If a body follows, call [`crate::align_body`] before it.
    ///
    /// # Errors
    /// What the version or the limits don't allow.
    pub fn encode(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        let version = out.coding().version;
        if version == GiopVersion::V1_2 {
            out.put_u32(self.request_id);
            out.put_bytes(&[self.response.0, 0, 0, 0]);
            self.target.encode(out)?;
            put_operation(out, self.operation)?;
            return self.contexts.encode(out);
        }
        self.contexts.encode(out)?;
        out.put_u32(self.request_id);
        out.put_bool(self.response.response_expected());
        if version == GiopVersion::V1_1 {
            out.put_bytes(&[0; 3]);
        }
        self.target.encode(out)?;
        put_operation(out, self.operation)?;
        // The principal has been deprecated for as long as anybody remembers.
        out.put_octets(&[])
    }
}

/// An operation's name is an identifier: no negotiated code set applies to it.
#[inline]
fn put_operation(out: &mut Encoder<'_>, operation: &str) -> Result<(), CdrError> {
    out.put_string_in(punctual_cdr::NarrowCodeSet::Utf8, operation)
}
