//! GIOP version, on which the encoding of wide text depends.

use std::fmt;

/// Version of GIOP that Punctual speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum GiopVersion {
    /// GIOP 1.0: no fragments, no wide text.
    V1_0,
    /// GIOP 1.1: fragments without a request id.
    V1_1,
    /// GIOP 1.2: interleaved fragments, several ways to address a target.
    #[default]
    V1_2,
}

impl GiopVersion {
    /// Returns the major version number: 1.
    #[inline]
    #[must_use]
    pub const fn major(self) -> u8 {
        1
    }

    /// Returns the minor version number: 0, 1 or 2.
    #[inline]
    #[must_use]
    pub const fn minor(self) -> u8 {
        match self {
            Self::V1_0 => 0,
            Self::V1_1 => 1,
            Self::V1_2 => 2,
        }
    }

    /// Returns the version with these numbers, if Punctual speaks it.
    #[inline]
    #[must_use]
    pub const fn from_numbers(major: u8, minor: u8) -> Option<Self> {
        match (major, minor) {
            (1, 0) => Some(Self::V1_0),
            (1, 1) => Some(Self::V1_1),
            (1, 2) => Some(Self::V1_2),
            _ => None,
        }
    }

    /// Returns the highest version that both sides speak, when the other side announces these
    /// numbers. A minor version above 2 is treated as 2 (CORBA 3.3 part 2, §9.7.2: a minor version
    /// is compatible with the lower ones); another major version has nothing in common with ours.
    #[inline]
    #[must_use]
    pub const fn common_with(major: u8, minor: u8) -> Option<Self> {
        match (major, minor) {
            (1, 0) => Some(Self::V1_0),
            (1, 1) => Some(Self::V1_1),
            (1, _) => Some(Self::V1_2),
            _ => None,
        }
    }
}

impl fmt::Display for GiopVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major(), self.minor())
    }
}
