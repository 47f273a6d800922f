//! ClientPriorityPolicy: the priorities of the endpoints that a client's calls use (O'Ryan et al.
//! 2001, §4.2.2).

use punctual_ior::tags;
use punctual_orb::{PolicyLevels, PolicyType, Priority};
use std::ops::RangeInclusive;

/// Selection among a server's prioritised endpoints. Without this policy, calls to objects with
/// CLIENT_PROPAGATED use the endpoint of the thread's priority, or else the one with the nearest
/// priority, and all others use any endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientPriorityPolicy {
    /// USE_NO_PRIORITY: requests are sent to any of the server's endpoints.
    UseNoPriority,
    /// USE_THREAD_PRIORITY: an endpoint of the calling thread's CORBA priority. INV_POLICY where
    /// there is none.
    UseThreadPriority,
    /// USE_PRIORITY_RANGE: an endpoint of a priority in this range. INV_POLICY where there is none.
    UsePriorityRange(RangeInclusive<Priority>),
}

impl PolicyType for ClientPriorityPolicy {
    const NUMBER: u32 = tags::policy::TAO_CLIENT_PRIORITY;
    const NAME: &'static str = "ClientPriorityPolicy";
    const LEVELS: PolicyLevels = PolicyLevels::CLIENT;

    fn check(&self) -> Result<(), String> {
        match self {
            Self::UsePriorityRange(range) if range.is_empty() => Err(format!(
                "the range of priorities from {} to {} is empty",
                range.start(),
                range.end()
            )),
            _ => Ok(()),
        }
    }
}
