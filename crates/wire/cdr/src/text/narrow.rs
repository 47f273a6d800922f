//! `char` and `string` in the narrow transmission code set.

use std::borrow::Cow;

use crate::bulk;
use crate::character::Char;
use crate::code_set::NarrowCodeSet;
use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::error::CdrError;
use crate::order::ByteOrder;

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
        let limit = self.coding().limits.string;
        let length = u32::try_from(octets.len().saturating_add(1));
        if let Ok(length) = length
            && octets.len() <= limit
        {
            let length = match self.order() {
                ByteOrder::Big => length.to_be_bytes(),
                ByteOrder::Little => length.to_le_bytes(),
            };
            let padding = self.padding(4);
            let bytes = self.block_mut().as_mut_vec();
            if bulk::append_plain(bytes, padding, length, octets) {
                return Ok(());
            }
        }
        self.put_other(code_set, text)
    }

    /// Writes text that has other characters than those of ASCII, or a NUL, or is too long.
    #[cold]
    fn put_other(&mut self, code_set: NarrowCodeSet, text: &str) -> Result<(), CdrError> {
        let octets = text.as_bytes();
        if octets.contains(&0) {
            return Err(CdrError::InnerNul);
        }
        if code_set != NarrowCodeSet::Utf8 && !octets.is_ascii() {
            return self.put_converted(code_set, text);
        }
        self.put_text_length(octets.len(), 1)?;
        self.put_bytes(octets);
        self.put_u8(0);
        Ok(())
    }

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

    /// Writes a `char` in the narrow transmission code set.
    ///
    /// # Errors
    /// [`CdrError::CharacterNotInCodeSet`] for a character that takes more than one byte there.
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
}

impl<'d> Decoder<'d> {
    /// Reads a `string` in the narrow transmission code set. Borrowed unless its bytes have to be
    /// converted. A length of 0, which some ORBs send, is read as the empty string.
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
        if let Some(text) = bulk::plain_text(octets) {
            return Ok(Cow::Borrowed(text));
        }
        self.convert_text(code_set, octets)
    }

    /// Converts text that has other characters than those of ASCII.
    #[cold]
    fn convert_text(
        &self,
        code_set: NarrowCodeSet,
        octets: &'d [u8],
    ) -> Result<Cow<'d, str>, CdrError> {
        without_nul(octets)?;
        match code_set {
            NarrowCodeSet::Utf8 => std::str::from_utf8(octets)
                .map(Cow::Borrowed)
                .map_err(|_| CdrError::BadCharacter),
            NarrowCodeSet::Iso8859_1 => {
                let text = octets.iter().map(|octet| char::from(*octet));
                Ok(Cow::Owned(text.collect()))
            }
            NarrowCodeSet::Registered(other) => other.decode(octets),
        }
    }

    /// Reads a `string` in the narrow transmission code set into memory of its own.
    #[inline]
    pub(super) fn get_owned_string(&mut self) -> Result<String, CdrError> {
        let octets = self.get_terminated()?;
        match bulk::plain_text(octets) {
            Some(text) => Ok(text.to_owned()),
            None => self.convert_owned(octets),
        }
    }

    #[cold]
    fn convert_owned(&self, octets: &'d [u8]) -> Result<String, CdrError> {
        let code_set = self.coding().code_sets.narrow;
        self.convert_text(code_set, octets).map(Cow::into_owned)
    }

    /// Reads a `string` of the protocol itself that is ASCII by its nature, such as the name of an
    /// operation or a repository id; no copy is made. UTF-8 is tolerated.
    ///
    /// # Errors
    /// As [`Decoder::get_string`].
    #[inline]
    pub fn get_identifier(&mut self) -> Result<&'d str, CdrError> {
        let octets = self.get_terminated()?;
        if let Some(text) = bulk::plain_text(octets) {
            return Ok(text);
        }
        without_nul(octets)?;
        std::str::from_utf8(octets).map_err(|_| CdrError::BadCharacter)
    }

    /// Reads the bytes of a `string`, without its NUL and whatever their code set.
    ///
    /// # Errors
    /// As [`Decoder::get_string`], except [`CdrError::BadCharacter`].
    #[inline]
    pub fn get_string_octets(&mut self) -> Result<&'d [u8], CdrError> {
        let octets = self.get_terminated()?;
        without_nul(octets)?;
        Ok(octets)
    }

    /// Reads the bytes of a string up to its terminating NUL.
    #[inline]
    fn get_terminated(&mut self) -> Result<&'d [u8], CdrError> {
        let length = self.get_u32()? as usize;
        let limit = self.coding().limits.string;
        // The limit counts without the NUL, as on the sending side.
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
    /// [`CdrError::Truncated`]; [`CdrError::BadCharacter`] for an octet that is not a character, or
    /// not one that a [`Char`] can hold.
    #[inline]
    pub fn get_char(&mut self) -> Result<Char, CdrError> {
        char_in(self.get_u8()?, self.coding().code_sets.narrow)
    }
}

/// Converts an octet of a code set to a `char`.
#[inline]
pub(super) fn char_in(octet: u8, code_set: NarrowCodeSet) -> Result<Char, CdrError> {
    match octet {
        ..0x80 => Ok(Char(octet)),
        _ => char_of(octet, code_set),
    }
}

/// Converts a `char` outside of ASCII to its octet in the code set.
#[cold]
fn octet_of(character: Char, code_set: NarrowCodeSet) -> Result<u8, CdrError> {
    match code_set {
        NarrowCodeSet::Iso8859_1 => Ok(character.0),
        NarrowCodeSet::Utf8 => Err(CdrError::CharacterNotInCodeSet),
        NarrowCodeSet::Registered(other) => other.encode_char(character.into()),
    }
}

/// Converts an octet outside of ASCII to a `char` of the code set.
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

#[inline]
fn without_nul(octets: &[u8]) -> Result<(), CdrError> {
    if octets.contains(&0) {
        return Err(CdrError::InnerNul);
    }
    Ok(())
}
