//! Request header (CORBA 3.3 part 2, §9.4.2).
//!
//! ```text
//! 1.0  contexts, ulong id, boolean response, key, string operation, sequence<octet> principal
//! 1.1  contexts, ulong id, boolean response, octet reserved[3], key, operation, principal
//! 1.2  ulong id, octet response flags, octet reserved[3], target, operation, contexts;
//!      the body is aligned to 8, if there is one
//! ```

use punctual_cdr::{CdrError, Decoder, Encoder, GiopVersion};

use crate::message::enter_body;
use crate::service_context::ServiceContexts;
use crate::target::Target;

/// Answer that a request asks for (§9.4.2.2): not the number of a SyncScope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResponseFlags(
    /// Value of the `response_flags` octet in a GIOP 1.2 request header.
    pub u8,
);

impl ResponseFlags {
    /// Flags for no reply: SYNC_NONE and SYNC_WITH_TRANSPORT.
    pub const NONE: Self = Self(0x00);
    /// Flags for a reply before the servant is called: SYNC_WITH_SERVER.
    pub const SYNC_WITH_SERVER: Self = Self(0x01);
    /// Reply by the target: SYNC_WITH_TARGET, and every two-way call.
    pub const SYNC_WITH_TARGET: Self = Self(0x03);

    /// Returns whether the client expects a reply to the request.
    #[inline]
    #[must_use]
    pub const fn response_expected(self) -> bool {
        self.0 & 0x01 != 0
    }
}

/// Header of a request. Decoding borrows from the message and allocates only for a target that is a
/// whole reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHeader<'m> {
    /// Request id, which the reply repeats.
    pub request_id: u32,
    /// Answer that is asked for. Versions before 1.2 send a boolean, and true is read as
    /// [`ResponseFlags::SYNC_WITH_TARGET`].
    pub response: ResponseFlags,
    /// Object on which the operation is called.
    pub target: Target<'m>,
    /// Name of the called operation, as in IDL.
    pub operation: &'m str,
    /// Service contexts of the request.
    pub contexts: ServiceContexts<'m>,
}

impl<'m> RequestHeader<'m> {
    /// Reads the header and leaves the decoder at the body.
    ///
    /// # Errors
    /// A [`CdrError`] for a malformed header.
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
    /// Violations of the version or the limits.
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
        // The principal has long been deprecated.
        out.put_octets(&[])
    }
}

/// Writes an operation's name, an identifier to which no negotiated code set applies.
#[inline]
fn put_operation(out: &mut Encoder<'_>, operation: &str) -> Result<(), CdrError> {
    out.put_string_in(punctual_cdr::NarrowCodeSet::Utf8, operation)
}
