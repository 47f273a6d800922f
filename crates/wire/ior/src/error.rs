//! Errors of references.

use punctual_cdr::CdrError;
use thiserror::Error;

/// Reason why text or bytes are not a reference, or a profile's data does not match its tag.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum IorError {
    /// The stringified reference does not begin with `IOR:`.
    #[error("a stringified reference begins with 'IOR:'")]
    NoPrefix,
    /// A character of the stringified reference is not a hexadecimal digit.
    #[error("the character at offset {position} is not a hexadecimal digit")]
    BadDigit {
        /// Offset of the invalid character in the text, in bytes.
        position: usize,
    },
    /// The number of digits is odd: half a byte is missing.
    #[error("the digits end at offset {position} in the middle of a byte")]
    OddDigits {
        /// Length of the stringified reference, in bytes.
        position: usize,
    },
    /// The encoding of a reference or profile is malformed.
    #[error("the reference is cut short or damaged: {0}")]
    Cdr(#[from] CdrError),
    /// The profile's version has nothing in common with ours.
    #[error("the profile's version is {major}.{minor}; only 1.x is known")]
    UnsupportedVersion {
        /// Major version of the profile.
        major: u8,
        /// Minor version of the profile.
        minor: u8,
    },
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for IorError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
