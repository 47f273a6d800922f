//! Messages about the connection or about another message (CORBA 3.3 part 2, §9.4.4, §9.4.7 and
//! §9.4.8).

use punctual_cdr::{ByteOrder, CdrError, Decoder, Encoder, GiopVersion};

use crate::header::{MessageHeader, MessageKind};

/// Notice that the client no longer waits for the answer to a request: `ulong id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CancelRequest {
    /// Id of the request or locate request that the message refers to.
    pub request_id: u32,
}

impl CancelRequest {
    /// Reads a CancelRequest message after its header.
    ///
    /// # Errors
    /// [`CdrError::Truncated`].
    pub fn decode(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            request_id: input.get_u32()?,
        })
    }

    /// Writes the body of a CancelRequest message, after the message header.
    pub fn encode(&self, out: &mut Encoder<'_>) {
        out.put_u32(self.request_id);
    }
}

/// Returns a complete CloseConnection message.
#[must_use]
pub const fn close_connection(version: GiopVersion, order: ByteOrder) -> [u8; MessageHeader::LEN] {
    MessageHeader::new(version, order, MessageKind::CloseConnection, 0).to_octets()
}

/// Returns a complete MessageError message.
#[must_use]
pub const fn message_error(version: GiopVersion, order: ByteOrder) -> [u8; MessageHeader::LEN] {
    MessageHeader::new(version, order, MessageKind::MessageError, 0).to_octets()
}
