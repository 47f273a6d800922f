//! Links of chains of slots: the link of a slot, and of a bucket of the hash index.
//!
//! ```text
//! 0                       not set
//! 1 + index               a slot
//! 0x8000_0000 + bucket    the head of a bucket
//! 0xc000_0000 + index     a free slot, and the next free one
//! 0xffff_ffff             the end
//! ```

const BUCKET: u32 = 0x8000_0000;
const FREE: u32 = 0xc000_0000;
const END: u32 = u32::MAX;

/// Link to the next element of a chain of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    NotSet,
    Slot(u32),
    Bucket(u32),
    /// Slot with this index, in the chain of free slots.
    Free(u32),
    End,
}

impl Link {
    pub(super) fn pack(self) -> u32 {
        match self {
            Self::NotSet => 0,
            Self::Slot(index) => index + 1,
            Self::Bucket(bucket) => BUCKET | bucket,
            Self::Free(index) => FREE | index,
            Self::End => END,
        }
    }

    #[inline]
    pub(super) fn unpack(link: u32) -> Self {
        match link {
            0 => Self::NotSet,
            END => Self::End,
            _ if link < BUCKET => Self::Slot(link - 1),
            _ if link < FREE => Self::Bucket(link & !BUCKET),
            _ => Self::Free(link & !FREE),
        }
    }
}
