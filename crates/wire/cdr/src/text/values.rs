//! Mapping of Rust's strings and characters to IDL's: `str` and `String` are `string`, [`Char`] is
//! `char`, `char` is `wchar`.

use crate::bulk::{self, Turning};
use crate::character::Char;
use crate::code_set::NarrowCodeSet;
use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::error::CdrError;
use crate::primitives::read_run;
use crate::value::{Marshal, Unmarshal};
use crate::view::View;

use super::narrow::char_in;

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
        input.get_owned_string()
    }

    #[inline]
    fn unmarshal_into(&mut self, input: &mut Decoder<'_>) -> Result<(), CdrError> {
        let text = input.get_string()?;
        self.clear();
        self.push_str(&text);
        Ok(())
    }
}

/// Writes an IDL `wchar`.
impl Marshal for char {
    #[inline]
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_wchar(*self)
    }
}

/// Reads an IDL `wchar`.
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
        let mut values = input.get_run(length)?;
        convert(&mut values, input)?;
        Ok(values)
    }

    #[inline]
    fn unmarshal_array<const N: usize>(input: &mut Decoder<'_>) -> Result<[Self; N], CdrError> {
        let mut values = input.get_array()?;
        convert(&mut values, input)?;
        Ok(values)
    }

    #[inline]
    fn unmarshal_vec_into(
        input: &mut Decoder<'_>,
        length: usize,
        values: &mut Vec<Self>,
    ) -> Result<(), CdrError> {
        read_run(input, length, values)?;
        convert(values, input)
    }

    #[inline]
    fn unmarshal_view<'d>(
        input: &mut Decoder<'d>,
        length: usize,
    ) -> Result<View<'d, Self>, CdrError> {
        let octets = input.get_bytes(length)?;
        if are_characters(octets, input.coding().code_sets.narrow)
            && let Some(values) = bulk::view(octets)
        {
            return Ok(View::from(values));
        }
        let mut values = bulk::vec_from_octets(octets, Turning::Straight);
        convert(&mut values, input)?;
        Ok(View::from(values))
    }
}

/// Converts octets of the transmission code set, one for each character, to ISO 8859-1.
#[inline]
fn convert(values: &mut [Char], input: &Decoder<'_>) -> Result<(), CdrError> {
    let code_set = input.coding().code_sets.narrow;
    if are_characters(bulk::octets_of(values), code_set) {
        return Ok(());
    }
    values.iter_mut().try_for_each(|value| {
        *value = char_in(value.0, code_set)?;
        Ok(())
    })
}

/// Returns whether the octets are valid characters without conversion.
#[inline]
fn are_characters(octets: &[u8], code_set: NarrowCodeSet) -> bool {
    code_set == NarrowCodeSet::Iso8859_1 || octets.is_ascii()
}
