//! Shapes: properties of all values of a type, and the check that a type is valid.
//!
//! A value of fixed size is skipped by arithmetic: the number of its bytes depends only on its
//! offset modulo 8. So is a sequence of such values, however long.

mod check;
mod compute;

use crate::type_code::Index;

pub(crate) use compute::shapes;

/// Properties on the wire that all values of a type share.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Alignment of the first byte of an encoded value.
    pub(crate) first: u8,
    /// Sorts of content that the type's values contain, at any depth.
    pub(crate) holds: Holds,
    /// Minimum number of bytes of an encoded value, without padding.
    pub(crate) min_size: u64,
    /// Least number of parts that a value is decoded into, itself included, elements of sequences
    /// excluded.
    pub(crate) parts: u32,
    /// Number of bytes of a value, padding before it included, for each phase at which it may
    /// begin: its offset modulo 8. `None` where that depends on the value.
    pub(crate) sizes: Option<Sizes>,
    /// Index of the type that remains after all aliases are resolved.
    pub(crate) original: Index,
}

/// Number of bytes of a value, for each phase (offset modulo 8) at which it may begin.
pub(crate) type Sizes = [u64; 8];

impl Shape {
    /// Shape of the types `null` and `void`, whose values take no bytes.
    pub(crate) const EMPTY: Self = Self {
        first: 1,
        holds: Holds(0),
        min_size: 0,
        parts: 1,
        sizes: Some([0; 8]),
        original: 0,
    };

    pub(super) fn of_number(size: u8, alignment: u8) -> Self {
        let mut sizes = [0; 8];
        for (phase, taken) in (0u64..).zip(&mut sizes) {
            *taken = u64::from(size) + (phase.wrapping_neg() & u64::from(alignment - 1));
        }
        Self {
            first: alignment,
            holds: Holds::aligned(alignment),
            min_size: u64::from(size),
            parts: 1,
            sizes: Some(sizes),
            original: 0,
        }
    }

    pub(super) fn variable(first: u8, min_size: u64, holds: u16) -> Self {
        Self {
            first,
            holds: Holds(Holds::aligned(first).0 | holds),
            min_size,
            parts: 1,
            sizes: None,
            original: 0,
        }
    }
}

/// Set of the sorts of content that a value holds somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Holds(pub(super) u16);

impl Holds {
    pub(super) const ALIGNED_2: u16 = 1;
    pub(super) const ALIGNED_4: u16 = 2;
    pub(super) const ALIGNED_8: u16 = 4;
    pub(super) const NARROW: u16 = 8;
    pub(super) const WIDE: u16 = 16;
    pub(super) const ANY: u16 = 32;
    pub(super) const REFERENCE: u16 = 64;
    pub(super) const VALUE: u16 = 128;

    /// Content of an Any of which nothing is known.
    pub(crate) const ANY_ALONE: Self = Self(Self::ALIGNED_4 | Self::ANY);

    /// Returns the sorts of content of both.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the sorts of content besides the values of Anys, whose TypeCodes stay.
    pub(crate) const fn without_anys(self) -> Self {
        Self(self.0 & !Self::ANY)
    }

    const fn aligned(alignment: u8) -> Self {
        Self(match alignment {
            2 => Self::ALIGNED_2,
            4 => Self::ALIGNED_4,
            8 => Self::ALIGNED_8,
            _ => 0,
        })
    }

    /// Returns the largest alignment of anything in a value. The encoding of the value depends on
    /// its offset only modulo that alignment.
    pub(crate) const fn alignment(self) -> usize {
        if self.0 & (Self::ALIGNED_8 | Self::ANY | Self::VALUE) != 0 {
            8
        } else if self.0 & Self::ALIGNED_4 != 0 {
            4
        } else if self.0 & Self::ALIGNED_2 != 0 {
            2
        } else {
            1
        }
    }

    /// Returns whether values contain, or may contain, a `char` or `string`.
    pub(crate) const fn has_narrow(self) -> bool {
        self.0 & (Self::NARROW | Self::ANY | Self::VALUE) != 0
    }

    /// Returns whether values contain, or may contain, a `wchar` or `wstring`.
    pub(crate) const fn has_wide(self) -> bool {
        self.0 & (Self::WIDE | Self::ANY | Self::VALUE) != 0
    }

    /// Returns whether values contain valuetypes, not counting those in Anys.
    pub(crate) const fn has_values(self) -> bool {
        self.0 & Self::VALUE != 0
    }

    /// Returns whether values of the type contain, or may contain, valuetypes.
    pub(crate) const fn may_have_values(self) -> bool {
        self.0 & (Self::ANY | Self::VALUE) != 0
    }

    /// Returns whether values contain, or may contain, object references or valuetypes, which need
    /// an environment.
    pub(crate) const fn has_live(self) -> bool {
        self.0 & (Self::REFERENCE | Self::ANY | Self::VALUE) != 0
    }
}

/// Returns the number of bytes of `count` values of fixed size that begin at `phase`. In constant
/// time: phases repeat after 8 values at most.
pub(crate) fn run_size(sizes: &Sizes, phase: usize, count: u64) -> u64 {
    let taken = |phase: u64| {
        let place = usize::try_from(phase % 8).unwrap_or(0);
        sizes.get(place).copied().unwrap_or(0)
    };
    let mut total = 0u64;
    let mut at = phase as u64 % 8;
    let mut seen = [None; 8];
    let mut done = 0u64;
    while done < count {
        let place = seen.get_mut(usize::try_from(at).unwrap_or(0));
        let Some(place) = place else { break };
        if let Some((before, total_then)) = *place {
            let (period, each): (u64, u64) = (done - before, total - total_then);
            let rounds = (count - done) / period;
            total = total.saturating_add(each.saturating_mul(rounds));
            done += rounds * period;
            seen = [None; 8];
            if done == count {
                break;
            }
            continue;
        }
        *place = Some((done, total));
        let size = taken(at);
        total = total.saturating_add(size);
        at = at.wrapping_add(size) % 8;
        done += 1;
    }
    total
}
