//! Limits and times of a group service.

use std::time::Duration;

/// Limits of the groups that a service has, and the times of its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of groups.
    pub groups: usize,
    /// Maximum number of members of a group.
    pub members: usize,
    /// Maximum number of members of all groups.
    pub all_members: usize,
    /// Maximum number of properties of a group or of a type.
    pub properties: usize,
    /// Maximum length of the properties of a group or of a type, in bytes.
    pub property_bytes: usize,
    /// Maximum number of types that have properties of their own.
    pub types: usize,
    /// Maximum number of locations with loads, monitors or alerts.
    pub locations: usize,
    /// Maximum length of a location as text, of a type's id and of a member's reference, in bytes.
    pub name_bytes: usize,
    /// Maximum length of a group's stored state, in bytes.
    pub state_bytes: usize,
    /// Maximum number of a group's updates since its stored state.
    pub updates: usize,
    /// Maximum length of a group's updates since its stored state, in bytes.
    pub update_bytes: usize,
    /// Maximum length of all groups' stored states and updates, in bytes.
    pub all_state_bytes: usize,
    /// Maximum number of consumers of faults.
    pub consumers: usize,
    /// Maximum number of requests that wait for the next primary of a group.
    pub waiting: usize,
    /// Time for which a request waits for the next primary of a group.
    pub wait: Duration,
    /// Time within which a member, a factory, a strategy, a monitor or an alert has to answer.
    pub call: Duration,
    /// Shortest lease of a member.
    pub shortest_lease: Duration,
    /// Time between two questions to each load monitor.
    pub monitor_interval: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            groups: 10_000,
            members: 256,
            all_members: 100_000,
            properties: 32,
            property_bytes: 65_536,
            types: 1_000,
            locations: 10_000,
            name_bytes: 4_096,
            state_bytes: 1_048_576,
            updates: 1_000,
            update_bytes: 1_048_576,
            all_state_bytes: 268_435_456,
            consumers: 256,
            waiting: 1_000,
            wait: Duration::from_secs(10),
            call: Duration::from_secs(1),
            shortest_lease: Duration::from_millis(30),
            monitor_interval: Duration::from_secs(5),
        }
    }
}

/// Longest lease of a member: as long as names may live that are not renewed.
pub(crate) const LONGEST_LEASE: Duration = Duration::from_secs(24 * 3_600);

/// Maximum number of loads of a location.
pub(crate) const MOST_LOADS: usize = 16;
