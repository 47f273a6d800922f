//! Interruptions of the bytes that a decoder sees: seams between fragments, runs that are lent
//! beside a message, chunks of values. Also looking ahead across all of them.

use super::{BEHIND_HEADER, Decoder, MAX_ALIGNMENT};
use crate::error::CdrError;
use crate::lend::Lent;
use crate::order::ByteOrder;
use crate::valuetype::ReadValues;

impl<'d> Decoder<'d> {
    /// Crosses each seam that has only padding before it: an aligned value is then the first one
    /// after the seam. A peer may send as many seams as messages may have fragments, so this is a
    /// loop.
    pub(super) fn cross_padding(&mut self, boundary: usize) {
        while !self.seams.is_empty() && self.bytes.len() - self.at <= self.padding(boundary) {
            self.at = self.bytes.len();
            self.cross_seams();
        }
    }

    /// Moves on to the part of `whole` that holds the byte at the current position, which may lie
    /// beyond the end of `bytes`. Crosses at least one seam if one lies there.
    #[cold]
    pub(super) fn cross_seams(&mut self) {
        let position = self.position();
        while let Some((seam, later)) = self.seams.split_first() {
            if *seam > position {
                break;
            }
            self.base = seam.saturating_sub(BEHIND_HEADER);
            self.seams = later;
        }
        if position >= self.whole.len() {
            self.seams = &[];
        }
        self.at = position - self.base;
        self.end_at_seam();
    }

    pub(super) fn end_at_seam(&mut self) {
        let seam = self.seams.first().copied();
        let end = seam
            .or(self.lent.first().map(|lent| lent.at))
            .unwrap_or(self.whole.len());
        let end = self.chunk_end().map_or(end, |chunk_end| end.min(chunk_end));
        let part = self.whole.get(self.base..end.min(self.whole.len()));
        self.bytes = part.unwrap_or_default();
    }

    /// Returns the state of valuetypes, and makes it where there is none.
    pub(crate) fn values(&mut self) -> &mut ReadValues<'d> {
        self.values.get_or_insert_default()
    }

    /// Returns the state of valuetypes, if any has been read.
    pub(crate) fn read_values(&self) -> Option<&ReadValues<'d>> {
        self.values.as_deref()
    }

    /// Returns the end of the current chunk of a value's state, as an offset in all bytes.
    pub(crate) fn chunk_end(&self) -> Option<usize> {
        self.values.as_ref().and_then(|values| values.chunk_end)
    }

    /// Recomputes how far the bytes can be read from here without an interruption.
    pub(crate) fn update_end(&mut self) {
        self.end_at_seam();
    }

    /// Returns the reading position, from which distances within a message are computed; lent bytes
    /// are counted.
    pub(crate) fn place(&self) -> usize {
        (usize::MAX >> 1) - self.remaining()
    }

    /// Returns the next `unsigned long` without consuming it, if it is there. Allocates only where
    /// it is interrupted within a chunk of a value.
    #[inline]
    #[must_use]
    pub fn peek_u32(&mut self) -> Option<u32> {
        let seen = self.bytes.get(self.at + self.padding(4)..);
        match seen.and_then(<[u8]>::first_chunk) {
            Some(octets) => Some(match self.order {
                ByteOrder::Big => u32::from_be_bytes(*octets),
                ByteOrder::Little => u32::from_le_bytes(*octets),
            }),
            None => self.ahead().get_u32().ok(),
        }
    }

    /// Returns a decoder at this position, for looking ahead. It knows none of the values that were
    /// read before, which may be many, so that this costs the same everywhere: nothing, except
    /// within a chunk of a value, where it allocates.
    #[inline]
    #[must_use]
    pub fn ahead(&mut self) -> Self {
        let values = self.values.take();
        let mut ahead = self.clone();
        *ahead.values = values.as_ref().and_then(|values| values.chunk_alone());
        *self.values = values;
        ahead
    }

    /// Moves on to the position of a decoder that [`Decoder::ahead`] made of this one.
    #[inline]
    pub fn catch_up(&mut self, mut ahead: Self) {
        if let Some(mut known) = self.values.take() {
            if let Some(values) = ahead.values.as_ref() {
                known.chunk_end = values.chunk_end;
            }
            *ahead.values = Some(known);
        }
        *self = ahead;
    }

    #[cold]
    pub(super) fn get_bytes_across_seams(&mut self, count: usize) -> Result<&'d [u8], CdrError> {
        if self.chunk_end().is_some() {
            self.cross_chunk(1)?;
            let left = self.chunk_end().unwrap_or_default() - self.position();
            if count > left {
                return Err(CdrError::truncated(count, left));
            }
            if let Some(octets) = self.unbroken().get(..count) {
                self.at += count;
                return Ok(octets);
            }
        }
        if !self.lent.is_empty() {
            return self.get_lent(count);
        }
        let octets = self
            .rest()
            .get(..count)
            .ok_or_else(|| CdrError::truncated(count, self.remaining()))?;
        self.at += count;
        self.cross_seams();
        Ok(octets)
    }

    /// Reads a lent run of exactly `count` bytes, which belongs at this position but is kept
    /// outside of the message; as a copy, since the reader may check it.
    fn get_lent(&mut self, count: usize) -> Result<&'d [u8], CdrError> {
        let segment = &self.step_over(count)?.segment;
        Ok(segment.as_slice())
    }

    /// Reads as [`Decoder::get_bytes_across_seams`] does, where any bytes are valid: a lent run may
    /// be viewed where it lies.
    #[cold]
    pub(super) fn view_across_seams(&mut self, count: usize) -> Result<&'d [u8], CdrError> {
        if self.is_lent(count) {
            return Ok(self.step_over(count)?.segment.view());
        }
        self.get_bytes_across_seams(count)
    }

    /// Skips bytes; a lent run is not copied for that.
    #[cold]
    pub(super) fn skip_across_seams(&mut self, count: usize) -> Result<(), CdrError> {
        if self.is_lent(count) {
            return self.step_over(count).map(drop);
        }
        self.get_bytes_across_seams(count).map(drop)
    }

    /// Skips the lent run of `count` bytes that belongs at this position but is kept outside of the
    /// message. The data after it is aligned as if its bytes had been in place.
    pub(super) fn step_over(&mut self, count: usize) -> Result<&'d Lent, CdrError> {
        let position = self.position();
        match self.lent.split_first() {
            Some((lent, later)) if lent.at == position && lent.segment.len() == count => {
                let phase = self.at.wrapping_add(count) % MAX_ALIGNMENT;
                // Alignment continues from bytes before the run: with too few of them, later data
                // would be misread.
                let base = position.checked_sub(phase);
                self.base = base.ok_or(CdrError::LentElsewhere)?;
                self.at = position - self.base;
                self.lent = later;
                self.ahead -= count;
                self.end_at_seam();
                Ok(lent)
            }
            _ if count <= self.remaining() => Err(CdrError::LentElsewhere),
            _ => Err(CdrError::truncated(count, self.remaining())),
        }
    }

    /// Returns whether a lent run of `count` bytes belongs at this position. `false` in a chunk of
    /// a value, since chunks contain no lent runs.
    #[inline]
    pub(super) fn is_lent(&self, count: usize) -> bool {
        let first = self.lent.first();
        first.is_some_and(|lent| lent.at == self.position() && lent.segment.len() == count)
            && self.chunk_end().is_none()
    }
}
