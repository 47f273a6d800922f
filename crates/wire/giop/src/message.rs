//! Common parts of writing and reading messages.

use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder, GiopVersion};

use crate::header::{MessageHeader, MessageKind};

/// Writes the header of a message of the encoder's version and byte order, with a size that
/// [`finish_message`] fills in. The message must begin where the encoder's alignment does: use
/// [`Encoder::new`] on an empty block or [`Encoder::append`].
#[inline]
pub fn begin_message(out: &mut Encoder<'_>, kind: MessageKind) {
    let header = MessageHeader::new(out.coding().version, out.order(), kind, 0);
    out.put_bytes(&header.to_octets());
}

/// Aligns to the start of a request's or reply's body: a multiple of 8 in GIOP 1.2 (CORBA 3.3 part
/// 2, §9.4.2.2), any offset in earlier versions. Only for a message that has a body.
#[inline]
pub fn align_body(out: &mut Encoder<'_>) {
    if out.coding().version == GiopVersion::V1_2 {
        out.align(8);
    }
}

/// Fills in the size of the message that a block holds.
///
/// # Errors
/// [`CdrError::LengthOverLimit`] above 4 GiB; [`CdrError::Truncated`] if there is no header.
#[inline]
pub fn finish_message(block: &mut Block) -> Result<(), CdrError> {
    finish_message_at(block, 0)
}

/// Fills in the size of the message that begins at offset `start` of a block and ends with it.
///
/// # Errors
/// As [`finish_message`].
#[inline]
pub fn finish_message_at(block: &mut Block, start: usize) -> Result<(), CdrError> {
    let (header, size) = header_and_size::<{ MessageHeader::LEN }>(block, start)?;
    let [.., flags, _, s0, s1, s2, s3] = header;
    [*s0, *s1, *s2, *s3] = match ByteOrder::from_flag(*flags) {
        ByteOrder::Big => size.to_be_bytes(),
        ByteOrder::Little => size.to_le_bytes(),
    };
    Ok(())
}

/// Returns the header, of `HEADER` bytes, of the message that begins at offset `start` of a block
/// and ends with it, and the number of bytes after it, lent runs included.
///
/// # Errors
/// [`CdrError::LengthOverLimit`] above 4 GiB; [`CdrError::Truncated`] if there is no header.
#[inline]
pub(crate) fn header_and_size<const HEADER: usize>(
    block: &mut Block,
    start: usize,
) -> Result<(&mut [u8; HEADER], u32), CdrError> {
    let length = block.full_len().saturating_sub(start);
    let message = block.as_mut_slice().get_mut(start..).unwrap_or_default();
    let Some(header) = message.first_chunk_mut() else {
        return Err(CdrError::Truncated {
            needed: u32::try_from(HEADER).unwrap_or(u32::MAX),
            left: u32::try_from(length).unwrap_or(u32::MAX),
        });
    };
    match u32::try_from(length - HEADER) {
        Ok(size) => Ok((header, size)),
        Err(_) => Err(CdrError::LengthOverLimit {
            length: u32::MAX,
            limit: u32::MAX,
        }),
    }
}

/// Returns the coding of messages whose values are encoded as in GIOP 1.2 whatever version was
/// agreed on.
#[inline]
pub(crate) const fn as_in_giop_1_2(coding: Coding<'_>) -> Coding<'_> {
    Coding {
        version: GiopVersion::V1_2,
        ..coding
    }
}

/// Returns a decoder of a whole message, positioned after its header. Version and byte order are
/// the header's; the version in `coding` is ignored.
#[inline]
#[must_use]
pub fn message_decoder<'m>(
    header: &MessageHeader,
    message: &'m [u8],
    coding: Coding<'m>,
) -> Decoder<'m> {
    message_decoder_with_seams(header, message, &[], coding)
}

#[inline]
pub(crate) fn message_decoder_with_seams<'m>(
    header: &MessageHeader,
    message: &'m [u8],
    seams: &'m [usize],
    coding: Coding<'m>,
) -> Decoder<'m> {
    let message = message.get(..header.message_len()).unwrap_or(message);
    let coding = Coding {
        version: header.version,
        ..coding
    };
    let mut decoder = if seams.is_empty() {
        Decoder::new(message, header.order, coding)
    } else {
        Decoder::with_seams(message, seams, header.order, coding)
    };
    // If even the header is missing, the first read reports it.
    let _ = decoder.skip(MessageHeader::LEN);
    decoder
}

/// Skips the padding before a body, if there is a body.
#[inline]
pub(crate) fn enter_body(input: &mut Decoder<'_>) -> Result<(), CdrError> {
    if input.coding().version == GiopVersion::V1_2 && input.remaining() > 0 {
        // Some ORBs align though there is no body, and some then pad by less than 8.
        if input.align(8).is_err() {
            input.skip(input.remaining())?;
        }
    }
    Ok(())
}
