//! What can go wrong between values and octets.

use thiserror::Error;

/// Why a value could not be encoded or decoded. Small, without allocation; the ORB turns it into
/// a system exception.
///
/// Lengths and limits above 4 GiB are reported as 4 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CdrError {
    /// The octets end before the value does.
    #[error("the value needs {needed} octets and {left} are left")]
    Truncated {
        /// Octets that the value takes, padding included.
        needed: u32,
        /// Octets that are there.
        left: u32,
    },
    /// A string, sequence or message is longer than the configured limit.
    #[error("a length of {length} exceeds the limit of {limit}")]
    LengthOverLimit {
        /// The length found or given.
        length: u32,
        /// The limit it exceeds.
        limit: u32,
    },
    /// A string or sequence is longer than the bound that its IDL type has.
    #[error("a length of {length} exceeds the type's bound of {bound}")]
    BoundExceeded {
        /// The length found or given.
        length: u32,
        /// The bound.
        bound: u32,
    },
    /// The last octet of a string on the wire is not NUL.
    #[error("a string does not end with a NUL")]
    StringWithoutNul,
    /// A string holds a NUL, which IDL does not allow.
    #[error("a string holds a NUL character")]
    InnerNul,
    /// A character that the transmission code set lacks.
    #[error("a character does not exist in the transmission code set")]
    CharacterNotInCodeSet,
    /// Text that is ill-formed in the transmission code set, for example a lone surrogate.
    #[error("the text is ill-formed in the transmission code set")]
    BadCharacter,
    /// Wide text, but no code set for it was agreed on.
    #[error("no code set for wide text was negotiated")]
    WideNotNegotiated,
    /// Wide text, which GIOP 1.0 does not have.
    #[error("GIOP 1.0 cannot carry wide text")]
    WideInGiop10,
    /// An octet that should be a boolean is neither 0 nor 1.
    #[error("{0} is not a boolean")]
    BadBoolean(u8),
    /// A number that no enumerator of the type has.
    #[error("the enumeration has no member number {0}")]
    UnknownEnumerator(u32),
    /// A union discriminator without a label in a union without a default.
    #[error("the union has no member for its discriminator")]
    UnknownDiscriminator,
    /// Values nest deeper than the configured limit.
    #[error("values nest deeper than {limit} levels")]
    TooDeep {
        /// The limit.
        limit: u16,
    },
    /// An encapsulation is empty or its byte-order octet is neither 0 nor 1.
    #[error("an encapsulation does not begin with a byte-order octet")]
    BadEncapsulation,
    /// A fixed-point number has a half octet that is no digit, or no sign.
    #[error("a fixed-point number is ill-formed")]
    BadFixed,
    /// A nil reference where one is not allowed.
    #[error("a nil reference where one is not allowed")]
    NilReference,
    /// A run of octets that travels beside its message stands where something else is expected.
    #[error("a lent run of octets stands where something else is expected")]
    LentElsewhere,
    /// A reference was to come alive and no ORB was given to the decoder.
    #[error("the decoder was given no environment of the type that the value needs")]
    NoEnvironment,
    /// A TypeCode that describes no type, or not the one that it should.
    #[error("the TypeCode is not valid: {0}")]
    BadTypeCode(&'static str),
    /// A value of a type for which there is no factory, nor for one that it could be truncated to.
    #[error("there is no factory for a value")]
    UnknownValue,
    /// More values in a message than the configured limit.
    #[error("a message holds more than {limit} values")]
    TooManyValues {
        /// The limit.
        limit: usize,
    },
    /// What refers back to earlier octets has had more of them read again than the message is worth.
    #[error(
        "octets that were read before are referred to again and again: {again} in all, and the limit is {limit}"
    )]
    ReadAgain {
        /// Octets read again.
        again: usize,
        /// The limit: [`crate::Decoder::read_again`].
        limit: usize,
    },
    /// A value that this type cannot have, for a reason that no other variant tells.
    #[error("the value is not valid: {0}")]
    Invalid(&'static str),
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
