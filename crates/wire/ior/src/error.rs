//! What can be wrong with a reference.

use punctual_cdr::CdrError;
use thiserror::Error;

/// Why a text or octets are not a reference, or a profile's data not what its tag says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum IorError {
    /// The text does not begin with `IOR:`.
    #[error("a stringified reference begins with 'IOR:'")]
    NoPrefix,
    /// A character that is no hexadecimal digit.
    #[error("the character at offset {position} is not a hexadecimal digit")]
    BadDigit {
        /// Its offset in the text, in octets.
        position: usize,
    },
    /// An odd number of digits: half an octet is missing.
    #[error("the digits end at offset {position} in the middle of an octet")]
    OddDigits {
        /// The length of the text, in octets.
        position: usize,
    },
    /// The octets of a reference or profile are malformed.
    #[error("malformed data: {0}")]
    Cdr(#[from] CdrError),
    /// A profile of a version that has nothing in common with ours.
    #[error("the profile's version is {major}.{minor}; only 1.x is known")]
    UnsupportedVersion {
        /// The major version.
        major: u8,
        /// The minor version.
        minor: u8,
    },
}
