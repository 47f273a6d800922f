//! Numbers, booleans and octets as values.

use crate::bulk::{self, Number, Primitive, Scratch};
use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::error::CdrError;
use crate::value::{Marshal, Unmarshal};
use crate::view::View;

macro_rules! numbers {
    ($($number:ty, $put:ident, $get:ident;)*) => {$(
        impl Marshal for $number {
            #[inline]
            fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
                out.$put(*self);
                Ok(())
            }

            #[inline]
            fn marshal_slice(values: &[Self], out: &mut Encoder<'_>) -> Result<(), CdrError> {
                out.put_run(values);
                Ok(())
            }
        }

        impl Unmarshal for $number {
            const MIN_SIZE: usize = size_of::<Self>();

            #[inline]
            fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
                input.$get()
            }

            #[inline]
            fn unmarshal_vec(input: &mut Decoder<'_>, length: usize) -> Result<Vec<Self>, CdrError> {
                input.get_run(length)
            }

            #[inline]
            fn unmarshal_array<const N: usize>(
                input: &mut Decoder<'_>,
            ) -> Result<[Self; N], CdrError> {
                input.get_array()
            }

            #[inline]
            fn unmarshal_vec_into(
                input: &mut Decoder<'_>,
                length: usize,
                values: &mut Vec<Self>,
            ) -> Result<(), CdrError> {
                read_run(input, length, values)
            }

            #[inline]
            fn unmarshal_view<'d>(
                input: &mut Decoder<'d>,
                length: usize,
            ) -> Result<View<'d, Self>, CdrError> {
                view_run(input, length)
            }
        }
    )*};
}

numbers! {
    u8, put_u8, get_u8;
    i8, put_i8, get_i8;
    u16, put_u16, get_u16;
    i16, put_i16, get_i16;
    u32, put_u32, get_u32;
    i32, put_i32, get_i32;
    u64, put_u64, get_u64;
    i64, put_i64, get_i64;
    f32, put_f32, get_f32;
    f64, put_f64, get_f64;
}

/// Reads `length` values in place of the contents of `values`.
#[inline]
pub(crate) fn read_run<T: Primitive>(
    input: &mut Decoder<'_>,
    length: usize,
    values: &mut Vec<T>,
) -> Result<(), CdrError> {
    let padding = if length == 0 {
        0
    } else {
        input.padding(T::SIZE)
    };
    let size = length.saturating_mul(T::SIZE);
    if size.saturating_add(padding) > input.unbroken().len() {
        // A lent run is copied once, straight to its destination; or there is too little input.
        *values = input.get_run(length)?;
        return Ok(());
    }
    input.skip(padding)?;
    values.clear();
    let turning = T::turning(input.order());
    bulk::extend_vec(values, input.get_bytes(size)?, length, turning);
    Ok(())
}

/// Views `length` values where they lie, or copies them to the thread's scratch memory.
#[inline]
pub(crate) fn view_run<'d, T: Number>(
    input: &mut Decoder<'d>,
    length: usize,
) -> Result<View<'d, T>, CdrError> {
    let octets = input.view_run_octets::<T>(length)?;
    if (T::SIZE == 1 || input.order().is_native())
        && let Some(values) = bulk::view(octets)
    {
        return Ok(View::from(values));
    }
    let mut scratch = Scratch::with_capacity(length);
    scratch.extend(octets, length, T::turning(input.order()));
    Ok(View::from(scratch))
}

impl Marshal for bool {
    #[inline]
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_bool(*self);
        Ok(())
    }

    #[inline]
    fn marshal_slice(values: &[Self], out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_bytes(bulk::octets_of_bools(values));
        Ok(())
    }
}

impl Unmarshal for bool {
    const MIN_SIZE: usize = 1;

    #[inline]
    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        input.get_bool()
    }

    fn unmarshal_vec(input: &mut Decoder<'_>, length: usize) -> Result<Vec<Self>, CdrError> {
        let octets = input.get_bytes(length)?;
        if let Some(other) = octets.iter().find(|octet| **octet > 1) {
            return Err(CdrError::BadBoolean(*other));
        }
        Ok(octets.iter().map(|octet| *octet == 1).collect())
    }
}
