//! Batch of one-way requests to one operation of one object, in one message (Schmidt et al. 2001,
//! figure 6).
//!
//! ```text
//! Batch  sequence<octet> key, string operation, ulong count, then for each request:
//!        ulong length of its body; the body, if it has one, begins at a multiple of 8
//! ```

use std::iter::FusedIterator;

use punctual_cdr::{Block, CdrError, Coding, Decoder, Encoder};

use super::framing::Kind;
use super::messages::{begin_message, finish_message_at, put_operation};
use crate::batch::{Requests, get_body};

/// Minimum size of a request in a batch, in bytes: a request begins with the length of its body, a
/// `u32`.
const MIN_REQUEST: usize = 4;

/// Batch that is being written. After each request it is a whole message except for its size, which
/// [`BatchWriter::finish`] fills in.
#[derive(Debug)]
pub struct BatchWriter<'e> {
    requests: Requests<'e>,
}

impl<'e> BatchWriter<'e> {
    /// Begins a batch of requests to `operation` of the object with this key, at the end of
    /// `block`.
    ///
    /// # Errors
    /// A key or operation beyond the limits.
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
        Ok(Self {
            requests: Requests::begin(out, start),
        })
    }

    /// Adds a request whose body `write` marshals. Has no effect on the batch if that fails.
    /// Nothing in a batch is lent.
    ///
    /// # Errors
    /// Those of `write`; [`CdrError::LengthOverLimit`] at 4 GiB and at the limit on sequences.
    pub fn push(
        &mut self,
        write: impl FnOnce(&mut Encoder<'e>) -> Result<(), CdrError>,
    ) -> Result<(), CdrError> {
        self.requests.push(|_| (), write)
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

/// Batch of GIOPlite requests that was received as one message.
#[derive(Clone, Debug)]
pub struct Batch<'m> {
    /// Object key of the called object.
    pub object_key: &'m [u8],
    /// Name of the called operation, as in IDL.
    pub operation: &'m str,
    /// Bodies of the batched requests, in the order of the requests.
    pub bodies: Bodies<'m>,
}

/// Bodies of a batch: a decoder for each, which reads nothing beyond its own body. All of them are
/// known to be whole.
#[derive(Clone, Debug)]
pub struct Bodies<'m> {
    input: Decoder<'m>,
    left: usize,
}

/// Reads a batch. Returns it only if every body is whole.
///
/// # Errors
/// A [`CdrError`] for a malformed batch: [`CdrError::Truncated`] for a count or a length that goes
/// beyond the message, [`CdrError::Invalid`] for bytes after the last body.
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

impl<'m> Iterator for Bodies<'m> {
    type Item = Decoder<'m>;

    fn next(&mut self) -> Option<Decoder<'m>> {
        self.left = self.left.checked_sub(1)?;
        let body = get_body(&mut self.input).ok()?;
        let (order, coding) = (self.input.order(), *self.input.coding());
        // A body begins at a multiple of 8, so alignment may count from there.
        Some(Decoder::new(body, order, coding))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Bodies<'_> {}
impl FusedIterator for Bodies<'_> {}
