//! Urgency of deliveries: levels, and a schedule that gives them to entries of filters.

use std::cmp::Reverse;
use std::fmt;

/// Urgency of a delivery, as TAO's scheduling service states it: a group, and a priority in it.
///
/// Levels are ordered by urgency: a more urgent one is `Less`, so that it sorts first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Level {
    /// Preemption group; 0 is the most urgent.
    pub preemption_group: u8,
    /// Priority in the group; a higher one is more urgent.
    pub priority: i16,
}

impl Level {
    /// Makes a level of a preemption group and a priority in it.
    #[must_use]
    pub const fn new(preemption_group: u8, priority: i16) -> Self {
        Self {
            preemption_group,
            priority,
        }
    }

    fn rank(self) -> (u8, Reverse<i16>) {
        (self.preemption_group, Reverse(self.priority))
    }
}

impl PartialOrd for Level {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Level {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "group {}, priority {}",
            self.preemption_group, self.priority
        )
    }
}

/// Schedule that knows the levels of `RT_Info` handles (`Dependency::rt_info`). One consumer may so
/// receive at several levels, one for each of its filter's entries (O'Ryan et al. 2001,
/// §3.2.4).
pub trait Schedule: Send + Sync {
    /// Returns the level of a handle; `None` if the schedule does not have it. Asked when a
    /// consumer subscribes, never while events pass.
    fn level(&self, rt_info: i32) -> Option<Level>;
}
