//! Sequences, arrays and bounds: functions called by generated code.

use std::borrow::Cow;

use crate::decoder::Decoder;
use crate::each::check_bound;
use crate::encoder::Encoder;
use crate::error::CdrError;
use crate::value::{Marshal, Unmarshal};
use crate::view::View;

/// Writes a `sequence<T, bound>`.
///
/// # Errors
/// [`CdrError::BoundExceeded`], and those of the elements.
#[inline]
pub fn marshal_bounded<T: Marshal>(
    values: &[T],
    bound: u32,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    check_bound(values.len(), bound)?;
    values.marshal(out)
}

/// Reads a `sequence<T, bound>`.
///
/// # Errors
/// [`CdrError::BoundExceeded`], and those of the elements.
#[inline]
pub fn unmarshal_bounded<T: Unmarshal>(
    input: &mut Decoder<'_>,
    bound: u32,
) -> Result<Vec<T>, CdrError> {
    let length = input.get_length(T::MIN_SIZE)?;
    check_bound(length, bound)?;
    T::unmarshal_vec(input, length)
}

/// Reads a `sequence<T, bound>` in place of the contents of `values`, and reuses its memory.
///
/// # Errors
/// As [`unmarshal_bounded`]; the contents of `values` are then unspecified.
#[inline]
pub fn unmarshal_bounded_into<T: Unmarshal>(
    values: &mut Vec<T>,
    input: &mut Decoder<'_>,
    bound: u32,
) -> Result<(), CdrError> {
    let length = input.get_length(T::MIN_SIZE)?;
    check_bound(length, bound)?;
    T::unmarshal_vec_into(input, length, values)
}

/// Writes a `string<bound>`; the bound counts characters, without the NUL.
///
/// # Errors
/// [`CdrError::BoundExceeded`], and those of [`Encoder::put_string`].
#[inline]
pub fn marshal_bounded_string(
    text: &str,
    bound: u32,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    check_text_bound(text, bound)?;
    out.put_string(text)
}

/// Reads a `string<bound>`.
///
/// # Errors
/// [`CdrError::BoundExceeded`], and those of [`Decoder::get_string`].
#[inline]
pub fn unmarshal_bounded_string(input: &mut Decoder<'_>, bound: u32) -> Result<String, CdrError> {
    unmarshal_bounded_str(input, bound).map(Cow::into_owned)
}

/// Reads a `string<bound>` as a view of the input, unless its bytes have to be converted.
///
/// # Errors
/// As [`unmarshal_bounded_string`].
#[inline]
pub fn unmarshal_bounded_str<'d>(
    input: &mut Decoder<'d>,
    bound: u32,
) -> Result<Cow<'d, str>, CdrError> {
    let text = input.get_string()?;
    check_text_bound(&text, bound)?;
    Ok(text)
}

/// Reads a `string<bound>` in place of the contents of `text`, and reuses its memory.
///
/// # Errors
/// As [`unmarshal_bounded_string`]; the contents of `text` are then unspecified.
#[inline]
pub fn unmarshal_bounded_string_into(
    text: &mut String,
    input: &mut Decoder<'_>,
    bound: u32,
) -> Result<(), CdrError> {
    text.unmarshal_into(input)?;
    check_text_bound(text, bound)
}

/// Writes a `wstring<bound>`; the bound counts characters.
///
/// # Errors
/// [`CdrError::BoundExceeded`], and those of [`Encoder::put_wstring`].
#[inline]
pub fn marshal_bounded_wstring(
    text: &str,
    bound: u32,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    check_text_bound(text, bound)?;
    out.put_wstring(text)
}

/// Reads a `wstring<bound>`.
///
/// # Errors
/// [`CdrError::BoundExceeded`], and those of [`Decoder::get_wstring`].
#[inline]
pub fn unmarshal_bounded_wstring(input: &mut Decoder<'_>, bound: u32) -> Result<String, CdrError> {
    let text = input.get_wstring()?;
    check_text_bound(&text, bound)?;
    Ok(text)
}

/// Reads a `wstring<bound>` in place of the contents of `text`, and reuses its memory.
///
/// # Errors
/// As [`unmarshal_bounded_wstring`]; the contents of `text` are then unspecified.
#[inline]
pub fn unmarshal_bounded_wstring_into(
    text: &mut String,
    input: &mut Decoder<'_>,
    bound: u32,
) -> Result<(), CdrError> {
    input.get_wstring_into(text)?;
    check_text_bound(text, bound)
}

/// Reads a sequence as a servant sees it: octets always where they were received, numbers and
/// structs of plain data where order and alignment match, otherwise from memory that the thread
/// keeps. Other types become a vector.
///
/// # Errors
/// Those of [`Unmarshal::unmarshal`].
#[inline]
pub fn unmarshal_slice<'d, T: Unmarshal>(input: &mut Decoder<'d>) -> Result<View<'d, T>, CdrError> {
    let length = input.get_length(T::MIN_SIZE)?;
    T::unmarshal_view(input, length)
}

/// Reads a `sequence<T, bound>` as [`unmarshal_slice`] does.
///
/// # Errors
/// [`CdrError::BoundExceeded`], and those of [`unmarshal_slice`].
#[inline]
pub fn unmarshal_slice_bounded<'d, T: Unmarshal>(
    input: &mut Decoder<'d>,
    bound: u32,
) -> Result<View<'d, T>, CdrError> {
    let length = input.get_length(T::MIN_SIZE)?;
    check_bound(length, bound)?;
    T::unmarshal_view(input, length)
}

fn check_text_bound(text: &str, bound: u32) -> Result<(), CdrError> {
    // No text has more characters than bytes.
    if text.len() <= bound as usize {
        return Ok(());
    }
    check_bound(text.chars().count(), bound)
}
