//! Runs of structs of plain data: copied whole where their layout on the wire is the one in memory.
//!
//! The first struct of a run may begin where its layout differs (see [`Layout`]); it is then
//! transmitted number by number, and the others as one piece. All of them are transmitted number by
//! number where the [`Layout`] never fits, and where a seam or a lent run intervenes.
//!
//! [`Layout`]: crate::Layout

use crate::bulk::{self, PlainData};
use crate::code_set::NarrowCodeSet;
use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::error::CdrError;
use crate::value::{Marshal, Unmarshal};
use crate::view::View;

/// Writes the elements of an array or sequence, without a length. Padding is zero.
///
/// Allocates only when the block has to grow.
///
/// # Errors
/// [`CdrError::CharacterNotInCodeSet`].
#[inline]
pub fn marshal_structs<T: PlainData + Marshal>(
    values: &[T],
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    let Some((first, later)) = values.split_first() else {
        return Ok(());
    };
    if !T::LAYOUT.is_contiguous() {
        return values.iter().try_for_each(|value| value.marshal(out));
    }
    out.align(T::LAYOUT.first_alignment());
    if out.padding(T::LAYOUT.alignment()) == 0 {
        return marshal_run(values, out);
    }
    first.marshal(out)?;
    if later.is_empty() {
        return Ok(());
    }
    out.align(T::LAYOUT.first_alignment());
    marshal_run(later, out)
}

/// Writes at least one value, from a multiple of the type's alignment on.
fn marshal_run<T: PlainData>(values: &[T], out: &mut Encoder<'_>) -> Result<(), CdrError> {
    debug_assert_eq!(out.padding(T::LAYOUT.alignment()), 0);
    if !are_characters(values, out.coding().code_sets.narrow) {
        return Err(CdrError::CharacterNotInCodeSet);
    }
    let is_native = out.order().is_native();
    let block = out.block_mut();
    if is_native {
        bulk::append(block.as_mut_vec(), values);
    } else {
        bulk::append_in_other_order(block.as_mut_vec(), values);
    }
    block.truncate(block.len() - T::LAYOUT.trailing());
    Ok(())
}

/// Reads `length` elements in place of the contents of `values`. Allocates if they don't fit, in
/// proportion to the bytes that are left.
///
/// # Errors
/// [`CdrError::Truncated`] and [`CdrError::BadCharacter`].
#[inline]
pub fn unmarshal_structs<T: PlainData + Unmarshal>(
    input: &mut Decoder<'_>,
    length: usize,
    values: &mut Vec<T>,
) -> Result<(), CdrError> {
    values.clear();
    let run = Run::read(input, length)?;
    let Some(octets) = run.octets else {
        let justified = input.remaining() / size_of::<T>().max(1);
        values.reserve_exact(length.min(justified + 1));
        values.extend(run.first);
        while values.len() < length {
            values.push(T::unmarshal(input)?);
        }
        return Ok(());
    };
    values.reserve_exact(length);
    values.extend(run.first);
    let singles = values.len();
    bulk::extend_vec(values, octets, length - singles);
    run.finish(values.get_mut(singles..).unwrap_or_default(), input)
}

/// Reads `length` elements as a view of the input where they lie as in memory, and otherwise into
/// memory that the thread keeps.
///
/// # Errors
/// As [`unmarshal_structs`].
#[inline]
pub fn view_structs<'d, T: PlainData + Unmarshal>(
    input: &mut Decoder<'d>,
    length: usize,
) -> Result<View<'d, T>, CdrError> {
    if length == 0 {
        return Ok(View::from(&[][..]));
    }
    let (order, behind) = (input.order(), input.unbroken());
    let padding = input.padding(T::LAYOUT.first_alignment());
    let run = Run::<T>::read(input, length)?;
    let Some(octets) = run.octets else {
        return gather(input, length, run.first);
    };
    if run.first.is_none() && order.is_native() {
        let seen = bulk::view_plain(behind.get(padding..).unwrap_or_default(), length);
        if let Some(values) = seen {
            run.check(values, input)?;
            return Ok(View::from(values));
        }
    }
    let mut scratch = bulk::Scratch::with_capacity(length);
    let singles = usize::from(run.first.is_some_and(|first| scratch.push(first)));
    scratch.extend(octets, length - singles);
    run.finish(
        scratch
            .as_mut_slice()
            .get_mut(singles..)
            .unwrap_or_default(),
        input,
    )?;
    Ok(View::from(scratch))
}

/// Reads elements number by number, except the first if that has been read already.
fn gather<'d, T: PlainData + Unmarshal>(
    input: &mut Decoder<'d>,
    length: usize,
    first: Option<T>,
) -> Result<View<'d, T>, CdrError> {
    let justified = input.remaining() / T::MIN_SIZE.max(1);
    let mut scratch = bulk::Scratch::with_capacity(length.min(justified + 1));
    let mut read = usize::from(first.is_some_and(|first| scratch.push(first)));
    while read < length {
        if !scratch.push(T::unmarshal(input)?) {
            return Err(CdrError::truncated(length, read));
        }
        read += 1;
    }
    Ok(View::from(scratch))
}

/// Elements of a sequence or array that were skipped in the input, to be converted together.
struct Run<'d, T> {
    /// First element, if its layout in the input differs from that in memory.
    first: Option<T>,
    /// All elements, or all after the first, without the padding after the last. `None` if they
    /// have not been skipped, because they do not lie in one piece.
    octets: Option<&'d [u8]>,
}

impl<'d, T: PlainData + Unmarshal> Run<'d, T> {
    #[inline]
    fn read(input: &mut Decoder<'d>, length: usize) -> Result<Self, CdrError> {
        let mut this = Run {
            first: None,
            octets: None,
        };
        if !T::LAYOUT.is_contiguous() || length == 0 {
            return Ok(this);
        }
        let mut left = length;
        if !begins_aligned::<T>(input) {
            this.first = Some(T::unmarshal(input)?);
            left -= 1;
        }
        // Alignment may have restarted behind a seam.
        let padding = input.padding(T::LAYOUT.first_alignment());
        let size = left.saturating_mul(size_of::<T>());
        let needed = size.saturating_sub(T::LAYOUT.trailing());
        let in_one_piece = needed.saturating_add(padding) <= input.unbroken().len();
        if left == 0 {
            this.octets = Some(&[]);
        } else if in_one_piece && begins_aligned::<T>(input) {
            input.skip(padding)?;
            this.octets = Some(input.get_bytes(needed)?);
        }
        Ok(this)
    }

    /// Converts copied values to the byte order of the machine, and checks them.
    #[inline]
    fn finish(&self, values: &mut [T], input: &Decoder<'_>) -> Result<(), CdrError> {
        if !input.order().is_native() {
            for value in &mut *values {
                *value = value.in_other_order();
            }
        }
        self.check(values, input)
    }

    #[inline]
    fn check(&self, values: &[T], input: &Decoder<'_>) -> Result<(), CdrError> {
        if are_characters(values, input.coding().code_sets.narrow) {
            Ok(())
        } else {
            Err(CdrError::BadCharacter)
        }
    }
}

/// Returns whether the next value begins at a multiple of the type's alignment.
#[inline]
fn begins_aligned<T: PlainData>(input: &Decoder<'_>) -> bool {
    input.padding(T::LAYOUT.first_alignment()) == input.padding(T::LAYOUT.alignment())
}

/// Returns whether each `char` in the values is a character of the code set.
#[inline]
fn are_characters<T: PlainData>(values: &[T], code_set: NarrowCodeSet) -> bool {
    if !T::LAYOUT.has_chars() || code_set != NarrowCodeSet::Utf8 {
        return true;
    }
    let of = |values: &[T]| values.iter().fold(0, |all, value| all | value.chars());
    // Several in one turn of the loop.
    let (chunks, rest) = values.as_chunks::<8>();
    let all = chunks.iter().fold(0, |all, chunk| all | of(chunk)) | of(rest);
    all.is_ascii()
}
