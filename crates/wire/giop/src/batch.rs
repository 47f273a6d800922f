//! Common form of batches of GIOPlite and of frames: a count, and requests whose bodies stand
//! after their lengths.

use punctual_cdr::{Block, CdrError, Decoder, Encoder};

/// Alignment of each body in a batch, the alignment that a request body has.
const BODY_ALIGNMENT: usize = 8;

/// Requests that are being written after their count, which is kept up to date after each of them.
#[derive(Debug)]
pub(crate) struct Requests<'e> {
    out: Encoder<'e>,
    /// Offset at which the message begins in the block.
    start: usize,
    /// Offset at which the number of requests is stored.
    count_at: usize,
    count: u32,
}

impl<'e> Requests<'e> {
    /// Begins an empty list, in a message that begins at offset `start` of its block.
    pub(crate) fn begin(mut out: Encoder<'e>, start: usize) -> Self {
        out.put_u32(0);
        Self {
            start,
            count_at: out.position() - 4,
            count: 0,
            out,
        }
    }

    /// Adds a request: the output of `head`, then the body that `write` marshals. Has no effect if
    /// that fails.
    ///
    /// # Errors
    /// Those of `write`; [`CdrError::LengthOverLimit`] at 4 GiB and at the limit on sequences.
    pub(crate) fn push(
        &mut self,
        head: impl FnOnce(&mut Encoder<'e>),
        write: impl FnOnce(&mut Encoder<'e>) -> Result<(), CdrError>,
    ) -> Result<(), CdrError> {
        let count = self.one_more()?;
        let before = self.out.position();
        head(&mut self.out);
        let written = put_body(&mut self.out, write);
        match written {
            Ok(()) => {
                self.count = count;
                self.out.patch_u32(self.count_at, count);
            }
            Err(_) => self.out.block_mut().truncate(before),
        }
        written
    }

    fn one_more(&self) -> Result<u32, CdrError> {
        let limit = self.out.coding().limits.sequence;
        let more = self.count.checked_add(1);
        more.filter(|count| *count as usize <= limit)
            .ok_or_else(|| CdrError::LengthOverLimit {
                length: self.count.saturating_add(1),
                limit: u32::try_from(limit).unwrap_or(u32::MAX),
            })
    }

    pub(crate) const fn len(&self) -> usize {
        self.count as usize
    }

    /// Returns the number of bytes of the message so far.
    pub(crate) fn octets(&self) -> usize {
        self.out.position() - self.start
    }

    /// Returns the block, and the offset of the message in it, whose size is not filled in yet.
    pub(crate) fn into_block(self) -> (Block, usize) {
        (self.out.into_block(), self.start)
    }
}

/// Writes the length of a request body, followed by the body.
fn put_body<'e>(
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

/// Reads the length of a request body, followed by the body.
pub(crate) fn get_body<'m>(input: &mut Decoder<'m>) -> Result<&'m [u8], CdrError> {
    // The message's length is the only bound: no limit of the application's applies.
    let length = input.get_u32()? as usize;
    if length == 0 {
        return Ok(&[]);
    }
    input.align(BODY_ALIGNMENT)?;
    input.get_bytes(length)
}
