//! Errors of encoding and decoding.

use thiserror::Error;

/// Error of encoding or decoding a value. Small, without allocation; the ORB turns it into a system
/// exception.
///
/// Lengths and limits above 4 GiB are reported as 4 GiB.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CdrError {
    /// The input ends before the value does.
    #[error("the value needs {needed} bytes and {left} are left")]
    Truncated {
        /// Number of bytes that the value takes, including padding.
        needed: u32,
        /// Number of bytes that are left in the input.
        left: u32,
    },
    /// A string, sequence or message is longer than the configured limit.
    #[error("a length of {length} exceeds the limit of {limit}")]
    LengthOverLimit {
        /// Actual length of the string, sequence or message.
        length: u32,
        /// Limit that the length exceeds.
        limit: u32,
    },
    /// A string or sequence is longer than the bound that its IDL type has.
    #[error("a length of {length} exceeds the type's bound of {bound}")]
    BoundExceeded {
        /// Actual length of the bounded string or sequence.
        length: u32,
        /// Bound in the type of the string or sequence.
        bound: u32,
    },
    /// The last octet of a string on the wire is not NUL.
    #[error("a string does not end with a NUL")]
    StringWithoutNul,
    /// A string holds a NUL, which IDL does not allow.
    #[error("a string holds a NUL character")]
    InnerNul,
    /// A character does not exist in the transmission code set.
    #[error("a character does not exist in the transmission code set")]
    CharacterNotInCodeSet,
    /// Text is ill-formed in the transmission code set, for example a lone surrogate.
    #[error("the text is ill-formed in the transmission code set")]
    BadCharacter,
    /// Wide text is used without a negotiated code set for it.
    #[error("no code set for wide text was negotiated")]
    WideNotNegotiated,
    /// Wide text is used, and the peer chose a code set for it that is not supported.
    #[error("the peer chose code set {0:#010x} for wide text, which is not supported")]
    WideCodeSetUnsupported(u32),
    /// Wide text is used in GIOP 1.0, which does not have it.
    #[error("GIOP 1.0 cannot carry wide text")]
    WideInGiop10,
    /// An octet that should be a boolean is neither 0 nor 1.
    #[error("{0} is not a boolean")]
    BadBoolean(u8),
    /// A number does not denote an enumerator of the type.
    #[error("the enumeration has no member number {0}")]
    UnknownEnumerator(u32),
    /// A union discriminator has no label, and the union no default.
    #[error("the union has no member for its discriminator")]
    UnknownDiscriminator,
    /// Values nest deeper than the configured limit.
    #[error("values nest deeper than {limit} levels")]
    TooDeep {
        /// Configured limit on the nesting depth.
        limit: u16,
    },
    /// An encapsulation is empty or its byte-order octet is neither 0 nor 1.
    #[error("an encapsulation does not begin with a byte-order octet")]
    BadEncapsulation,
    /// A fixed-point number has a half octet that is no digit, or no sign.
    #[error("a fixed-point number is ill-formed")]
    BadFixed,
    /// A reference is nil where that is not allowed.
    #[error("nil reference not allowed here")]
    NilReference,
    /// A run of bytes that is transmitted outside of its message occurs where something else is
    /// expected.
    #[error("unexpected lent run of bytes")]
    LentElsewhere,
    /// An object reference or value needs an ORB, and the decoder was given none.
    #[error("no environment (ORB) of the required type was given to the decoder")]
    NoEnvironment,
    /// A TypeCode is invalid, or not the expected one.
    #[error("the TypeCode is not valid: {0}")]
    BadTypeCode(&'static str),
    /// A value's type has no factory, nor has a type that it could be truncated to.
    #[error("no factory is registered for a value")]
    UnknownValue,
    /// A message holds more values than the configured limit.
    #[error("a message holds more than {limit} values")]
    TooManyValues {
        /// Configured limit on the number of values.
        limit: usize,
    },
    /// References back to earlier data have caused too many bytes to be read again, relative to the
    /// message's length.
    #[error(
        "references back to earlier data cause {again} bytes to be read again, and the limit is {limit}"
    )]
    ReadAgain {
        /// Number of bytes that were read again.
        again: usize,
        /// Limit on the bytes that are read again, see [`crate::Decoder::read_again`].
        limit: usize,
    },
    /// A value is invalid for its type, for a reason that no other variant expresses.
    #[error("the value is not valid: {0}")]
    Invalid(&'static str),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for CdrError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl CdrError {
    #[cold]
    #[inline(never)]
    pub(crate) fn truncated(needed: usize, left: usize) -> Self {
        Self::Truncated {
            needed: saturated(needed),
            left: saturated(left),
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn over_limit(length: usize, limit: usize) -> Self {
        Self::LengthOverLimit {
            length: saturated(length),
            limit: saturated(limit),
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn over_bound(length: usize, bound: u32) -> Self {
        Self::BoundExceeded {
            length: saturated(length),
            bound,
        }
    }
}

fn saturated(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
