//! Chunks of a value's state: their ends, and what may follow.
//!
//! A chunk's end is the end of the bytes that the decoder sees, like a fragment's. A read beyond it
//! reaches [`Decoder::cross_chunk`], and continues in the next chunk of the same value.

use super::tag::{FIRST_TAG, INDIRECTION, NULL, ValueTag};
use crate::decoder::Decoder;
use crate::error::CdrError;

impl Decoder<'_> {
    /// Reads the number that stands where a value is expected. Null and indirections may stand in a
    /// chunk, where they belong, or between chunks.
    pub(super) fn get_value_tag(&mut self) -> Result<u32, CdrError> {
        if self.chunk_end().is_none() || self.is_in_chunk(4) {
            let number = self.get_u32()?;
            if self.chunk_end().is_some() && !matches!(number, NULL | INDIRECTION) {
                return Err(CdrError::Invalid("a value begins within a chunk"));
            }
            return Ok(number);
        }
        let left = self.left_in_chunk();
        if left > self.padding(4) {
            return Err(CdrError::Invalid("a chunk ends within a value"));
        }
        self.skip(left)?;
        self.check_level()?;
        let number = self.get_between_chunks()?;
        if number == NULL || ValueTag::is_tag(number) {
            return Ok(number);
        }
        // Between chunks the number of an indirection means an end tag.
        self.enter_chunk(number)?;
        if !self.is_in_chunk(4) {
            return Err(CdrError::Invalid("a chunk ends within a value"));
        }
        self.get_value_tag()
    }

    /// Begins the state of a chunked value and returns its level.
    pub(super) fn begin_chunked(&mut self) -> Result<u32, CdrError> {
        let position = self.position();
        let values = self.values();
        let level = values.level.saturating_add(1);
        values.level = level;
        values.chunk_end = Some(position);
        self.update_end();
        Ok(level)
    }

    /// Resumes the state of the value at that level, or unchunked data for level 0.
    pub(super) fn resume_state(&mut self, level: u32) {
        let position = self.position();
        let values = self.values();
        values.reading = level;
        if values.level < level {
            // The value ended together with one that it held: reading more of it is an error.
            values.chunk_end = Some(position);
            self.update_end();
        }
    }

    /// Ends a chunked value: skips its end tag, unless the end tag of an inner value ended it, too.
    ///
    /// # Errors
    /// [`CdrError::Invalid`] if more of the state follows, unless `is_cut` is set, and for end tags
    /// that do not fit.
    pub(super) fn end_chunked(&mut self, level: u32, is_cut: bool) -> Result<(), CdrError> {
        while self.values().level >= level {
            let left = self.left_in_chunk();
            if left > 0 && !is_cut {
                return Err(CdrError::Invalid(
                    "a chunk is longer than the value's state",
                ));
            }
            self.skip(left)?;
            let number = self.get_between_chunks()?;
            if number >= 1 << 31 {
                self.close_to(number)?;
            } else if !is_cut {
                return Err(CdrError::Invalid("unexpected data behind a value's state"));
            } else if ValueTag::is_tag(number) {
                self.pass_over_header(number)?;
            } else if number != NULL {
                self.enter_chunk(number)?;
            }
        }
        self.leave_chunk();
        Ok(())
    }

    /// Prepares to read on after a value, in the innermost open value, if there is one.
    fn leave_chunk(&mut self) {
        let position = self.position();
        let values = self.values();
        values.chunk_end = (values.level > 0).then_some(position);
        self.update_end();
    }

    /// Skips the header of a value within skipped data.
    fn pass_over_header(&mut self, number: u32) -> Result<(), CdrError> {
        let tag = ValueTag::parse(number)?;
        if !tag.is_chunked {
            return Err(CdrError::Invalid(
                "a value within a chunked one is not chunked",
            ));
        }
        self.get_value_header(tag)?;
        self.begin_chunked().map(drop)
    }

    /// Processes an end tag: all values down to that level have ended.
    fn close_to(&mut self, tag: u32) -> Result<(), CdrError> {
        let values = self.values();
        let ended = tag.wrapping_neg();
        if ended == 0 || ended > values.level {
            return Err(CdrError::Invalid("end tag without an open value"));
        }
        values.level = ended - 1;
        self.leave_chunk();
        Ok(())
    }

    /// Reads a number that stands outside of chunks; the data after it is outside, too.
    fn get_between_chunks(&mut self) -> Result<u32, CdrError> {
        self.values().chunk_end = None;
        self.update_end();
        let number = self.get_u32()?;
        let position = self.position();
        if number >= FIRST_TAG {
            // An end tag or a header, which is outside of chunks.
            return Ok(number);
        }
        self.values().chunk_end = Some(position);
        self.update_end();
        Ok(number)
    }

    /// Begins reading a chunk of a chunked value, with the given size in bytes.
    fn enter_chunk(&mut self, size: u32) -> Result<(), CdrError> {
        if size == 0 || size >= FIRST_TAG {
            return Err(CdrError::Invalid("a chunk has no size"));
        }
        let size = size as usize;
        let left = self.rest().len();
        if size > left {
            return Err(CdrError::truncated(size, left));
        }
        let end = self.position() + size;
        self.values().chunk_end = Some(end);
        self.update_end();
        Ok(())
    }

    /// Moves on to the next chunk, if the current one has ended, or has only padding up to a
    /// multiple of `boundary` left. Returns whether it did.
    ///
    /// # Errors
    /// [`CdrError::Invalid`] if the value ends here, or another begins.
    #[cold]
    pub(crate) fn cross_chunk(&mut self, boundary: usize) -> Result<bool, CdrError> {
        let left = self.left_in_chunk();
        if self.chunk_end().is_none() || left > self.padding(boundary) {
            return Ok(false);
        }
        self.skip(left)?;
        self.check_level()?;
        let number = self.get_between_chunks()?;
        self.enter_chunk(number)?;
        Ok(true)
    }

    /// Checks that the value being read has not ended together with one that it held.
    fn check_level(&mut self) -> Result<(), CdrError> {
        let values = self.values();
        if values.level == values.reading {
            Ok(())
        } else {
            Err(CdrError::Invalid("a value ends before its state does"))
        }
    }

    /// Returns the number of bytes left in the open chunk.
    fn left_in_chunk(&self) -> usize {
        let end = self.chunk_end().unwrap_or_default();
        end.saturating_sub(self.position())
    }

    /// Returns whether the open chunk has `count` more bytes after padding to a multiple of
    /// `count`.
    fn is_in_chunk(&self, count: usize) -> bool {
        let end = self.chunk_end().unwrap_or_default();
        self.position() + self.padding(count) + count <= end
    }
}
