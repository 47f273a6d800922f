//! Reply header (CORBA 3.3 part 2, §9.4.3).
//!
//! ```text
//! 1.0, 1.1  contexts, ulong id, ulong status
//! 1.2       ulong id, ulong status, contexts; the body is aligned to 8, if there is one
//! ```

use punctual_cdr::{CdrError, Decoder, Encoder, GiopVersion};

use crate::message::enter_body;
use crate::service_context::ServiceContexts;

/// Status of a reply, which determines the content of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReplyStatus {
    /// NO_EXCEPTION: the body contains the result and the out parameters of the call.
    NoException,
    /// USER_EXCEPTION: the body contains the exception's repository id and members.
    UserException,
    /// SYSTEM_EXCEPTION: the body is a [`crate::SystemExceptionBody`].
    SystemException,
    /// Forward: the body is a reference that the client uses instead, for this request.
    LocationForward,
    /// Permanent forward: the body is a reference that the client uses instead from now on; since
    /// GIOP 1.2.
    LocationForwardPerm,
    /// The body says in which form the server wants the target: object key, profile or reference;
    /// since GIOP 1.2.
    NeedsAddressingMode,
}

impl ReplyStatus {
    /// Returns the number of the reply status in GIOP.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::NoException => 0,
            Self::UserException => 1,
            Self::SystemException => 2,
            Self::LocationForward => 3,
            Self::LocationForwardPerm => 4,
            Self::NeedsAddressingMode => 5,
        }
    }

    /// Returns the status with this number, if the version has it.
    #[inline]
    #[must_use]
    pub const fn from_number(number: u32, version: GiopVersion) -> Option<Self> {
        Some(match (number, version) {
            (0, _) => Self::NoException,
            (1, _) => Self::UserException,
            (2, _) => Self::SystemException,
            (3, _) => Self::LocationForward,
            (4, GiopVersion::V1_2) => Self::LocationForwardPerm,
            (5, GiopVersion::V1_2) => Self::NeedsAddressingMode,
            _ => return None,
        })
    }
}

/// Header of a reply. Decoding borrows from the message and does not allocate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyHeader<'m> {
    /// Request id of the request that is answered.
    pub request_id: u32,
    /// Reply status, which determines the content of the reply body.
    pub status: ReplyStatus,
    /// Service contexts of the reply.
    pub contexts: ServiceContexts<'m>,
}

impl<'m> ReplyHeader<'m> {
    /// Reads the header and leaves the decoder at the body.
    ///
    /// # Errors
    /// A [`CdrError`] for a malformed header.
    pub fn decode(input: &mut Decoder<'m>) -> Result<Self, CdrError> {
        let header = if input.coding().version == GiopVersion::V1_2 {
            Self {
                request_id: input.get_u32()?,
                status: get_status(input)?,
                contexts: ServiceContexts::decode(input)?,
            }
        } else {
            let contexts = ServiceContexts::decode(input)?;
            Self {
                request_id: input.get_u32()?,
                status: get_status(input)?,
                contexts,
            }
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
        if ReplyStatus::from_number(self.status.number(), version).is_none() {
            return Err(CdrError::Invalid(
                "the GIOP version lacks this reply status",
            ));
        }
        if version != GiopVersion::V1_2 {
            self.contexts.encode(out)?;
        }
        out.put_u32(self.request_id);
        out.put_u32(self.status.number());
        if version == GiopVersion::V1_2 {
            self.contexts.encode(out)?;
        }
        Ok(())
    }
}

#[inline]
fn get_status(input: &mut Decoder<'_>) -> Result<ReplyStatus, CdrError> {
    let number = input.get_u32()?;
    ReplyStatus::from_number(number, input.coding().version)
        .ok_or(CdrError::UnknownEnumerator(number))
}
