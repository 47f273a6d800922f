//! Writing and reading of values, typed and untyped.

use super::{Formal, ValueRef, ValueType};
use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::error::CdrError;
use crate::value::{Marshal, Nilable, Unmarshal};

/// Writes a value or null, on behalf of the generated type `T`.
///
/// # Errors
/// Those of [`Encoder::put_value`].
pub fn marshal_value<T: ValueType>(
    value: Option<&T>,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    out.put_value(value.map(T::as_value))
}

/// Reads a value or null.
///
/// # Errors
/// Those of [`Decoder::get_value`].
pub fn unmarshal_value<T: ValueType>(input: &mut Decoder<'_>) -> Result<Option<T>, CdrError> {
    let value = input.get_value(&Formal::<T>::new())?;
    Ok(value.map(T::from_value))
}

impl Marshal for ValueRef {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_value(Some(self))
    }
}

impl Unmarshal for ValueRef {
    const MIN_SIZE: usize = 4;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        let value = input.get_value(&Formal::<Self>::new())?;
        value.ok_or(CdrError::NilReference)
    }
}

impl Nilable for ValueRef {
    fn marshal_nilable(this: Option<&Self>, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_value(this)
    }

    fn unmarshal_nilable(input: &mut Decoder<'_>) -> Result<Option<Self>, CdrError> {
        input.get_value(&Formal::<Self>::new())
    }
}
