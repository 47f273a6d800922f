//! Layout of a side's memory, and of a ring's records.
//!
//! ```text
//! octets     words    what                                          watched by
//! 0          0        HEAD: octets ever written to the ring         the peer's reader
//! 128        32       TAIL: octets ever read of the peer's ring     the peer's writer
//! 256        64       sleep words of this side's reader and writer  the peer, after each step
//! 384        96       doorbells for the peer's reader and writer        they, asleep
//! 448        112      PROCESSOR that the reader last waited on,      the peer, before it spins
//!                     plus 1
//! 512        128      CLOSED: not 0 once this side has closed       the peer
//! 1024       256      MARKS: for each slot of the peer's pool,      the peer's pool
//!                     how often this side has given it back
//! 2048       512      COMMON_MARKS: the same of its common pool     the peer's common pool
//! 4096                the ring
//! 4096+ring           the pool
//! ```
//!
//! Numbers are in the machine's own order, since both ends run on it. Counts are of 32 bits and
//! wrap. Words that one side writes constantly and words that the other polls lie two cache lines
//! apart, so that a processor that fetches lines in pairs does not make them share.
//!
//! A record of the ring begins at a multiple of 8 with a double word, its kind above and a length
//! in octets below, never 0:
//!
//! ```text
//! INLINE  length   the octets, then padding to a multiple of 8
//! LENT    length   a double word: the slot above, the offset in the pool below
//! COMMON  length   the same of the common pool
//! ```
//!
//! A side's common pool is a memory of its own, which only has a pool.

/// Size of the control area before the ring, in bytes.
pub(super) const CONTROL: usize = 4096;
/// Number of slots: upper bound of the pieces of a pool, or of a common pool, that are out at once.
pub(super) const SLOTS: usize = 256;
/// Upper bound of the references to a piece that are out at once.
pub(super) const REFERENCES: u32 = 16;

pub(super) const HEAD: usize = 0;
pub(super) const TAIL: usize = 32;
pub(super) const PROCESSOR: usize = 112;
pub(super) const CLOSED: usize = 128;
pub(super) const MARKS: usize = 256;
pub(super) const COMMON_MARKS: usize = 512;

/// Role of a thread that may sleep; each side has two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Role {
    /// Index of the role's sleep word in its own side's memory.
    pub(super) sleep: usize,
    /// Index of the doorbell that wakes the role, in the other side's memory.
    pub(super) doorbell: usize,
}

/// Role of the side that reads the peer's ring buffer.
pub(super) const READER: Role = Role {
    sleep: 64,
    doorbell: 96,
};
/// Role of the side that writes to its own ring buffer.
pub(super) const WRITER: Role = Role {
    sleep: 65,
    doorbell: 97,
};

/// Sleep word of a role that is awake; otherwise a count of sleeps above these two bits, which tell
/// how it is woken.
pub(super) const AWAKE: u32 = 0;
/// Bit of the sleep word: the role is woken by the doorbell's futex.
pub(super) const BY_FUTEX: u32 = 1;
/// Bit for waking by a byte through the socket.
pub(super) const BY_SOCKET: u32 = 2;
/// Increment of the count of sleeps in the sleep word.
pub(super) const SLEEP: u32 = 4;

/// Kind of a record with its bytes in the ring.
pub(super) const INLINE: u32 = 1;
/// Kind of a record with its bytes in the pool.
pub(super) const LENT: u32 = 2;
/// Kind of a record with its bytes in the common pool.
pub(super) const COMMON: u32 = 3;
/// Granularity of a record's size in bytes; also the size of a double word.
pub(super) const UNIT: u32 = 8;
/// Size of a record whose bytes are in the pool or the common pool.
pub(super) const LENT_SIZE: u32 = 2 * UNIT;

/// Combines two 32-bit words into one 64-bit double word.
pub(super) fn pair(above: u32, below: u32) -> u64 {
    u64::from(above) << 32 | u64::from(below)
}

/// Splits a 64-bit double word into its two 32-bit words.
#[allow(clippy::cast_possible_truncation)] // What is cut off is the other word.
pub(super) fn unpair(both: u64) -> (u32, u32) {
    ((both >> 32) as u32, both as u32)
}

/// Rounds `length`, at most 2^31, up to a whole number of units.
pub(super) fn padded(length: u32) -> u32 {
    length.wrapping_add(UNIT - 1) & !(UNIT - 1)
}

/// Sizes of the parts of one side's memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    /// Size of the ring buffer in bytes, a power of two.
    pub(super) ring: u32,
    /// Size of the pool, a multiple of a page; 0 for a side that lends nothing.
    pub(super) pool: u32,
}

/// Smallest page size in bytes; the sizes of shared memory are multiples of it.
pub(super) const PAGE: u32 = 4096;
/// Size of the largest ring buffer, in bytes.
pub(super) const LARGEST_RING: u32 = 1 << 26;
/// Size of the largest pool, in bytes.
pub(super) const LARGEST_POOL: u32 = 1 << 30;

impl Sizes {
    /// Returns whether the sizes are valid, and the pool is at most `largest`.
    pub(super) fn are_sound(self, largest: u32) -> bool {
        self.ring.is_power_of_two()
            && (PAGE..=LARGEST_RING).contains(&self.ring)
            && is_sound_pool(self.pool, largest)
    }

    /// Returns the total size of one side's shared memory, in bytes.
    pub(super) fn total(self) -> usize {
        self.pool_at() + self.pool as usize
    }

    /// Returns the offset of the pool in its side's shared memory, in bytes.
    pub(super) fn pool_at(self) -> usize {
        CONTROL + self.ring as usize
    }
}

/// Returns whether `size` is a valid size of a pool or a common pool, and at most `largest`.
pub(super) fn is_sound_pool(size: u32, largest: u32) -> bool {
    size.is_multiple_of(PAGE) && size <= largest.min(LARGEST_POOL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_words_fit_before_the_ring_and_lie_apart() {
        const { assert!(MARKS + SLOTS <= COMMON_MARKS) };
        const { assert!((COMMON_MARKS + SLOTS) * size_of::<u32>() <= CONTROL) };
    }

    #[test]
    fn unsound_sizes_are_told() {
        let sound = Sizes {
            ring: 4096,
            pool: 0,
        };
        assert!(sound.are_sound(0));
        for (ring, pool) in [
            (0, 0),
            (2048, 0),
            (4097, 0),
            (1 << 27, 0),
            (4096, 1),
            (4096, 8192),
        ] {
            assert!(!Sizes { ring, pool }.are_sound(4096), "{ring} {pool}");
        }
        assert!(
            !Sizes {
                pool: 1 << 31,
                ..sound
            }
            .are_sound(u32::MAX)
        );
    }

    #[test]
    fn words_pair_and_part() {
        assert_eq!(unpair(pair(7, u32::MAX)), (7, u32::MAX));
        assert_eq!((padded(1), padded(8), padded(9)), (8, 8, 16));
    }
}
