//! Strategies for choosing a member.

/// Strategy by which one member of a group is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Choice {
    /// Strategy by which each member is chosen in turn.
    RoundRobin = 0,
    /// Strategy by which a random member is chosen.
    ByChance = 1,
    /// Strategy by which the member with the lowest reported load is chosen.
    LeastLoaded = 2,
    /// All members in one reference, which has the profiles of each.
    AllProfiles = 3,
}

impl Choice {
    /// Returns the strategy with this number, as used in stores.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::RoundRobin),
            1 => Some(Self::ByChance),
            2 => Some(Self::LeastLoaded),
            3 => Some(Self::AllProfiles),
            _ => None,
        }
    }
}
