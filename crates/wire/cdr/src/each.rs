//! Lengths, and sequences and arrays whose elements a function writes or reads.

use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::error::CdrError;

/// Checks a length against the bound of an IDL type.
///
/// # Errors
/// [`CdrError::BoundExceeded`].
#[inline]
pub fn check_bound(length: usize, bound: u32) -> Result<(), CdrError> {
    if length > bound as usize {
        return Err(CdrError::over_bound(length, bound));
    }
    Ok(())
}

/// Writes a sequence whose elements have an encoding of their own (wide strings, bounded types):
/// the length, then the output of `each`.
///
/// # Errors
/// [`CdrError::LengthOverLimit`], and those of `each`.
#[inline]
pub fn marshal_each<T>(
    values: &[T],
    out: &mut Encoder<'_>,
    mut each: impl FnMut(&T, &mut Encoder<'_>) -> Result<(), CdrError>,
) -> Result<(), CdrError> {
    out.put_length(values.len())?;
    values.iter().try_for_each(|value| each(value, out))
}

/// Reads a sequence whose elements, of `min_size` bytes at least, have an encoding of their own.
///
/// # Errors
/// Those of [`Decoder::get_length`] and of `each`.
#[inline]
pub fn unmarshal_each<T>(
    input: &mut Decoder<'_>,
    min_size: usize,
    each: impl FnMut(&mut Decoder<'_>) -> Result<T, CdrError>,
) -> Result<Vec<T>, CdrError> {
    let length = input.get_length(min_size)?;
    vec_with(input, length, each)
}

/// Reads `length` elements; memory allocated in advance never exceeds the bytes that are left.
#[inline]
pub(crate) fn vec_with<T>(
    input: &mut Decoder<'_>,
    length: usize,
    mut each: impl FnMut(&mut Decoder<'_>) -> Result<T, CdrError>,
) -> Result<Vec<T>, CdrError> {
    let justified = input.remaining() / size_of::<T>().max(1);
    let mut values = Vec::with_capacity(length.min(justified));
    for _ in 0..length {
        values.push(each(input)?);
    }
    Ok(values)
}

/// Reads an array whose elements have an encoding of their own. It lives on the stack meanwhile;
/// see [`Unmarshal::unmarshal_boxed`](crate::Unmarshal::unmarshal_boxed) for large ones.
///
/// # Errors
/// Those of `each`; the rest is not read then.
///
/// # Panics
/// Never: the expectation inside is proved by the line before it.
#[inline]
pub fn unmarshal_array_with<T, const N: usize>(
    input: &mut Decoder<'_>,
    mut each: impl FnMut(&mut Decoder<'_>) -> Result<T, CdrError>,
) -> Result<[T; N], CdrError> {
    let mut failure = None;
    let values: [Option<T>; N] = std::array::from_fn(|_| {
        if failure.is_some() {
            return None;
        }
        match each(input) {
            Ok(value) => Some(value),
            Err(error) => {
                failure = Some(error);
                None
            }
        }
    });
    match failure {
        Some(error) => Err(error),
        None => Ok(values.map(|value| value.expect("without a failure each element was read"))),
    }
}
