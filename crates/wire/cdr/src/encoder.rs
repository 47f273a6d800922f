//! Encoding of values to bytes.

use std::any::Any;
use std::sync::Arc;

use crate::block::Block;
use crate::bulk::{self, Primitive, Turning};
use crate::code_set::CodeSets;
use crate::coding::Coding;
use crate::error::CdrError;
use crate::lend::{LENT_AT_LEAST, Lender, OneStretch, Segment, SharedCopy};
use crate::order::ByteOrder;
use crate::valuetype::{ColdOption, WrittenValues};

/// Encoder: appends values to a [`Block`] (CORBA 3.3 part 2, §9.3).
///
/// It allocates only when the block has to grow. After an error the block holds part of a value:
/// the caller truncates or drops it.
#[derive(Debug)]
pub struct Encoder<'e> {
    block: Block,
    /// Origin of alignment, as an offset in the block; never beyond its end.
    origin: usize,
    order: ByteOrder,
    coding: Coding<'e>,
    /// Lender that takes large runs out of the message.
    lender: Option<&'e dyn Lender>,
    /// State for writing valuetypes, present once a valuetype has been written.
    values: ColdOption<WrittenValues<'e>>,
}

impl<'e> Encoder<'e> {
    /// Makes an encoder at the end of `block`; alignment counts from the block's start.
    #[inline]
    #[must_use]
    pub fn new(block: Block, order: ByteOrder, coding: Coding<'e>) -> Self {
        Self {
            block,
            origin: 0,
            order,
            coding,
            lender: None,
            values: ColdOption::NONE,
        }
    }

    /// Makes an encoder that continues another's work: at the end of `block`, with alignment
    /// counted from its byte `origin`.
    #[inline]
    #[must_use]
    pub fn resume(block: Block, origin: usize, order: ByteOrder, coding: Coding<'e>) -> Self {
        Self {
            block,
            origin,
            order,
            coding,
            lender: None,
            values: ColdOption::NONE,
        }
    }

    /// Makes an encoder at the end of `block` for a new message; alignment counts from that place.
    /// For messages that share a block.
    #[inline]
    #[must_use]
    pub fn append(block: Block, order: ByteOrder, coding: Coding<'e>) -> Self {
        Self {
            origin: block.len(),
            block,
            order,
            coding,
            lender: None,
            values: ColdOption::NONE,
        }
    }

    /// Returns an encapsulation's bytes, without a length before them: the byte-order octet, and
    /// the output of `content`. Profiles, components and service contexts have this form.
    ///
    /// # Errors
    /// Those of `content`.
    pub fn encapsulated(
        order: ByteOrder,
        coding: Coding<'e>,
        content: impl FnOnce(&mut Encoder<'e>) -> Result<(), CdrError>,
    ) -> Result<Vec<u8>, CdrError> {
        let mut out = Self::new(Block::default(), order, coding);
        out.lender = Some(&OneStretch);
        out.put_u8(order.flag());
        content(&mut out)?;
        Ok(out.block.into_vec())
    }

    /// Returns the offset in the block of the next byte, as [`Encoder::patch_u32`] takes it.
    #[inline]
    #[must_use]
    pub fn position(&self) -> usize {
        self.block.len()
    }

    /// Sets the lender for large runs of bytes and primitive values in native order written from
    /// now on.
    #[inline]
    pub fn set_lender(&mut self, lender: Option<&'e dyn Lender>) {
        self.lender = lender;
    }

    /// Removes the lender of memory from the encoder, and returns it.
    pub(crate) fn take_lender(&mut self) -> Option<&'e dyn Lender> {
        self.lender.take()
    }

    /// Returns the state of valuetypes, and makes it where there is none.
    pub(crate) fn written(&mut self) -> &mut WrittenValues<'e> {
        self.values.get_or_insert_default()
    }

    /// Returns the state of valuetypes, if there is any.
    pub(crate) fn written_if_any(&mut self) -> Option<&mut WrittenValues<'e>> {
        self.values.as_deref_mut()
    }

    /// Returns whether the next data belongs to a value whose state is in chunks. A value written
    /// there stands between two chunks.
    #[must_use]
    pub fn is_in_chunks(&self) -> bool {
        let values = self.values.as_ref();
        values.is_some_and(|values| values.is_in_chunks())
    }

    /// Returns the writing position, from which distances within a message are computed; lent bytes
    /// are counted.
    pub(crate) fn place(&self) -> usize {
        self.block.len().wrapping_sub(self.origin)
    }

    /// Returns the byte order in which numbers are written.
    #[inline]
    #[must_use]
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Returns the parameters of the encoding other than the byte order.
    #[inline]
    #[must_use]
    pub fn coding(&self) -> &Coding<'e> {
        &self.coding
    }

    /// Returns the environment, if there is one of type `T`.
    #[inline]
    #[must_use]
    pub fn environment<T: Any>(&self) -> Option<&'e T> {
        self.coding.environment()
    }

    /// Changes the code sets for the text that follows, for example after a message header.
    #[inline]
    pub fn set_code_sets(&mut self, code_sets: CodeSets) {
        self.coding.code_sets = code_sets;
    }

    /// Returns the block: its earlier contents, followed by everything written so far.
    #[inline]
    #[must_use]
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// Returns the block, to be changed in place. Everything before the alignment origin must stay.
    #[inline]
    #[must_use]
    pub fn block_mut(&mut self) -> &mut Block {
        &mut self.block
    }

    /// Ends encoding; returns the block with the encoded bytes.
    #[inline]
    #[must_use]
    pub fn into_block(self) -> Block {
        self.block
    }

    /// Ends encoding, and puts the block back where [`std::mem::take`] took it from.
    #[inline]
    pub fn put_back(self, place: &mut Block) {
        let Self { block, values, .. } = self;
        place.put_back(block);
        drop(values);
    }

    /// Pads with zeroes up to a multiple of `boundary`, a power of two, from the origin.
    #[inline]
    pub fn align(&mut self, boundary: usize) {
        debug_assert!(boundary.is_power_of_two(), "boundaries are powers of two");
        let padding = self.padding(boundary);
        if padding != 0 {
            self.pad(padding);
        }
    }

    /// Returns the number of padding bytes up to a multiple of `boundary`, a power of two, from the
    /// origin.
    #[inline]
    #[must_use]
    pub fn padding(&self, boundary: usize) -> usize {
        self.origin.wrapping_sub(self.block.len()) & boundary.wrapping_sub(1)
    }

    #[inline]
    fn pad(&mut self, padding: usize) {
        let end = self.block.len() + padding;
        if padding < 8 {
            // A store of fixed size is cheaper than a fill of a size known only at run time.
            self.block.extend_from_slice(&[0; 8]);
            self.block.truncate(end);
        } else {
            self.block.resize(end, 0);
        }
    }

    #[inline]
    fn put_aligned<const N: usize>(&mut self, octets: [u8; N]) {
        self.align(N);
        self.block.extend_from_slice(&octets);
    }

    /// Writes a boolean as one octet, 0 or 1.
    #[inline]
    pub fn put_bool(&mut self, value: bool) {
        self.block.push(u8::from(value));
    }

    /// Writes an octet.
    #[inline]
    pub fn put_u8(&mut self, value: u8) {
        self.block.push(value);
    }

    /// Writes a signed octet (IDL `int8`).
    #[inline]
    pub fn put_i8(&mut self, value: i8) {
        self.block.push(value.cast_unsigned());
    }

    /// Writes bytes as they are, without a length.
    #[inline]
    pub fn put_bytes(&mut self, octets: &[u8]) {
        self.block.extend_from_slice(octets);
    }

    /// Writes a `sequence<octet>`: its length, then the octets.
    ///
    /// # Errors
    /// [`CdrError::LengthOverLimit`].
    #[inline]
    pub fn put_octets(&mut self, octets: &[u8]) -> Result<(), CdrError> {
        self.put_length(octets.len())?;
        self.put_long(octets);
        Ok(())
    }

    /// Writes a `sequence<octet>` as [`Encoder::put_octets`] does, which goes into other messages as
    /// well: where it is lent, from the one copy that `copy` has of it, if there is memory for that.
    /// The octets have to be the same each time.
    ///
    /// # Errors
    /// [`CdrError::LengthOverLimit`].
    pub fn put_shared_octets(&mut self, octets: &[u8], copy: &SharedCopy) -> Result<(), CdrError> {
        self.put_length(octets.len())?;
        match self.lender_of(octets.len()) {
            Some(lender) => self.put_long(copy.of(octets, lender)),
            None => self.put_long(octets),
        }
        Ok(())
    }

    /// Returns whether the message offers a run of so many bytes to a lender instead of copying it.
    #[must_use]
    pub fn lends_runs_of(&self, length: usize) -> bool {
        self.lender_of(length).is_some()
    }

    /// Returns the lender, if a run of so many bytes is offered to it.
    fn lender_of(&self, length: usize) -> Option<&'e dyn Lender> {
        let lender = self.lender.filter(|_| length >= LENT_AT_LEAST);
        lender.filter(|lender| length >= lender.threshold())
    }

    /// Writes the length of a sequence.
    ///
    /// # Errors
    /// [`CdrError::LengthOverLimit`] if it exceeds the limit on sequences or 32 bits.
    #[inline]
    pub fn put_length(&mut self, length: usize) -> Result<(), CdrError> {
        let limit = self.coding.limits.sequence;
        match u32::try_from(length) {
            Ok(encoded) if length <= limit => {
                self.put_u32(encoded);
                Ok(())
            }
            _ => Err(CdrError::over_limit(length, limit)),
        }
    }

    /// Writes an encapsulation (§9.3.3): its length, its byte-order octet, and what `content`
    /// writes, aligned from that octet on.
    ///
    /// # Errors
    /// Those of `content`, and [`CdrError::LengthOverLimit`] above 4 GiB.
    pub fn encapsulation(
        &mut self,
        content: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Result<(), CdrError> {
        self.put_u32(0);
        let start = self.position();
        let outer = std::mem::replace(&mut self.origin, start);
        // An encapsulation is read as one contiguous stretch.
        let lender = self.lender.replace(&OneStretch);
        // It shares no values with the data around it either.
        let values = self.values.take();
        self.put_u8(self.order.flag());
        let result = content(self);
        *self.values = values;
        self.lender = lender;
        self.origin = outer;
        result?;
        let length = self.position() - start;
        let Ok(encoded) = u32::try_from(length) else {
            return Err(CdrError::over_limit(length, usize::MAX));
        };
        self.patch_u32(start - 4, encoded);
        Ok(())
    }

    /// Overwrites the four bytes at offset `at` of the block with `value` in this encoder's byte
    /// order. Does nothing if they are not written yet.
    #[inline]
    pub fn patch_u32(&mut self, at: usize, value: u32) {
        let octets = match self.order {
            ByteOrder::Big => value.to_be_bytes(),
            ByteOrder::Little => value.to_le_bytes(),
        };
        let place = self
            .block
            .as_mut_slice()
            .get_mut(at..)
            .and_then(<[u8]>::first_chunk_mut);
        debug_assert!(place.is_some(), "a patch lies within what is written");
        if let Some(place) = place {
            *place = octets;
        }
    }

    /// Writes the elements of an array or sequence of primitive values, without a length.
    #[inline]
    pub(crate) fn put_run<T: Primitive>(&mut self, values: &[T]) {
        if values.is_empty() {
            return;
        }
        self.align(T::SIZE);
        match T::turning(self.order) {
            Turning::Straight => self.put_long(bulk::octets_of(values)),
            turning @ Turning::Reversed => {
                bulk::append(self.block.as_mut_vec(), values, turning);
            }
        }
    }

    #[inline]
    fn put_long(&mut self, octets: &[u8]) {
        if octets.len() < LENT_AT_LEAST || !self.lends(octets) {
            self.block.extend_from_slice(octets);
        }
    }

    /// Lends the bytes if there is a lender that takes them; returns whether it did.
    fn lends(&mut self, octets: &[u8]) -> bool {
        let Some(lender) = self
            .lender
            .filter(|lender| octets.len() >= lender.threshold())
        else {
            return false;
        };
        if !lender.leaves_out(octets, self.block.len()) {
            let Some(segment) = lender.lend(octets) else {
                return false;
            };
            self.block.attach(segment);
        }
        // Later data is aligned as if the bytes were here.
        self.origin = self.origin.wrapping_sub(octets.len());
        true
    }

    /// Returns whether runs may stand beside the block that are not of a lender.
    pub(crate) fn takes_segments(&self) -> bool {
        self.lender.is_none() && !self.is_in_chunks()
    }

    /// Writes the bytes of a segment, which stands beside the block.
    pub(crate) fn attach(&mut self, segment: Arc<dyn Segment>) {
        // Later data is aligned as if the bytes were here.
        self.origin = self.origin.wrapping_sub(segment.len());
        self.block.attach(segment);
    }

    /// Makes room for `octets` more bytes at once, where the size is known in advance.
    pub fn reserve(&mut self, octets: usize) {
        self.block.reserve(octets);
    }
}

macro_rules! put_numbers {
    ($($name:ident $number:ty, $what:literal;)*) => {
        impl Encoder<'_> {$(
            #[doc = concat!("Writes ", $what, ", aligned to its size.")]
            #[inline]
            pub fn $name(&mut self, value: $number) {
                self.put_aligned(match self.order {
                    ByteOrder::Big => value.to_be_bytes(),
                    ByteOrder::Little => value.to_le_bytes(),
                });
            }
        )*}
    };
}

put_numbers! {
    put_u16 u16, "an `unsigned short`";
    put_i16 i16, "a `short`";
    put_u32 u32, "an `unsigned long`";
    put_i32 i32, "a `long`";
    put_u64 u64, "an `unsigned long long`";
    put_i64 i64, "a `long long`";
    put_f32 f32, "a `float`, bit for bit";
    put_f64 f64, "a `double`, bit for bit";
}
