//! Runs of structs of plain data: copied whole where their layout on the wire is the one in memory.
//!
//! The first struct of a run may begin where its layout differs (see [`Layout`]); it is then
//! transmitted number by number, and the others as one piece. All of them are transmitted number by
//! number where the [`Layout`] never fits, where a seam or a lent run intervenes, and where a `char` has
//! to be converted.
//!
//! [`Layout`]: crate::Layout

use crate::bulk::{self, PlainData, Turning};
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
    if !can_be_whole::<T>(out.coding().code_sets.narrow) {
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
    let (code_set, turning) = (out.coding().code_sets.narrow, Turning::of(out.order()));
    let block = out.block_mut();
    let chars = bulk::append(block.as_mut_vec(), values, turning);
    block.truncate(block.len() - T::LAYOUT.trailing());
    if are_characters(chars, code_set) {
        Ok(())
    } else {
        Err(CdrError::CharacterNotInCodeSet)
    }
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
    let run = Run::<T>::read(input, length)?;
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
    let left = length - values.len();
    let chars = bulk::extend_vec(values, octets, left, Turning::of(input.order()));
    check(chars, input)
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
        let octets = behind.get(padding..).unwrap_or_default();
        if let Some(values) = bulk::view_plain(octets, length) {
            if input.coding().code_sets.narrow == NarrowCodeSet::Utf8 {
                check(bulk::chars_in(values, octets), input)?;
            }
            return Ok(View::from(values));
        }
    }
    let mut scratch = bulk::Scratch::with_capacity(length);
    let singles = usize::from(run.first.is_some_and(|first| scratch.push(first)));
    let chars = scratch.extend(octets, length - singles, Turning::of(order));
    check(chars, input)?;
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
        if !can_be_whole::<T>(input.coding().code_sets.narrow) || length == 0 {
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
}

/// Returns whether the next value begins at a multiple of the type's alignment.
#[inline]
fn begins_aligned<T: PlainData>(input: &Decoder<'_>) -> bool {
    input.padding(T::LAYOUT.first_alignment()) == input.padding(T::LAYOUT.alignment())
}

/// Returns whether values can be transmitted as one piece: those with a `char` that other code sets
/// than these may have to convert cannot.
#[inline]
fn can_be_whole<T: PlainData>(code_set: NarrowCodeSet) -> bool {
    let is_converted = T::LAYOUT.has_chars() && matches!(code_set, NarrowCodeSet::Registered(_));
    T::LAYOUT.is_contiguous() && !is_converted
}

/// Refuses values, all of whose bytes of type `char` have been or-ed together, if one of these is no
/// character.
#[inline]
fn check(chars: u8, input: &Decoder<'_>) -> Result<(), CdrError> {
    if are_characters(chars, input.coding().code_sets.narrow) {
        Ok(())
    } else {
        Err(CdrError::BadCharacter)
    }
}

/// Returns whether each `char`, all of which have been or-ed together, is a character of the code
/// set.
#[inline]
fn are_characters(chars: u8, code_set: NarrowCodeSet) -> bool {
    code_set != NarrowCodeSet::Utf8 || chars.is_ascii()
}
