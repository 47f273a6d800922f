//! `wchar` and `wstring` in the wide transmission code set.
//!
//! GIOP 1.0 has none, 1.1 has 2-octet characters in the message's byte order and counts them with a NUL, 1.2
//! counts octets, has no NUL, and is big-endian unless a byte-order mark says otherwise.

use crate::code_set::WideCodeSet;
use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::error::CdrError;
use crate::order::ByteOrder;
use crate::version::GiopVersion;

const BYTE_ORDER_MARK: u16 = 0xfeff;
const SWAPPED_MARK: u16 = 0xfffe;
const BYTE_ORDER_MARK_SIZE: usize = 2;

impl Encoder<'_> {
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

impl Decoder<'_> {
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

    /// Reads as [`Decoder::get_wstring`] does, in place of the contents of `text`, whose memory is
    /// reused.
    ///
    /// # Errors
    /// As [`Decoder::get_wstring`]; the contents of `text` are then unspecified.
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

/// Returns the code set for wide text, if this version has wide text and a code set was agreed on.
#[inline]
fn wide(version: GiopVersion, agreed: Option<WideCodeSet>) -> Result<WideCodeSet, CdrError> {
    if version == GiopVersion::V1_0 {
        return Err(CdrError::WideInGiop10);
    }
    match agreed {
        Some(WideCodeSet::Unsupported(id)) => Err(CdrError::WideCodeSetUnsupported(id)),
        Some(code_set) => Ok(code_set),
        None => Err(CdrError::WideNotNegotiated),
    }
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
