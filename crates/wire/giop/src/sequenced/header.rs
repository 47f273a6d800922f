//! Header fields of a sequenced message before its body.

use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder, Lent, NarrowCodeSet};

use super::framing::MessageHeader;
use crate::message::{as_in_giop_1_2, enter_body, header_and_size};

/// Identification of a request: its stream, its number and its object. Decoding borrows from the
/// message and does not allocate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader<'m> {
    /// Stream that the sequence numbers belong to: the sender chooses a number for each of its
    /// streams.
    pub stream: u32,
    /// Sequence number of the request in its stream; each is one more than the one before. In a
    /// batch, that of its first request.
    pub sequence: u64,
    /// Time when it was sent, in nanoseconds of the sender's CLOCK_REALTIME.
    pub sent_at: u64,
    /// Object key of the called object.
    pub object_key: &'m [u8],
    /// Name of the called operation, as in IDL.
    pub operation: &'m str,
}

impl<'m> FrameHeader<'m> {
    /// Reads the header of a message, and leaves the decoder at the body of its request, or at the
    /// count of a batch.
    ///
    /// # Errors
    /// A [`CdrError`] for a malformed header.
    pub fn decode(header: &MessageHeader, input: &mut Decoder<'m>) -> Result<Self, CdrError> {
        let frame = Self {
            stream: input.get_u32()?,
            sequence: input.get_u64()?,
            sent_at: input.get_u64()?,
            object_key: input.get_octets()?,
            operation: input.get_identifier()?,
        };
        if !header.batch {
            enter_body(input)?;
        }
        Ok(frame)
    }

    /// Writes the header of a message after [`begin_message`]. If a body follows, call
    /// [`crate::align_body`] before it.
    ///
    /// # Errors
    /// Violations of the limits.
    pub fn encode(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_u32(self.stream);
        out.put_u64(self.sequence);
        out.put_u64(self.sent_at);
        out.put_octets(self.object_key)?;
        // An operation's name is an identifier: no negotiated code set applies to it.
        out.put_string_in(NarrowCodeSet::Utf8, self.operation)
    }
}

/// Begins a message of one request at the end of `block`; returns an encoder positioned after the
/// header, whose size [`finish_message`] fills in. The version in `coding` is ignored.
#[inline]
#[must_use]
pub fn begin_message(block: Block, order: ByteOrder, coding: Coding<'_>) -> Encoder<'_> {
    begin(block, order, false, coding)
}

#[inline]
pub(super) fn begin(
    block: Block,
    order: ByteOrder,
    batch: bool,
    coding: Coding<'_>,
) -> Encoder<'_> {
    let size = 0;
    let header = MessageHeader { order, batch, size };
    let mut out = Encoder::append(block, order, as_in_giop_1_2(coding));
    out.put_bytes(&header.to_octets());
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
    let [_, _, _, _, _, flags, _, _, size @ ..] = header;
    *size = match ByteOrder::from_flag(*flags) {
        ByteOrder::Big => length.to_be_bytes(),
        ByteOrder::Little => length.to_le_bytes(),
    };
    Ok(())
}

/// Returns a decoder of a whole message, positioned after its header. The version in `coding` is
/// ignored.
#[inline]
#[must_use]
pub fn message_decoder<'m>(
    header: &MessageHeader,
    message: &'m [u8],
    coding: Coding<'m>,
) -> Decoder<'m> {
    message_decoder_with_lent(header, message, &[], coding)
}

/// Returns a decoder as [`message_decoder`] does, of bytes between which lent runs belong; their
/// offsets count from the message's start.
#[inline]
#[must_use]
pub fn message_decoder_with_lent<'m>(
    header: &MessageHeader,
    message: &'m [u8],
    lent: &'m [Lent],
    coding: Coding<'m>,
) -> Decoder<'m> {
    let coding = as_in_giop_1_2(coding);
    let mut decoder = if lent.is_empty() {
        let message = message.get(..header.message_len()).unwrap_or(message);
        Decoder::new(message, header.order, coding)
    } else {
        Decoder::with_lent(message, lent, header.order, coding)
    };
    // If even the header is missing, the first read reports it.
    let _ = decoder.skip(MessageHeader::LEN);
    decoder
}
