//! Locate requests and replies (CORBA 3.3 part 2, §9.4.5 and §9.4.6).
//!
//! ```text
//! LocateRequest  ulong id; 1.0 and 1.1 the key, 1.2 the target
//! LocateReply    ulong id, ulong status; the body follows without alignment of its own
//! ```

use punctual_cdr::{CdrError, Decoder, Encoder, GiopVersion};

use crate::target::Target;

/// Query whether an object is here, or where else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocateRequestHeader<'m> {
    /// Request id, which the LocateReply repeats.
    pub request_id: u32,
    /// Object whose location is requested.
    pub target: Target<'m>,
}

/// LocateReply status: the result of a LocateRequest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LocateStatus {
    /// The server does not know the requested object.
    UnknownObject,
    /// The server that sends the LocateReply serves the object itself.
    ObjectHere,
    /// Forward: the body is a reference that the client uses instead, for this request.
    ObjectForward,
    /// Permanent forward: the body is a reference that the client uses instead from now on; since
    /// GIOP 1.2.
    ObjectForwardPerm,
    /// The body is a system exception; since GIOP 1.2.
    SystemException,
    /// The body says in which form the server wants the target: object key, profile or reference;
    /// since GIOP 1.2.
    NeedsAddressingMode,
}

impl LocateStatus {
    /// Returns the number of the LocateReply status in GIOP.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::UnknownObject => 0,
            Self::ObjectHere => 1,
            Self::ObjectForward => 2,
            Self::ObjectForwardPerm => 3,
            Self::SystemException => 4,
            Self::NeedsAddressingMode => 5,
        }
    }

    /// Returns the status with this number, if the version has it.
    #[must_use]
    pub const fn from_number(number: u32, version: GiopVersion) -> Option<Self> {
        Some(match (number, version) {
            (0, _) => Self::UnknownObject,
            (1, _) => Self::ObjectHere,
            (2, _) => Self::ObjectForward,
            (3, GiopVersion::V1_2) => Self::ObjectForwardPerm,
            (4, GiopVersion::V1_2) => Self::SystemException,
            (5, GiopVersion::V1_2) => Self::NeedsAddressingMode,
            _ => return None,
        })
    }
}

/// Header of a GIOP LocateReply message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocateReplyHeader {
    /// Request id of the LocateRequest that is answered.
    pub request_id: u32,
    /// Result, which also determines the type of the body.
    pub status: LocateStatus,
}

impl<'m> LocateRequestHeader<'m> {
    /// Reads the header.
    ///
    /// # Errors
    /// A [`CdrError`] for a malformed header.
    pub fn decode(input: &mut Decoder<'m>) -> Result<Self, CdrError> {
        Ok(Self {
            request_id: input.get_u32()?,
            target: Target::decode(input)?,
        })
    }

    /// Writes the header.
    ///
    /// # Errors
    /// Violations of the version or the limits.
    pub fn encode(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_u32(self.request_id);
        self.target.encode(out)
    }
}

impl LocateReplyHeader {
    /// Reads the header and leaves the decoder at the body.
    ///
    /// # Errors
    /// A [`CdrError`] for a malformed header.
    pub fn decode(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        let request_id = input.get_u32()?;
        let number = input.get_u32()?;
        let status = LocateStatus::from_number(number, input.coding().version)
            .ok_or(CdrError::UnknownEnumerator(number))?;
        Ok(Self { request_id, status })
    }

    /// Writes the header; a body follows without alignment.
    ///
    /// # Errors
    /// [`CdrError::Invalid`] for a status that the version lacks.
    pub fn encode(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        let version = out.coding().version;
        if LocateStatus::from_number(self.status.number(), version).is_none() {
            return Err(CdrError::Invalid(
                "the GIOP version lacks this locate status",
            ));
        }
        out.put_u32(self.request_id);
        out.put_u32(self.status.number());
        Ok(())
    }
}
