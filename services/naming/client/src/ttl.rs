//! Time to live of a temporary binding.

use std::time::Duration;

/// A time to live, from one second to 24 hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ttl(u32);

impl Ttl {
    const SHORTEST: u32 = 1_000;
    const LONGEST: u32 = 24 * 60 * 60 * 1_000;
    /// Error text that states the permitted range of a time to live.
    pub const BOUNDS: &str = "the time to live must be from 1 s to 24 h";

    /// Returns the time to live of this many milliseconds, if it is within the bounds.
    #[must_use]
    pub const fn from_millis(millis: u32) -> Option<Self> {
        match millis >= Self::SHORTEST && millis <= Self::LONGEST {
            true => Some(Self(millis)),
            false => None,
        }
    }

    /// Returns the time to live in milliseconds.
    #[must_use]
    pub const fn millis(self) -> u32 {
        self.0
    }

    /// Returns the time to live as a duration.
    #[must_use]
    pub const fn duration(self) -> Duration {
        Duration::from_millis(self.0 as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_to_live_is_between_a_second_and_a_day() {
        for good in [1_000, 1_001, 86_400_000] {
            assert_eq!(Ttl::from_millis(good).unwrap().millis(), good);
        }
        for bad in [0, 999, 86_400_001, u32::MAX] {
            assert_eq!(Ttl::from_millis(bad), None);
        }
    }
}
