//! Text: `char`, `string`, `wchar` and `wstring` in the negotiated code sets.
//!
//! A string is an `unsigned long` that counts octets with the NUL, then the octets (CORBA 3.3
//! part 2, §9.3.2.7). Wide text differs by version: GIOP 1.0 has none, 1.1 has 2-octet
//! characters in the message's byte order and counts them with a NUL, 1.2 counts octets, has no
//! NUL, and is big-endian unless a byte-order mark says otherwise.

use std::borrow::Cow;

use crate::bulk;
use crate::character::Char;
use crate::code_set::{NarrowCodeSet, WideCodeSet};
use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::error::CdrError;
use crate::order::ByteOrder;
use crate::primitives::{read_run, view_run};
use crate::sequence::{unmarshal_array_with, vec_with};
use crate::value::{Marshal, Unmarshal};
use crate::version::GiopVersion;
use crate::view::View;

const BYTE_ORDER_MARK: u16 = 0xfeff;
const SWAPPED_MARK: u16 = 0xfffe;
const BYTE_ORDER_MARK_SIZE: usize = 2;

impl Encoder<'_> {
    /// Writes a `string` in the narrow transmission code set, with its NUL.
    ///
    /// # Errors
    /// [`CdrError::InnerNul`], [`CdrError::CharacterNotInCodeSet`] and
    /// [`CdrError::LengthOverLimit`].
    #[inline]
    pub fn put_string(&mut self, text: &str) -> Result<(), CdrError> {
        self.put_string_in(self.coding().code_sets.narrow, text)
    }

    /// Writes a `string` in a given code set: some strings of the protocol itself are ISO 8859-1
    /// whatever was negotiated.
    ///
    /// # Errors
    /// As [`Encoder::put_string`].
    #[inline]
    pub fn put_string_in(&mut self, code_set: NarrowCodeSet, text: &str) -> Result<(), CdrError> {
        let octets = text.as_bytes();
        if bulk::short_ascii(octets).is_none() {
            if octets.contains(&0) {
                return Err(CdrError::InnerNul);
            }
            if code_set != NarrowCodeSet::Utf8 && !octets.is_ascii() {
                return self.put_converted(code_set, text);
            }
        }
        self.put_text_length(octets.len(), 1)?;
        self.put_bytes(octets);
        self.put_u8(0);
        Ok(())
    }

    #[cold]
    fn put_converted(&mut self, code_set: NarrowCodeSet, text: &str) -> Result<(), CdrError> {
        if let NarrowCodeSet::Registered(code_set) = code_set {
            let octets = code_set.encode(text)?;
            self.put_text_length(octets.len(), 1)?;
            self.put_bytes(&octets);
        } else {
            self.put_text_length(text.chars().count(), 1)?;
            for character in text.chars() {
                self.put_u8(Char::try_from(character)?.0);
            }
        }
        self.put_u8(0);
        Ok(())
    }

    /// Writes a length in characters plus `terminators`, checked against the limit on strings.
    #[inline]
    fn put_text_length(&mut self, length: usize, terminators: usize) -> Result<(), CdrError> {
        let limit = self.coding().limits.string;
        match u32::try_from(length.saturating_add(terminators)) {
            Ok(encoded) if length <= limit => {
                self.put_u32(encoded);
                Ok(())
            }
            _ => Err(CdrError::over_limit(length, limit)),
        }
    }

    /// Writes a `char` in the narrow transmission code set.
    ///
    /// # Errors
    /// [`CdrError::CharacterNotInCodeSet`] for a character that takes more than one octet there.
    #[inline]
    pub fn put_char(&mut self, character: Char) -> Result<(), CdrError> {
        let octet = if character.0 < 0x80 {
            character.0
        } else {
            octet_of(character, self.coding().code_sets.narrow)?
        };
        self.put_u8(octet);
        Ok(())
    }

    /// Writes a `wchar` in the wide transmission code set.
    ///
    /// # Errors
    /// [`CdrError::WideInGiop10`], [`CdrError::WideNotNegotiated`], and
    /// [`CdrError::CharacterNotInCodeSet`] outside the basic plane in GIOP 1.1 or UCS-2.
    pub fn put_wchar(&mut self, character: char) -> Result<(), CdrError> {
        let code_set = wide(self.coding().version, self.coding().code_sets.wide)?;
        let mut buffer = [0; 2];
        let units = character.encode_utf16(&mut buffer);
        match (units, self.coding().version) {
            ([unit], GiopVersion::V1_2) => {
                self.put_u8(2);
                self.put_bytes(&unit.to_be_bytes());
            }
            ([unit], _) => self.put_u16(*unit),
            ([high, low], GiopVersion::V1_2) if code_set == WideCodeSet::Utf16 => {
                self.put_u8(4);
                self.put_bytes(&high.to_be_bytes());
                self.put_bytes(&low.to_be_bytes());
            }
            _ => return Err(CdrError::CharacterNotInCodeSet),
        }
        Ok(())
    }

    /// Writes a `wstring` in the wide transmission code set.
    ///
    /// # Errors
    /// [`CdrError::WideInGiop10`], [`CdrError::WideNotNegotiated`], [`CdrError::InnerNul`],
    /// [`CdrError::CharacterNotInCodeSet`] and [`CdrError::LengthOverLimit`].
    pub fn put_wstring(&mut self, text: &str) -> Result<(), CdrError> {
        let code_set = wide(self.coding().version, self.coding().code_sets.wide)?;
        if text.as_bytes().contains(&0) {
            return Err(CdrError::InnerNul);
        }
        // Only characters outside the basic plane take four octets in UTF-8.
        let units = text.encode_utf16().count();
        if code_set == WideCodeSet::Ucs2 && units != text.chars().count() {
            return Err(CdrError::CharacterNotInCodeSet);
        }
        if self.coding().version == GiopVersion::V1_2 {
            // Text that begins like a byte-order mark would lose its first character, unless a
            // real mark precedes it.
            let first = text.encode_utf16().next();
            let marked = matches!(first, Some(BYTE_ORDER_MARK | SWAPPED_MARK));
            self.put_text_length(
                units.saturating_mul(2),
                if marked { BYTE_ORDER_MARK_SIZE } else { 0 },
            )?;
            self.block_mut().reserve(units * 2 + 2);
            if marked {
                self.put_bytes(&BYTE_ORDER_MARK.to_be_bytes());
            }
            for unit in text.encode_utf16() {
                self.put_bytes(&unit.to_be_bytes());
            }
        } else {
            self.put_text_length(units, 1)?;
            self.block_mut().reserve(units * 2 + 2);
            for unit in text.encode_utf16() {
                self.put_u16(unit);
            }
            self.put_u16(0);
        }
        Ok(())
    }
}

impl<'d> Decoder<'d> {
    /// Reads a `string` in the narrow transmission code set. Borrowed unless its octets have to
    /// be converted. A length of 0, which some ORBs send, is read as the empty string.
    ///
    /// # Errors
    /// [`CdrError::Truncated`], [`CdrError::LengthOverLimit`], [`CdrError::StringWithoutNul`],
    /// [`CdrError::InnerNul`] and [`CdrError::BadCharacter`].
    #[inline]
    pub fn get_string(&mut self) -> Result<Cow<'d, str>, CdrError> {
        self.get_string_in(self.coding().code_sets.narrow)
    }

    /// Reads a `string` in a given code set: some strings of the protocol itself are ISO 8859-1
    /// whatever was negotiated.
    ///
    /// # Errors
    /// As [`Decoder::get_string`].
    #[inline]
    pub fn get_string_in(&mut self, code_set: NarrowCodeSet) -> Result<Cow<'d, str>, CdrError> {
        let octets = self.get_terminated()?;
        if let Some(text) = bulk::short_ascii(octets) {
            return Ok(Cow::Borrowed(text));
        }
        without_nul(octets)?;
        match code_set {
            NarrowCodeSet::Utf8 => std::str::from_utf8(octets)
                .map(Cow::Borrowed)
                .map_err(|_| CdrError::BadCharacter),
            NarrowCodeSet::Iso8859_1 => Ok(match bulk::ascii(octets) {
                Some(text) => Cow::Borrowed(text),
                None => Cow::Owned(octets.iter().map(|octet| char::from(*octet)).collect()),
            }),
            NarrowCodeSet::Registered(other) => other.decode(octets),
        }
    }

    /// Reads a `string` of the protocol itself that is ASCII by its nature, such as the name of an
    /// operation or a repository id; no copy is made. UTF-8 is tolerated.
    ///
    /// # Errors
    /// As [`Decoder::get_string`].
    #[inline]
    pub fn get_identifier(&mut self) -> Result<&'d str, CdrError> {
        let octets = self.get_terminated()?;
        if let Some(text) = bulk::short_ascii(octets) {
            return Ok(text);
        }
        without_nul(octets)?;
        std::str::from_utf8(octets).map_err(|_| CdrError::BadCharacter)
    }

    /// Reads the octets of a `string`, without its NUL and whatever their code set.
    ///
    /// # Errors
    /// As [`Decoder::get_string`], but for [`CdrError::BadCharacter`].
    #[inline]
    pub fn get_string_octets(&mut self) -> Result<&'d [u8], CdrError> {
        let octets = self.get_terminated()?;
        without_nul(octets)?;
        Ok(octets)
    }

    /// Reads the octets before a string's last NUL.
    #[inline]
    fn get_terminated(&mut self) -> Result<&'d [u8], CdrError> {
        let length = self.get_u32()? as usize;
        let limit = self.coding().limits.string;
        // The limit counts without the NUL, as it does on the sending side.
        if length > limit.saturating_add(1) {
            return Err(CdrError::over_limit(length, limit));
        }
        match self.get_bytes(length)?.split_last() {
            None => Ok(&[]),
            Some((0, octets)) => Ok(octets),
            Some(_) => Err(CdrError::StringWithoutNul),
        }
    }

    /// Reads a `char` in the narrow transmission code set.
    ///
    /// # Errors
    /// [`CdrError::Truncated`]; [`CdrError::BadCharacter`] for an octet that is no character, or none
    /// that a [`Char`] can be.
    #[inline]
    pub fn get_char(&mut self) -> Result<Char, CdrError> {
        match self.get_u8()? {
            octet @ ..0x80 => Ok(Char(octet)),
            octet => char_of(octet, self.coding().code_sets.narrow),
        }
    }

    /// Reads a `wchar` in the wide transmission code set.
    ///
    /// # Errors
    /// [`CdrError::WideInGiop10`], [`CdrError::WideNotNegotiated`], [`CdrError::Truncated`] and
    /// [`CdrError::BadCharacter`].
    pub fn get_wchar(&mut self) -> Result<char, CdrError> {
        wide(self.coding().version, self.coding().code_sets.wide)?;
        if self.coding().version != GiopVersion::V1_2 {
            let unit = self.get_u16()?;
            return char::from_u32(unit.into()).ok_or(CdrError::BadCharacter);
        }
        let length = self.get_u8()?;
        let octets = self.get_bytes(length.into())?;
        // Two octets are a character even where they look like a byte-order mark.
        let text = match octets {
            [high, low] => {
                let unit = u16::from_be_bytes([*high, *low]);
                return char::from_u32(unit.into()).ok_or(CdrError::BadCharacter);
            }
            _ => {
                let mut text = String::new();
                utf16(octets, &mut text)?;
                text
            }
        };
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) => Ok(character),
            _ => Err(CdrError::BadCharacter),
        }
    }

    /// Reads a `wstring` in the wide transmission code set. In GIOP 1.2 a byte-order mark is
    /// obeyed and left out.
    ///
    /// # Errors
    /// [`CdrError::WideInGiop10`], [`CdrError::WideNotNegotiated`], [`CdrError::Truncated`],
    /// [`CdrError::LengthOverLimit`], [`CdrError::StringWithoutNul`] (1.1),
    /// [`CdrError::InnerNul`] and [`CdrError::BadCharacter`].
    pub fn get_wstring(&mut self) -> Result<String, CdrError> {
        let mut text = String::new();
        self.get_wstring_into(&mut text)?;
        Ok(text)
    }

    /// As [`Decoder::get_wstring`], into the place of what `text` holds, whose memory is used
    /// again.
    ///
    /// # Errors
    /// As [`Decoder::get_wstring`]; `text` then holds anything.
    pub fn get_wstring_into(&mut self, text: &mut String) -> Result<(), CdrError> {
        wide(self.coding().version, self.coding().code_sets.wide)?;
        text.clear();
        let length = self.get_u32()? as usize;
        let limit = self.coding().limits.string;
        if self.coding().version == GiopVersion::V1_2 {
            if length > limit.saturating_add(BYTE_ORDER_MARK_SIZE) {
                return Err(CdrError::over_limit(length, limit));
            }
            utf16(self.get_bytes(length)?, text)?;
        } else {
            if length > limit.saturating_add(1) {
                return Err(CdrError::over_limit(length, limit));
            }
            let octets = self.get_bytes(length.saturating_mul(2))?;
            match octets.split_last_chunk::<2>() {
                None => {}
                Some((octets, [0, 0])) => utf16_in(self.order(), octets, text)?,
                Some(_) => return Err(CdrError::StringWithoutNul),
            }
        }
        if text.as_bytes().contains(&0) {
            return Err(CdrError::InnerNul);
        }
        Ok(())
    }
}

/// The octet of a `char` beyond ASCII.
#[cold]
fn octet_of(character: Char, code_set: NarrowCodeSet) -> Result<u8, CdrError> {
    match code_set {
        NarrowCodeSet::Iso8859_1 => Ok(character.0),
        NarrowCodeSet::Utf8 => Err(CdrError::CharacterNotInCodeSet),
        NarrowCodeSet::Registered(other) => other.encode_char(character.into()),
    }
}

/// The `char` that an octet beyond ASCII is.
#[cold]
fn char_of(octet: u8, code_set: NarrowCodeSet) -> Result<Char, CdrError> {
    match code_set {
        NarrowCodeSet::Iso8859_1 => Ok(Char(octet)),
        NarrowCodeSet::Utf8 => Err(CdrError::BadCharacter),
        NarrowCodeSet::Registered(other) => {
            let character = other.decode_char(octet)?;
            Char::try_from(character).map_err(|_| CdrError::BadCharacter)
        }
    }
}

/// The code set for wide text, if this version has any and one was agreed on.
#[inline]
fn wide(version: GiopVersion, agreed: Option<WideCodeSet>) -> Result<WideCodeSet, CdrError> {
    if version == GiopVersion::V1_0 {
        return Err(CdrError::WideInGiop10);
    }
    agreed.ok_or(CdrError::WideNotNegotiated)
}

#[inline]
fn without_nul(octets: &[u8]) -> Result<(), CdrError> {
    if octets.contains(&0) {
        return Err(CdrError::InnerNul);
    }
    Ok(())
}

/// Appends UTF-16 that may begin with a byte-order mark, and is big-endian without one.
fn utf16(octets: &[u8], text: &mut String) -> Result<(), CdrError> {
    match octets {
        [0xfe, 0xff, rest @ ..] => utf16_in(ByteOrder::Big, rest, text),
        [0xff, 0xfe, rest @ ..] => utf16_in(ByteOrder::Little, rest, text),
        _ => utf16_in(ByteOrder::Big, octets, text),
    }
}

fn utf16_in(order: ByteOrder, octets: &[u8], text: &mut String) -> Result<(), CdrError> {
    let (units, leftover) = octets.as_chunks::<2>();
    if !leftover.is_empty() {
        return Err(CdrError::BadCharacter);
    }
    let units = units.iter().map(|unit| match order {
        ByteOrder::Big => u16::from_be_bytes(*unit),
        ByteOrder::Little => u16::from_le_bytes(*unit),
    });
    text.reserve(units.len());
    for character in char::decode_utf16(units) {
        text.push(character.map_err(|_| CdrError::BadCharacter)?);
    }
    Ok(())
}

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
