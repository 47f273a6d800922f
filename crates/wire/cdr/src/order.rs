//! The order of the octets of a number.

/// The order in which a number's octets travel. The sender chooses, the receiver follows
/// (CORBA 3.3 part 2, §9.3.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Most significant octet first.
    Big,
    /// Least significant octet first.
    Little,
}

impl ByteOrder {
    /// The order of the machine this runs on.
    pub const NATIVE: Self = if cfg!(target_endian = "little") {
        Self::Little
    } else {
        Self::Big
    };

    /// The order that a flag octet tells: bit 0 set means little-endian. Its other bits are not
    /// looked at (in GIOP they say other things).
    #[inline]
    #[must_use]
    pub const fn from_flag(flag: u8) -> Self {
        if flag & 1 == 0 {
            Self::Big
        } else {
            Self::Little
        }
    }

    /// The flag octet that tells this order: 0 for big-endian, 1 for little-endian.
    #[inline]
    #[must_use]
    pub const fn flag(self) -> u8 {
        match self {
            Self::Big => 0,
            Self::Little => 1,
        }
    }

    /// The other one.
    #[inline]
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Big => Self::Little,
            Self::Little => Self::Big,
        }
    }

    /// Whether this is the machine's own order.
    #[inline]
    #[must_use]
    pub fn is_native(self) -> bool {
        self == Self::NATIVE
    }
}

impl Default for ByteOrder {
    /// The machine's own order.
    fn default() -> Self {
        Self::NATIVE
    }
}
