//! Octets to values.
//!
//! Here is where a decoder stands and what it passes over; `numbers` reads numbers, `runs` many of them at once,
//! and `interruptions` gets over what stands between the octets.

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

/// Reads values from a slice (CORBA 3.3 part 2, §9.3).
///
/// No input makes it panic. It allocates only for what it returns as owned. After an error its
/// position is unspecified.
#[derive(Clone, Debug)]
pub struct Decoder<'d> {
    /// What is read now: all there is, or the part of `whole` up to the next seam. Its first
    /// octet lies at a multiple of 8 as alignment counts.
    bytes: &'d [u8],
    /// Never beyond the end of `bytes`.
    at: usize,
    /// Where `bytes` begins in `whole`.
    base: usize,
    whole: &'d [u8],
    /// Offsets in `whole`, not yet reached, at which alignment starts anew.
    seams: &'d [usize],
    /// Runs that stand between the octets, from here on.
    lent: &'d [Lent],
    /// Octets in those.
    ahead: usize,
    order: ByteOrder,
    /// Levels of recursive values that are being read.
    depth: u16,
    /// Octets that were read again, as something referred back to them.
    again: usize,
    coding: Coding<'d>,
    /// What was read of values, once there is one.
    values: ColdOption<ReadValues<'d>>,
}

/// What a place just behind a fragment's header is to alignment: 12 octets into a message.
const BEHIND_HEADER: usize = 4;

/// No value is aligned to more.
const MAX_ALIGNMENT: usize = 8;

/// How often a message's octets may be read again, all together, and how many of a short one.
const TIMES_AGAIN: usize = 14;
const AGAIN_AT_LEAST: usize = 64 * 1024;

impl<'d> Decoder<'d> {
    /// A decoder at the start of `bytes`, from which alignment counts.
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

    /// A decoder that stands at offset `at` of `bytes`, from the start of which alignment counts; at
    /// their end, if that is less.
    #[inline]
    #[must_use]
    pub fn at(bytes: &'d [u8], at: usize, order: ByteOrder, coding: Coding<'d>) -> Self {
        Self {
            at: at.min(bytes.len()),
            ..Self::new(bytes, order, coding)
        }
    }

    /// A decoder of a fragmented GIOP 1.1 message that was put together in `bytes`. In that
    /// version each fragment is a message of its own to alignment: from each of `seams`,
    /// ascending offsets at which the octets of another fragment begin, it counts as though a
    /// header of 12 octets stood there. An array or a string runs on across a seam.
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

    /// Reads octets that lent runs stand between. Such a run is read as a whole, by what reads runs of octets or
    /// primitive values. Only views of a sequence of octets or numbers show it where it lies
    /// ([`Segment::view`](crate::Segment::view)); everything else sees a copy that nobody changes.
    ///
    /// Before a run stand at least eight octets, as those of a message's header: with fewer, some runs are refused
    /// ([`CdrError::LentElsewhere`]), since what follows them could not be aligned.
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

    /// A decoder of an encapsulation's octets (§9.3.3), which stands behind their byte-order
    /// octet. This is the form of profile, component and service context data.
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

    /// The offset of the next octet.
    #[inline]
    #[must_use]
    pub fn position(&self) -> usize {
        self.base + self.at
    }

    /// How many octets are left.
    #[inline]
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.whole.len() - self.position() + self.ahead
    }

    /// The octets that are left.
    #[inline]
    #[must_use]
    pub fn rest(&self) -> &'d [u8] {
        self.whole.get(self.position()..).unwrap_or_default()
    }

    /// A decoder of the same octets that stands at offset `at`, for what refers back to what was read before.
    /// `None` if that is not before this one's position, or something intervenes.
    #[must_use]
    pub fn earlier(&self, at: usize) -> Option<Self> {
        let is_whole = self.base == 0 && at < self.at;
        is_whole.then(|| Self {
            at,
            values: ColdOption::NONE,
            ..*self
        })
    }

    /// Counts octets that are read again ([`Decoder::earlier`]), or written again for each value that refers to them,
    /// so that a short message is no long work.
    ///
    /// # Errors
    /// [`CdrError::ReadAgain`] when they are more than 14 times as many as the message has, and more than 64 KiB.
    pub fn read_again(&mut self, octets: usize) -> Result<(), CdrError> {
        self.again = self.again.saturating_add(octets);
        let limit = self
            .whole
            .len()
            .saturating_mul(TIMES_AGAIN)
            .max(AGAIN_AT_LEAST);
        match self.again > limit {
            true => Err(CdrError::ReadAgain {
                again: self.again,
                limit,
            }),
            false => Ok(()),
        }
    }

    /// Takes over what a decoder of the same octets has counted.
    pub fn has_read_again(&mut self, by: &Self) {
        self.again = by.again;
    }

    /// The byte order in which numbers are read.
    #[inline]
    #[must_use]
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// What the encoding depends on beside the byte order.
    #[inline]
    #[must_use]
    pub fn coding(&self) -> &Coding<'d> {
        &self.coding
    }

    /// The environment, if there is one of type `T`.
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

    /// Changes the environment for the values that follow.
    #[inline]
    pub fn set_environment(&mut self, environment: &'d dyn Environment) {
        self.coding.environment = Some(environment);
    }

    /// Passes over `count` octets.
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

    /// Passes over padding up to a multiple of `boundary`, a power of two, from the origin. What
    /// the padding holds is not looked at (§9.3.1: it is undefined).
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

    /// As [`Decoder::align`], where `bytes` ends before what is aligned begins.
    #[cold]
    fn align_at_end(&mut self, boundary: usize) -> Result<(), CdrError> {
        // There is no padding to a multiple of 1, and what takes no octets may stand where a value ends: whatever is
        // read next goes on to the next chunk itself.
        if boundary == 1 {
            return Ok(());
        }
        self.cross_padding(boundary);
        if self.cross_chunk(boundary)? {
            self.cross_padding(boundary);
        }
        self.skip(self.padding(boundary))
    }

    /// How many octets of padding there are up to a multiple of `boundary`, a power of two up to 8.
    #[inline]
    #[must_use]
    pub fn padding(&self, boundary: usize) -> usize {
        self.at.wrapping_neg() & boundary.wrapping_sub(1)
    }

    /// The octets up to where something else intervenes: the next seam, a lent run, the end.
    #[inline]
    #[must_use]
    pub fn unbroken(&self) -> &'d [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Reads `count` octets as they are; no copy is made but of a lent run.
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

    /// Reads a `sequence<octet>`; no copy is made but of a lent run, which
    /// [`unmarshal_slice`](crate::unmarshal_slice) may see where it lies.
    ///
    /// # Errors
    /// [`CdrError::Truncated`] and [`CdrError::LengthOverLimit`].
    #[inline]
    pub fn get_octets(&mut self) -> Result<&'d [u8], CdrError> {
        let length = self.get_length(1)?;
        self.get_bytes(length)
    }

    /// Reads the length of a sequence whose elements take `min_element_size` octets at least (0
    /// counts as 1). A length that what is left can't hold is refused, so the caller may
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

    /// Reads an encapsulation (§9.3.3): its length, and a decoder of its own for its content,
    /// with the byte order it says and alignment from its start.
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
