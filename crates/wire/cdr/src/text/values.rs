//! Rust's strings and characters as IDL's: `str` and `String` are `string`, [`Char`] is `char`, `char` is
//! `wchar`.

use std::borrow::Cow;

use crate::bulk;
use crate::character::Char;
use crate::code_set::NarrowCodeSet;
use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::error::CdrError;
use crate::primitives::{read_run, view_run};
use crate::sequence::{unmarshal_array_with, vec_with};
use crate::value::{Marshal, Unmarshal};
use crate::view::View;

impl Marshal for str {
    #[inline]
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_string(self)
    }
}

impl Marshal for String {
    #[inline]
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_string(self)
    }
}

impl Unmarshal for String {
    // A length of 0 is tolerated, so the NUL does not count.
    const MIN_SIZE: usize = 4;

    #[inline]
    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        input.get_string().map(Cow::into_owned)
    }

    #[inline]
    fn unmarshal_into(&mut self, input: &mut Decoder<'_>) -> Result<(), CdrError> {
        let text = input.get_string()?;
        self.clear();
        self.push_str(&text);
        Ok(())
    }
}

/// An IDL `wchar`.
impl Marshal for char {
    #[inline]
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_wchar(*self)
    }
}

/// An IDL `wchar`.
impl Unmarshal for char {
    const MIN_SIZE: usize = 2;

    #[inline]
    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        input.get_wchar()
    }
}

impl Marshal for Char {
    #[inline]
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_char(*self)
    }

    #[inline]
    fn marshal_slice(values: &[Self], out: &mut Encoder<'_>) -> Result<(), CdrError> {
        let octets = bulk::octets_of(values);
        if out.coding().code_sets.narrow != NarrowCodeSet::Iso8859_1 && !octets.is_ascii() {
            return values.iter().try_for_each(|value| out.put_char(*value));
        }
        out.put_bytes(octets);
        Ok(())
    }
}

impl Unmarshal for Char {
    const MIN_SIZE: usize = 1;

    #[inline]
    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        input.get_char()
    }

    #[inline]
    fn unmarshal_vec(input: &mut Decoder<'_>, length: usize) -> Result<Vec<Self>, CdrError> {
        if is_one_run(input, length) {
            return input.get_run(length);
        }
        vec_with(input, length, |input| input.get_char())
    }

    #[inline]
    fn unmarshal_array<const N: usize>(input: &mut Decoder<'_>) -> Result<[Self; N], CdrError> {
        if is_one_run(input, N) {
            return input.get_array();
        }
        unmarshal_array_with(input, |input| input.get_char())
    }

    #[inline]
    fn unmarshal_vec_into(
        input: &mut Decoder<'_>,
        length: usize,
        values: &mut Vec<Self>,
    ) -> Result<(), CdrError> {
        if is_one_run(input, length) {
            return read_run(input, length, values);
        }
        *values = vec_with(input, length, |input| input.get_char())?;
        Ok(())
    }

    #[inline]
    fn unmarshal_view<'d>(
        input: &mut Decoder<'d>,
        length: usize,
    ) -> Result<View<'d, Self>, CdrError> {
        if is_one_run(input, length) {
            return view_run(input, length);
        }
        vec_with(input, length, |input| input.get_char()).map(View::from)
    }
}

/// Whether the next `count` octets are characters as they stand; reading finds out if they are there.
#[inline]
fn is_one_run(input: &Decoder<'_>, count: usize) -> bool {
    let octets = input.rest().get(..count).unwrap_or_default();
    input.coding().code_sets.narrow == NarrowCodeSet::Iso8859_1 || octets.is_ascii()
}
