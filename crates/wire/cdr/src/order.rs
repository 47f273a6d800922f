//! Byte order of numbers.

/// Order in which a number's bytes travel. The sender chooses, the receiver follows (CORBA 3.3 part
/// 2, §9.3.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Big-endian: the most significant byte comes first.
    Big,
    /// Little-endian: the least significant byte comes first.
    Little,
}

impl ByteOrder {
    /// Byte order of the machine on which the program runs.
    pub const NATIVE: Self = if cfg!(target_endian = "little") {
        Self::Little
    } else {
        Self::Big
    };

    /// Returns the order that a flag octet denotes: bit 0 set means little-endian. Its other bits
    /// are ignored (in GIOP they have other meanings).
    #[inline]
    #[must_use]
    pub const fn from_flag(flag: u8) -> Self {
        if flag & 1 == 0 {
            Self::Big
        } else {
            Self::Little
        }
    }

    /// Returns the flag octet of this order: 0 for big-endian, 1 for little-endian.
    #[inline]
    #[must_use]
    pub const fn flag(self) -> u8 {
        match self {
            Self::Big => 0,
            Self::Little => 1,
        }
    }

    /// Returns the opposite byte order.
    #[inline]
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Big => Self::Little,
            Self::Little => Self::Big,
        }
    }

    /// Returns whether this is the byte order of the machine.
    #[inline]
    #[must_use]
    pub fn is_native(self) -> bool {
        self == Self::NATIVE
    }
}

impl Default for ByteOrder {
    /// Returns the byte order of the machine.
    fn default() -> Self {
        Self::NATIVE
    }
}
