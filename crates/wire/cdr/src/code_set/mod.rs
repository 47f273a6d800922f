//! Code sets: encodings of text, once both sides have agreed.

mod registered;

pub use registered::RegisteredCodeSet;

/// Code set for values of the IDL types `char` and `string`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NarrowCodeSet {
    /// ISO 8859-1 (Latin-1), the fallback that every ORB has: one byte a character.
    Iso8859_1,
    /// UTF-8, with one to four bytes for each character.
    Utf8,
    /// Another code set of the OSF registry.
    Registered(RegisteredCodeSet),
}

impl NarrowCodeSet {
    /// Returns the number of this code set in the OSF registry.
    #[must_use]
    pub fn id(self) -> u32 {
        match self {
            Self::Iso8859_1 => 0x0001_0001,
            Self::Utf8 => 0x0501_0001,
            Self::Registered(other) => other.id(),
        }
    }

    /// Returns the name of the code set, for display.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Iso8859_1 => "ISO 8859-1",
            Self::Utf8 => "UTF-8",
            Self::Registered(other) => other.name(),
        }
    }

    /// Returns all supported code sets for narrow text.
    pub fn all() -> impl Iterator<Item = Self> {
        let others = RegisteredCodeSet::all().map(Self::Registered);
        [Self::Utf8, Self::Iso8859_1].into_iter().chain(others)
    }

    /// Returns the code set with this number, if it is supported for narrow text.
    #[must_use]
    pub fn from_id(id: u32) -> Option<Self> {
        match id {
            0x0001_0001 => Some(Self::Iso8859_1),
            0x0501_0001 => Some(Self::Utf8),
            _ => RegisteredCodeSet::from_id(id).map(Self::Registered),
        }
    }
}

/// Code set for values of the IDL types `wchar` and `wstring`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WideCodeSet {
    /// UTF-16: a character outside the basic plane is a pair of surrogates.
    Utf16,
    /// UCS-2, which has the characters of the Basic Multilingual Plane only.
    Ucs2,
    /// Code set that a peer chose without being offered it. Narrow text is transmitted as usual;
    /// using wide text is an error.
    Unsupported(u32),
}

impl WideCodeSet {
    /// Returns the number of this code set in the OSF registry.
    #[must_use]
    pub const fn id(self) -> u32 {
        match self {
            Self::Utf16 => 0x0001_0109,
            Self::Ucs2 => 0x0001_0100,
            Self::Unsupported(id) => id,
        }
    }

    /// Returns the code set with this number, if it is supported for wide text.
    #[must_use]
    pub const fn from_id(id: u32) -> Option<Self> {
        match id {
            0x0001_0109 => Some(Self::Utf16),
            // Its three levels differ in combining characters, which are not treated specially
            // here.
            0x0001_0100..=0x0001_0102 => Some(Self::Ucs2),
            _ => None,
        }
    }
}

/// Transmission code sets of one connection (CORBA 3.3 part 2, §7.10.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodeSets {
    /// Code set for values of the IDL types `char` and `string`.
    pub narrow: NarrowCodeSet,
    /// Code set for `wchar` and `wstring`; `None` until it is agreed on: there is no fallback, and
    /// using wide text then is an error.
    pub wide: Option<WideCodeSet>,
}

impl CodeSets {
    /// Code sets before any are agreed on: ISO 8859-1, and no wide text (§7.10.2.6).
    pub const UNNEGOTIATED: Self = Self {
        narrow: NarrowCodeSet::Iso8859_1,
        wide: None,
    };

    /// Native code sets of Punctual: UTF-8 and UTF-16.
    pub const NATIVE: Self = Self {
        narrow: NarrowCodeSet::Utf8,
        wide: Some(WideCodeSet::Utf16),
    };
}

impl Default for CodeSets {
    /// Returns the native code sets of Punctual, [`CodeSets::NATIVE`].
    fn default() -> Self {
        Self::NATIVE
    }
}
