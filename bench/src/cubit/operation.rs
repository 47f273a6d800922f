//! Operations of figure 16, and those with which lent buffers are compared.
//!
//! The paper names its types in its text (§5.2): void, octet and long, a structure of octet, long
//! and short, and sequences of 4 and of 4,096 octets' worth of octets and of longs; also "a large
//! sequence of structs", without a length: here as many as make 4 KiB.

use crate::case::{Case, Operation as Like};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Operation of `cubit.idl`; sequences with their number of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Operation {
    Void,
    Octet,
    Long,
    Struct,
    Octets(u32),
    Longs(u32),
    Structs(u32),
    /// Call that passes octets from memory that the caller owns.
    Slice(u32),
    /// Octets as argument, from a buffer that the connection lent.
    Loan(u32),
    /// Octets as argument, from memory of the caller's, under the policy that nothing is lent.
    Copied(u32),
}

/// Operations in the columns of figure 16 of the paper.
pub(super) const FIGURE_16: [Operation; 9] = [
    Operation::Void,
    Operation::Octet,
    Operation::Long,
    Operation::Struct,
    Operation::Octets(4),
    Operation::Longs(1),
    Operation::Octets(4096),
    Operation::Longs(1024),
    Operation::Structs(341),
];

/// Returns the operations by which lent buffers of this size are compared with copied ones.
pub(super) const fn lent(octets: u32) -> [Operation; 3] {
    [
        Operation::Slice(octets),
        Operation::Loan(octets),
        Operation::Copied(octets),
    ]
}

impl Operation {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Void => "void",
            Self::Octet => "octet",
            Self::Long => "long",
            Self::Struct => "struct",
            Self::Octets(_) => "octets",
            Self::Longs(_) => "longs",
            Self::Structs(_) => "structs",
            Self::Slice(_) => "slice",
            Self::Loan(_) => "loan",
            Self::Copied(_) => "copied",
        }
    }

    pub(super) const fn units(self) -> Option<u32> {
        match self {
            Self::Octets(units)
            | Self::Longs(units)
            | Self::Structs(units)
            | Self::Slice(units)
            | Self::Loan(units)
            | Self::Copied(units) => Some(units),
            _ => None,
        }
    }

    /// Returns whether the paper counts the operation among "smaller data sizes and basic types".
    pub(super) const fn is_small(self) -> bool {
        matches!(
            self,
            Self::Void | Self::Octet | Self::Long | Self::Octets(..=4) | Self::Longs(..=1)
        )
    }

    /// Returns whether the operation compares lent buffers with copied ones.
    pub(super) const fn compares_lent(self) -> bool {
        matches!(self, Self::Slice(_) | Self::Loan(_) | Self::Copied(_))
    }

    /// Returns whether raw sockets have an equivalent of the operation; policies and lent buffers
    /// have none.
    pub(super) const fn has_floor(self) -> bool {
        !matches!(self, Self::Loan(_) | Self::Copied(_))
    }

    /// Returns the operation of `cubit.idl` with its units, as omniORB's client knows it.
    pub(super) fn of_cubit(self) -> String {
        let (name, units) = match self {
            Self::Void => ("cube_void", 0),
            Self::Octet => ("cube_octet", 0),
            Self::Long => ("cube_long", 0),
            Self::Struct => ("cube_struct", 0),
            Self::Octets(units) => ("echo_octets", units),
            Self::Longs(units) => ("echo_longs", units),
            Self::Structs(units) => ("echo_cubes", units),
            Self::Slice(units) | Self::Loan(units) | Self::Copied(units) => ("take_octets", units),
        };
        format!("{name}:{units}")
    }

    /// Returns the case whose GIOP messages have the same length, except for a few bytes of padding
    /// and names.
    pub(super) fn like(self) -> Case {
        match self {
            Self::Void => Case::plain(Like::CubeVoid),
            Self::Octet | Self::Long => Case::plain(Like::CubeLong),
            Self::Struct => Case::plain(Like::CubeStruct),
            Self::Octets(units) => Case::sized(Like::EchoOctets, units),
            Self::Longs(units) => Case::sized(Like::EchoOctets, units.saturating_mul(4)),
            Self::Structs(units) => Case::sized(Like::EchoOctets, units.saturating_mul(12)),
            Self::Slice(units) | Self::Loan(units) | Self::Copied(units) => {
                Case::sized(Like::TakeOctets, units)
            }
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        self.units().map_or(Ok(()), |units| write!(f, ":{units}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_as_large_as_the_papers() {
        let request = |operation: Operation| operation.like().lengths().request;
        let overhead = request(Operation::Octets(4)) - 4;
        for operation in [Operation::Octets(4096), Operation::Longs(1024)] {
            assert_eq!(request(operation), overhead + 4096);
        }
        assert!(request(Operation::Structs(341)).abs_diff(overhead + 4096) < 8);
    }
}
