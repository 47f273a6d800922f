//! The IDL type `char`.

use std::fmt;

use crate::error::CdrError;

/// IDL `char`: one character of ISO 8859-1, kept as its byte so that runs of them copy in bulk. On
/// the wire it has the form of the negotiated code set.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Char(pub u8);

impl From<u8> for Char {
    #[inline]
    fn from(octet: u8) -> Self {
        Self(octet)
    }
}

impl From<Char> for u8 {
    #[inline]
    fn from(character: Char) -> Self {
        character.0
    }
}

impl From<Char> for char {
    #[inline]
    fn from(character: Char) -> Self {
        Self::from(character.0)
    }
}

impl TryFrom<char> for Char {
    type Error = CdrError;

    /// Converts the character to an IDL `char`; [`CdrError::CharacterNotInCodeSet`] above U+00FF.
    #[inline]
    fn try_from(character: char) -> Result<Self, CdrError> {
        u8::try_from(character)
            .map(Self)
            .map_err(|_| CdrError::CharacterNotInCodeSet)
    }
}

impl fmt::Display for Char {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&char::from(self.0), f)
    }
}

impl fmt::Debug for Char {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&char::from(self.0), f)
    }
}
