//! Five steps from very low to very high.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Degree of criticality or importance, as `Criticality_t` and `Importance_t` of an `RT_Info`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Lowest level.
    VeryLow,
    /// Second lowest level.
    Low,
    /// Middle level, the default.
    #[default]
    Medium,
    /// Second highest level.
    High,
    /// Highest level.
    VeryHigh,
}

impl Level {
    /// All levels, the lowest first.
    pub const ALL: [Self; 5] = [
        Self::VeryLow,
        Self::Low,
        Self::Medium,
        Self::High,
        Self::VeryHigh,
    ];

    /// Returns the level's name as the IDL of `RtecScheduler` spells it, without its suffix:
    /// `VERY_LOW`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::VeryLow => "VERY_LOW",
            Self::Low => "LOW",
            Self::Medium => "MEDIUM",
            Self::High => "HIGH",
            Self::VeryHigh => "VERY_HIGH",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
