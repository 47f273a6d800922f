//! Several one-way requests to one operation of one object, in one message (paper 000, figure 6).
//!
//! ```text
//! Batch  sequence<octet> key, string operation, ulong count, then for each request:
//!        ulong length of its body; the body, if it has one, begins at a multiple of 8
//! ```

use std::iter::FusedIterator;

use punctual_cdr::{Block, CdrError, Coding, Decoder, Encoder};

use super::framing::Kind;
use super::messages::{begin_message, finish_message_at, put_operation};

/// A body is aligned as in a request.
const BODY_ALIGNMENT: usize = 8;

/// What one request takes at least: the length of its body.
const MIN_REQUEST: usize = 4;

/// A batch that is being written. It is a whole message after each request but for its size, which
/// [`BatchWriter::finish`] fills in.
#[derive(Debug)]
pub struct BatchWriter<'e> {
    out: Encoder<'e>,
    /// Where the message begins in the block.
    start: usize,
    /// Where the count stands.
    count_at: usize,
    count: u32,
}

impl<'e> BatchWriter<'e> {
    /// Begins a batch of requests to `operation` of the object with this key, at the end of `block`.
    ///
    /// # Errors
    /// What the limits don't allow of key and operation.
    pub fn begin(
        block: Block,
        object_key: &[u8],
        operation: &str,
        coding: Coding<'e>,
    ) -> Result<Self, CdrError> {
        let start = block.len();
        let mut out = begin_message(block, Kind::Batch, coding);
        out.put_octets(object_key)?;
        put_operation(operation, &mut out)?;
        out.put_u32(0);
        Ok(Self {
            start,
            count_at: out.position() - 4,
            count: 0,
            out,
        })
    }

    /// Adds a request whose body `write` marshals. Without an effect on the batch if that fails.
    /// Nothing in a batch is lent.
    ///
    /// # Errors
    /// Those of `write`; [`CdrError::LengthOverLimit`] at 4 GiB and at the limit on sequences.
    pub fn push(
        &mut self,
        write: impl FnOnce(&mut Encoder<'e>) -> Result<(), CdrError>,
    ) -> Result<(), CdrError> {
        let before = self.out.position();
        let added = self.add(write);
        if added.is_err() {
            self.out.block_mut().truncate(before);
        }
        added
    }

    /// Adds a request whose body is marshaled already, from a multiple of 8 on and in the machine's
    /// byte order.
    ///
    /// # Errors
    /// As [`BatchWriter::push`].
    pub fn push_body(&mut self, body: &[u8]) -> Result<(), CdrError> {
        self.push(|out| {
            out.put_bytes(body);
            Ok(())
        })
    }

    fn add(
        &mut self,
        write: impl FnOnce(&mut Encoder<'e>) -> Result<(), CdrError>,
    ) -> Result<(), CdrError> {
        let count = self.count as usize + 1;
        let limit = self.out.coding().limits.sequence;
        let over_limit = CdrError::LengthOverLimit {
            length: u32::try_from(count).unwrap_or(u32::MAX),
            limit: u32::try_from(limit).unwrap_or(u32::MAX),
        };
        let encoded = u32::try_from(count).map_err(|_| over_limit)?;
        if count > limit {
            return Err(over_limit);
        }
        put_body(&mut self.out, write)?;
        self.count = encoded;
        self.out.patch_u32(self.count_at, encoded);
        Ok(())
    }

    /// How many requests there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is no request yet.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The octets of the message so far.
    #[must_use]
    pub fn octets(&self) -> usize {
        self.out.position() - self.start
    }

    /// Ends the message; the block holds it behind what it held before.
    ///
    /// # Errors
    /// Those of [`super::finish_message`].
    pub fn finish(self) -> Result<Block, CdrError> {
        let mut block = self.out.into_block();
        finish_message_at(&mut block, self.start)?;
        Ok(block)
    }
}

/// Writes a length and the body behind it.
pub(crate) fn put_body<'e>(
    out: &mut Encoder<'e>,
    write: impl FnOnce(&mut Encoder<'e>) -> Result<(), CdrError>,
) -> Result<(), CdrError> {
    out.put_u32(0);
    let length_at = out.position() - 4;
    let unpadded = out.position();
    out.align(BODY_ALIGNMENT);
    let begin = out.position();
    write(out)?;
    let length = out.position() - begin;
    if length == 0 {
        out.block_mut().truncate(unpadded);
    }
    let encoded = u32::try_from(length).map_err(|_| CdrError::LengthOverLimit {
        length: u32::MAX,
        limit: u32::MAX,
    })?;
    out.patch_u32(length_at, encoded);
    Ok(())
}

/// A received batch.
#[derive(Clone, Debug)]
pub struct Batch<'m> {
    /// The object that is called.
    pub object_key: &'m [u8],
    /// The operation's name in IDL.
    pub operation: &'m str,
    /// A body for each request, in order.
    pub bodies: Bodies<'m>,
}

/// The bodies of a batch: a decoder for each, which reads nothing beyond its own. All of them are
/// known to be there.
#[derive(Clone, Debug)]
pub struct Bodies<'m> {
    input: Decoder<'m>,
    left: usize,
}

/// Reads a batch. Nothing of it is handed out unless every body is whole.
///
/// # Errors
/// A [`CdrError`] that tells what is malformed: [`CdrError::Truncated`] for a count or a length that
/// goes beyond the message, [`CdrError::Invalid`] for octets behind the last one.
pub fn decode_batch<'m>(input: &mut Decoder<'m>) -> Result<Batch<'m>, CdrError> {
    let object_key = input.get_octets()?;
    let operation = input.get_identifier()?;
    let left = input.get_length(MIN_REQUEST)?;
    let bodies = Bodies {
        input: input.clone(),
        left,
    };
    for _ in 0..left {
        get_body(input)?;
    }
    if input.remaining() > 0 {
        return Err(CdrError::Invalid("octets behind the last request"));
    }
    Ok(Batch {
        object_key,
        operation,
        bodies,
    })
}

/// Reads a length and the body behind it.
pub(crate) fn get_body<'m>(input: &mut Decoder<'m>) -> Result<&'m [u8], CdrError> {
    // The octets are all there is to check against: no limit of the application's applies.
    let length = input.get_u32()? as usize;
    if length == 0 {
        return Ok(&[]);
    }
    input.align(BODY_ALIGNMENT)?;
    input.get_bytes(length)
}

impl<'m> Iterator for Bodies<'m> {
    type Item = Decoder<'m>;

    fn next(&mut self) -> Option<Decoder<'m>> {
        self.left = self.left.checked_sub(1)?;
        let body = get_body(&mut self.input).ok()?;
        let (order, coding) = (self.input.order(), *self.input.coding());
        // A body begins at a multiple of 8: alignment may as well count from there.
        Some(Decoder::new(body, order, coding))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Bodies<'_> {}
impl FusedIterator for Bodies<'_> {}
