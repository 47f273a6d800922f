//! Code sets for narrow text besides ISO 8859-1 and UTF-8: their numbers in the OSF registry, and
//! their conversion to text. Tables are those of `encoding_rs`; without the feature `code-sets` there is only ISO 646, which needs
//! none.

#[cfg(not(feature = "code-sets"))]
mod ascii;
#[cfg(feature = "code-sets")]
mod encodings;

use crate::error::CdrError;
#[cfg(not(feature = "code-sets"))]
use ascii::{Octets, ROWS};
#[cfg(feature = "code-sets")]
use encodings::{Octets, ROWS};
use std::borrow::Cow;
use std::fmt;

/// Code set for narrow text that is neither ISO 8859-1 nor UTF-8. Its first 128 characters are
/// ASCII.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RegisteredCodeSet(u8);

/// Code set of the registry, which may have several numbers there.
struct Row {
    name: &'static str,
    /// Numbers in the registry; the first is the one to publish.
    ids: &'static [u32],
    octets: Octets,
}

const fn row(name: &'static str, ids: &'static [u32], octets: Octets) -> Row {
    Row { name, ids, octets }
}

impl RegisteredCodeSet {
    /// Returns all registered code sets that Punctual supports.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..ROWS.len()).filter_map(|place| u8::try_from(place).ok().map(Self))
    }

    /// Returns the code set with this number in the OSF registry.
    pub(super) fn from_id(id: u32) -> Option<Self> {
        Self::all().find(|one| one.row().ids.contains(&id))
    }

    /// Returns the number in the OSF registry, the usual one where there are several.
    #[must_use]
    pub fn id(self) -> u32 {
        self.row().ids.first().copied().unwrap_or_default()
    }

    /// Returns the name of the code set, for display.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    fn row(self) -> &'static Row {
        // The index is always valid.
        ROWS.get(usize::from(self.0)).unwrap_or(&ROWS[0])
    }

    /// Encodes a text in the code set.
    pub(crate) fn encode(self, text: &str) -> Result<Cow<'_, [u8]>, CdrError> {
        if text.is_ascii() {
            return Ok(Cow::Borrowed(text.as_bytes()));
        }
        self.row().octets.encode(text)
    }

    /// Decodes a text in the code set.
    pub(crate) fn decode(self, octets: &[u8]) -> Result<Cow<'_, str>, CdrError> {
        let decoded = match std::str::from_utf8(octets) {
            Ok(text) if text.is_ascii() => Some(Cow::Borrowed(text)),
            _ => self.row().octets.decode(octets),
        };
        decoded.ok_or(CdrError::BadCharacter)
    }

    /// Encodes a character that takes one byte in the code set.
    pub(crate) fn encode_char(self, character: char) -> Result<u8, CdrError> {
        match *self.encode(character.encode_utf8(&mut [0; 4]))? {
            [octet] => Ok(octet),
            _ => Err(CdrError::CharacterNotInCodeSet),
        }
    }

    /// Decodes the character that one byte stands for in the code set.
    pub(crate) fn decode_char(self, octet: u8) -> Result<char, CdrError> {
        let text = self.decode(std::slice::from_ref(&octet))?;
        text.chars().next().ok_or(CdrError::BadCharacter)
    }
}

impl fmt::Debug for RegisteredCodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
