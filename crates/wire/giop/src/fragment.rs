//! Fragmentation of messages to be sent (CORBA 3.3 part 2, §9.4.9).
//!
//! In 1.2 a fragment's header is followed by the request id, and every piece but the last has a
//! length that is a multiple of 8, so that alignment continues. In 1.1 alignment restarts in each
//! fragment, after a header of 12 bytes; a message is cut where both ways of counting agree. A
//! value of 8 bytes may still lie across such a cut, which some receivers refuse: better don't
//! fragment in 1.1 without need.

use std::ops::Deref;

use punctual_cdr::GiopVersion;

use crate::header::{MessageHeader, MessageKind};

const REQUEST_ID_LEN: usize = 4;
/// Least size of a piece: the first holds the request id, and every piece makes progress.
const SMALLEST_PIECE: usize = 32;

/// Piece of a message: to be sent as its header, then its body.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'m> {
    /// Header of the piece, with the request id where there is one.
    pub header: PieceHeader,
    /// Part of the message body that the piece carries.
    pub body: &'m [u8],
}

/// Header of a message piece, 12 or 16 bytes long.
#[derive(Clone, Copy, Debug)]
pub struct PieceHeader {
    octets: [u8; MessageHeader::LEN + REQUEST_ID_LEN],
    len: usize,
}

/// Iterator over the pieces into which a message is fragmented.
#[derive(Clone, Debug)]
pub struct Pieces<'m> {
    header: MessageHeader,
    request_id: [u8; REQUEST_ID_LEN],
    rest: &'m [u8],
    first: bool,
    max_piece: usize,
}

/// Cuts a whole message into pieces of `max_piece` bytes at most (32 at least), headers included. A
/// message that fits, or that may not be fragmented, stays in one piece. Does not allocate.
#[must_use]
pub fn split(message: &[u8], max_piece: usize) -> Pieces<'_> {
    let parsed = message
        .split_first_chunk()
        .and_then(|(header, rest)| Some((MessageHeader::parse(header).ok()?, rest)));
    let Some((header, rest)) = parsed else {
        // Not a message: it is passed on unchanged, with an empty header.
        return Pieces {
            header: MessageHeader::new(
                GiopVersion::V1_0,
                punctual_cdr::ByteOrder::Big,
                MessageKind::MessageError,
                0,
            ),
            request_id: [0; REQUEST_ID_LEN],
            rest: message,
            first: false,
            max_piece: 0,
        };
    };
    Pieces {
        max_piece: if header.kind.may_be_fragmented(header.version) {
            max_piece.max(SMALLEST_PIECE)
        } else {
            usize::MAX
        },
        header,
        request_id: rest.first_chunk().copied().unwrap_or_default(),
        rest,
        first: true,
    }
}

impl<'m> Iterator for Pieces<'m> {
    type Item = Piece<'m>;

    fn next(&mut self) -> Option<Piece<'m>> {
        if self.max_piece == 0 {
            let body = std::mem::take(&mut self.rest);
            let octets = [0; MessageHeader::LEN + REQUEST_ID_LEN];
            let header = PieceHeader { octets, len: 0 };
            return (!body.is_empty()).then_some(Piece { header, body });
        }
        if !self.first && self.rest.is_empty() {
            return None;
        }
        let is_first = std::mem::take(&mut self.first);
        let has_id = !is_first && self.header.version == GiopVersion::V1_2;
        let header_len = MessageHeader::LEN + if has_id { REQUEST_ID_LEN } else { 0 };
        let room = self.max_piece - header_len;
        let (body, rest) = match self.rest.split_at_checked(room) {
            Some((_, [])) | None => (self.rest, Default::default()),
            Some(_) => {
                // In 1.2 the length of the piece becomes a multiple of 8. In 1.1 a fragment's data
                // begins 12 bytes into it: so that it does in the whole message too (as alignment
                // counts), the length of the first piece becomes 4 more than a multiple of 8, and
                // each fragment adds a multiple of 8 to the message.
                let aligned = match self.header.version {
                    GiopVersion::V1_2 => header_len,
                    _ => 0,
                };
                let room = (room + aligned) / 8 * 8 - aligned;
                self.rest.split_at(room)
            }
        };
        self.rest = rest;
        let size = body.len() + header_len - MessageHeader::LEN;
        let header = MessageHeader {
            more_fragments: !rest.is_empty(),
            kind: match is_first {
                true => self.header.kind,
                false => MessageKind::Fragment,
            },
            // A part of the message is not longer than its size, of 32 bits.
            size: u32::try_from(size).unwrap_or(u32::MAX),
            ..self.header
        };
        let mut octets = [0; MessageHeader::LEN + REQUEST_ID_LEN];
        if let Some((start, id)) = octets.split_first_chunk_mut() {
            *start = header.to_octets();
            id.copy_from_slice(&self.request_id);
        }
        Some(Piece {
            header: PieceHeader {
                octets,
                len: header_len,
            },
            body,
        })
    }
}

impl Deref for PieceHeader {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.octets.get(..self.len).unwrap_or_default()
    }
}
