//! Decoding of bytes to values.
//!
//! This file has the decoder's position and alignment; `numbers` reads numbers, `runs` many of them
//! at once, and `interruptions` crosses whatever stands between the bytes.

mod interruptions;
mod numbers;
mod runs;

use std::any::Any;

use crate::code_set::CodeSets;
use crate::coding::{Coding, Environment};
use crate::error::CdrError;
use crate::lend::Lent;
use crate::order::ByteOrder;
use crate::valuetype::{ColdOption, ReadValues};

/// Decoder: reads values from a slice (CORBA 3.3 part 2, §9.3).
///
/// No input makes it panic. It allocates only for what it returns as owned. After an error its
/// position is unspecified.
#[derive(Clone, Debug)]
pub struct Decoder<'d> {
    /// Bytes being read: all there are, or the part of `whole` up to the next seam. The first byte
    /// counts as a multiple of 8 for alignment.
    bytes: &'d [u8],
    /// Current position in `bytes`, which never exceeds their length.
    at: usize,
    /// Offset of `bytes` in `whole`.
    base: usize,
    whole: &'d [u8],
    /// Offsets in `whole`, not yet reached, at which alignment restarts.
    seams: &'d [usize],
    /// Lent runs (bytes kept outside of the message) that belong between the bytes, from the
    /// position on.
    lent: &'d [Lent],
    /// Number of bytes of the lent runs, kept outside of the message, that are still ahead.
    ahead: usize,
    order: ByteOrder,
    /// Nesting depth of the recursive values being read.
    depth: u16,
    /// Number of bytes read again, since something referred back to them.
    again: usize,
    coding: Coding<'d>,
    /// State for reading valuetypes, present once a valuetype has been read.
    values: ColdOption<ReadValues<'d>>,
}

/// Alignment offset of the first byte after a fragment's header: 12 bytes into a message, modulo
/// 8.
const BEHIND_HEADER: usize = 4;

/// Largest alignment of any primitive value, in bytes.
const MAX_ALIGNMENT: usize = 8;

/// Factor that bounds how many bytes may be read again, relative to the message's length. The
/// constant below is the least bound, for short messages.
const MAX_REREAD_FACTOR: usize = 14;
const AGAIN_AT_LEAST: usize = 64 * 1024;

impl<'d> Decoder<'d> {
    /// Makes a decoder at the start of `bytes`, from which alignment counts.
    #[inline]
    #[must_use]
    pub fn new(bytes: &'d [u8], order: ByteOrder, coding: Coding<'d>) -> Self {
        Self {
            bytes,
            at: 0,
            base: 0,
            whole: bytes,
            seams: &[],
            lent: &[],
            ahead: 0,
            order,
            depth: 0,
            again: 0,
            coding,
            values: ColdOption::NONE,
        }
    }

    /// Makes a decoder at offset `at` of `bytes`, from the start of which alignment counts; at
    /// their end, if that is less.
    #[inline]
    #[must_use]
    pub fn at(bytes: &'d [u8], at: usize, order: ByteOrder, coding: Coding<'d>) -> Self {
        Self {
            at: at.min(bytes.len()),
            ..Self::new(bytes, order, coding)
        }
    }

    /// Makes a decoder of a fragmented GIOP 1.1 message that was put together in `bytes`. In that
    /// version each fragment counts as a message of its own for alignment: from each of `seams`,
    /// ascending offsets at which another fragment begins, alignment counts as though a header of
    /// 12 bytes stood there. An array or a string continues across a seam.
    #[must_use]
    pub fn with_seams(
        bytes: &'d [u8],
        seams: &'d [usize],
        order: ByteOrder,
        coding: Coding<'d>,
    ) -> Self {
        let mut this = Self::new(bytes, order, coding);
        this.seams = seams;
        this.end_at_seam();
        this
    }

    /// Makes a decoder of bytes between which lent runs belong, which are kept outside of them.
    /// Such a run is read as a whole, by what reads runs of octets or primitive values. Only views
    /// of a sequence of octets or numbers show it where it lies
    /// ([`Segment::view`](crate::Segment::view)); everything else sees a copy that never changes.
    ///
    /// At least eight bytes have to stand before a run, such as those of a message's header: with
    /// fewer, some runs are refused ([`CdrError::LentElsewhere`]), since the bytes after them
    /// could not be aligned.
    #[must_use]
    pub fn with_lent(
        bytes: &'d [u8],
        lent: &'d [Lent],
        order: ByteOrder,
        coding: Coding<'d>,
    ) -> Self {
        let mut this = Self::new(bytes, order, coding);
        this.lent = lent;
        this.ahead = lent.iter().map(|lent| lent.segment.len()).sum();
        this.end_at_seam();
        this
    }

    /// Makes a decoder of an encapsulation (§9.3.3), positioned after its byte-order octet.
    /// Profiles, components and service contexts have this form.
    ///
    /// # Errors
    /// [`CdrError::BadEncapsulation`] if there is no byte-order octet, or it is neither 0 nor 1.
    #[inline]
    pub fn of_encapsulation(bytes: &'d [u8], coding: Coding<'d>) -> Result<Self, CdrError> {
        match bytes.first() {
            Some(&flag @ 0..=1) => Ok(Self {
                at: 1,
                ..Self::new(bytes, ByteOrder::from_flag(flag), coding)
            }),
            _ => Err(CdrError::BadEncapsulation),
        }
    }

    /// Returns the offset of the next byte to be read.
    #[inline]
    #[must_use]
    pub fn position(&self) -> usize {
        self.base + self.at
    }

    /// Returns the number of bytes that have not been read yet.
    #[inline]
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.whole.len() - self.position() + self.ahead
    }

    /// Returns the bytes that have not been read yet.
    #[inline]
    #[must_use]
    pub fn rest(&self) -> &'d [u8] {
        self.whole.get(self.position()..).unwrap_or_default()
    }

    /// Returns a decoder of the same bytes at offset `at`, for references back to earlier data.
    /// `None` if `at` is not before this one's position, or the bytes between are interrupted.
    #[must_use]
    pub fn earlier(&self, at: usize) -> Option<Self> {
        let is_whole = self.base == 0 && at < self.at;
        is_whole.then(|| Self {
            at,
            values: ColdOption::NONE,
            ..*self
        })
    }

    /// Counts bytes that are read again ([`Decoder::earlier`]), or written again for each value
    /// that refers to them, so that a short message cannot cause long work.
    ///
    /// # Errors
    /// [`CdrError::ReadAgain`] when they are more than 14 times as many as the message has, and
    /// more than 64 KiB.
    pub fn read_again(&mut self, octets: usize) -> Result<(), CdrError> {
        self.again = self.again.saturating_add(octets);
        let limit = self
            .whole
            .len()
            .saturating_mul(MAX_REREAD_FACTOR)
            .max(AGAIN_AT_LEAST);
        match self.again > limit {
            true => Err(CdrError::ReadAgain {
                again: self.again,
                limit,
            }),
            false => Ok(()),
        }
    }

    /// Continues with the count of bytes read again of another decoder of the same bytes; see
    /// [`Decoder::read_again`].
    pub fn take_count_of(&mut self, by: &Self) {
        self.again = by.again;
    }

    /// Returns the byte order in which numbers are read.
    #[inline]
    #[must_use]
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Returns the parameters of the encoding other than the byte order.
    #[inline]
    #[must_use]
    pub fn coding(&self) -> &Coding<'d> {
        &self.coding
    }

    /// Returns the environment, if there is one of type `T`.
    #[inline]
    #[must_use]
    pub fn environment<T: Any>(&self) -> Option<&'d T> {
        self.coding.environment()
    }

    /// Changes the code sets for the text that follows, for example after a message header.
    #[inline]
    pub fn set_code_sets(&mut self, code_sets: CodeSets) {
        self.coding.code_sets = code_sets;
    }

    /// Changes the environment for decoding the values that follow.
    #[inline]
    pub fn set_environment(&mut self, environment: &'d dyn Environment) {
        self.coding.environment = Some(environment);
    }

    /// Skips `count` bytes.
    ///
    /// # Errors
    /// [`CdrError::Truncated`].
    #[inline]
    pub fn skip(&mut self, count: usize) -> Result<(), CdrError> {
        if count <= self.bytes.len() - self.at {
            self.at += count;
            return Ok(());
        }
        self.skip_across_seams(count)
    }

    /// Skips padding up to a multiple of `boundary`, a power of two, from the origin. The padding's
    /// contents are ignored (§9.3.1: they are undefined).
    ///
    /// # Errors
    /// [`CdrError::Truncated`].
    #[inline]
    pub fn align(&mut self, boundary: usize) -> Result<(), CdrError> {
        debug_assert!(boundary.is_power_of_two(), "boundaries are powers of two");
        let padding = self.padding(boundary);
        if padding < self.bytes.len() - self.at {
            self.at += padding;
            return Ok(());
        }
        self.align_at_end(boundary)
    }

    /// Aligns as [`Decoder::align`] does, where `bytes` ends before the aligned value begins.
    #[cold]
    fn align_at_end(&mut self, boundary: usize) -> Result<(), CdrError> {
        // A boundary of 1 needs no padding, and a value of no bytes may stand where a valuetype's
        // state ends; the next read crosses to the next chunk itself.
        if boundary == 1 {
            return Ok(());
        }
        self.cross_padding(boundary);
        if self.cross_chunk(boundary)? {
            self.cross_padding(boundary);
        }
        self.skip(self.padding(boundary))
    }

    /// Returns the number of padding bytes up to a multiple of `boundary`, a power of two up to 8.
    #[inline]
    #[must_use]
    pub fn padding(&self, boundary: usize) -> usize {
        self.at.wrapping_neg() & boundary.wrapping_sub(1)
    }

    /// Returns the bytes up to the next interruption: a seam, a lent run, the end.
    #[inline]
    #[must_use]
    pub fn unbroken(&self) -> &'d [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Reads `count` bytes as they are, without a copy except of a lent run.
    ///
    /// # Errors
    /// [`CdrError::Truncated`].
    #[inline]
    pub fn get_bytes(&mut self, count: usize) -> Result<&'d [u8], CdrError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        match rest.get(..count) {
            Some(octets) => {
                self.at += count;
                Ok(octets)
            }
            None => self.get_bytes_across_seams(count),
        }
    }

    /// Reads a `sequence<octet>`, without a copy except of a lent run, which
    /// [`unmarshal_slice`](crate::unmarshal_slice) may show where it lies.
    ///
    /// # Errors
    /// [`CdrError::Truncated`] and [`CdrError::LengthOverLimit`].
    #[inline]
    pub fn get_octets(&mut self) -> Result<&'d [u8], CdrError> {
        let length = self.get_length(1)?;
        self.get_bytes(length)
    }

    /// Reads the length of a sequence whose elements take `min_element_size` bytes at least (0
    /// counts as 1). A length that the bytes left cannot hold is refused, so the caller may
    /// allocate in proportion to it.
    ///
    /// # Errors
    /// [`CdrError::LengthOverLimit`] and [`CdrError::Truncated`].
    #[inline]
    pub fn get_length(&mut self, min_element_size: usize) -> Result<usize, CdrError> {
        let length = self.get_u32()? as usize;
        let limit = self.coding.limits.sequence;
        if length > limit {
            return Err(CdrError::over_limit(length, limit));
        }
        let needed = length.saturating_mul(min_element_size.max(1));
        if needed > self.remaining() {
            return Err(CdrError::truncated(needed, self.remaining()));
        }
        Ok(length)
    }

    /// Reads an encapsulation (§9.3.3): its length, and a decoder of its own for its content, with
    /// its byte order and alignment from its start.
    ///
    /// # Errors
    /// Those of [`Decoder::get_octets`] and [`Decoder::of_encapsulation`].
    pub fn encapsulation(&mut self) -> Result<Decoder<'d>, CdrError> {
        let octets = self.get_octets()?;
        let mut content = Self::of_encapsulation(octets, self.coding)?;
        content.depth = self.depth;
        Ok(content)
    }

    /// Reads one level of a recursive value.
    ///
    /// # Errors
    /// [`CdrError::TooDeep`] if the limit on nesting is reached, and those of `read`.
    #[inline]
    pub fn nested<R>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<R, CdrError>,
    ) -> Result<R, CdrError> {
        let limit = self.coding.limits.nesting;
        if self.depth >= limit {
            return Err(CdrError::TooDeep { limit });
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }
}
