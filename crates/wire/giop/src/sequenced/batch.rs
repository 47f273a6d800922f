//! Batch of requests of one stream, to one operation of one object, in one message.

use std::iter::FusedIterator;

use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder};

use super::header::{FrameHeader, begin, finish_message_at};
use crate::batch::{Requests, get_body};

/// Least size of a request: sequence number, time stamp, length.
const MIN_FRAME: usize = 20;

/// Batch that is being written. After each request it is a whole message except for its size, which
/// [`BatchWriter::finish`] fills in.
#[derive(Debug)]
pub struct BatchWriter<'e> {
    requests: Requests<'e>,
    /// Sequence number of the request that is added next.
    next: u64,
}

impl<'e> BatchWriter<'e> {
    /// Begins a batch at the end of `block`. Its first request has the header's sequence number.
    ///
    /// # Errors
    /// A key or operation beyond the limits.
    pub fn begin(
        block: Block,
        order: ByteOrder,
        header: &FrameHeader<'_>,
        coding: Coding<'e>,
    ) -> Result<Self, CdrError> {
        let start = block.len();
        let mut out = begin(block, order, true, coding);
        header.encode(&mut out)?;
        Ok(Self {
            requests: Requests::begin(out, start),
            next: header.sequence,
        })
    }

    /// Adds a request made at `sent_at`, whose body `write` marshals; its number is one more than
    /// that of the request before. Has no effect on the batch if `write` fails. Nothing in a batch
    /// is lent.
    ///
    /// # Errors
    /// Those of `write`; [`CdrError::LengthOverLimit`] at 4 GiB and at the limit on sequences.
    pub fn push(
        &mut self,
        sent_at: u64,
        write: impl FnOnce(&mut Encoder<'e>) -> Result<(), CdrError>,
    ) -> Result<(), CdrError> {
        let number = self.next;
        let head = |out: &mut Encoder<'e>| {
            out.put_u64(number);
            out.put_u64(sent_at);
        };
        self.requests.push(head, write)?;
        self.next = number.wrapping_add(1);
        Ok(())
    }

    /// Returns the number of requests in the batch so far.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.requests.len()
    }

    /// Returns whether the batch contains no request yet.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.requests.len() == 0
    }

    /// Returns the number of bytes of the message so far.
    #[must_use]
    pub fn octets(&self) -> usize {
        self.requests.octets()
    }

    /// Ends the message and returns the block, which holds it after its earlier contents.
    ///
    /// # Errors
    /// Those of [`super::finish_message`].
    pub fn finish(self) -> Result<Block, CdrError> {
        let (mut block, start) = self.requests.into_block();
        finish_message_at(&mut block, start)?;
        Ok(block)
    }
}

/// Request in a batch of the sequenced-frames protocol.
#[derive(Clone, Debug)]
pub struct Frame<'m> {
    /// Sequence number of the request in its stream.
    pub sequence: u64,
    /// Time when it was made, in nanoseconds of the sender's CLOCK_REALTIME.
    pub sent_at: u64,
    /// Decoder limited to the body of the request.
    pub body: Decoder<'m>,
}

/// Requests of a batch, in order. All of them are known to be whole.
#[derive(Clone, Debug)]
pub struct Frames<'m> {
    input: Decoder<'m>,
    left: usize,
}

/// Reads the requests of a batch, with a decoder that [`FrameHeader::decode`] left at their count.
/// Returns them only if every request is whole.
///
/// # Errors
/// A [`CdrError`] for a malformed batch: [`CdrError::Truncated`] for a count or a length that goes
/// beyond the message, [`CdrError::Invalid`] for bytes after the last request.
pub fn decode_batch<'m>(input: &mut Decoder<'m>) -> Result<Frames<'m>, CdrError> {
    let left = input.get_length(MIN_FRAME)?;
    let frames = Frames {
        input: input.clone(),
        left,
    };
    for _ in 0..left {
        get_frame(input)?;
    }
    if input.remaining() > 0 {
        return Err(CdrError::Invalid("octets behind the last request"));
    }
    Ok(frames)
}

fn get_frame<'m>(input: &mut Decoder<'m>) -> Result<Frame<'m>, CdrError> {
    let sequence = input.get_u64()?;
    let sent_at = input.get_u64()?;
    let body = get_body(input)?;
    Ok(Frame {
        sequence,
        sent_at,
        // A body begins at a multiple of 8, so alignment may count from there.
        body: Decoder::new(body, input.order(), *input.coding()),
    })
}

impl<'m> Iterator for Frames<'m> {
    type Item = Frame<'m>;

    fn next(&mut self) -> Option<Frame<'m>> {
        self.left = self.left.checked_sub(1)?;
        get_frame(&mut self.input).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Frames<'_> {}
impl FusedIterator for Frames<'_> {}
