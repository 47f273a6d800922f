//! Policies of Fault Tolerant CORBA (CORBA 3.0, §23.2.8 and §23.2.9).

use crate::time;
use punctual_ior::tags;
use punctual_orb::{Policy, PolicyLevels, PolicyType, TaggedComponent};
use std::time::Duration;

/// Time for which a client's calls to object groups are repeated, and servers keep the replies
/// (FT::RequestDurationPolicy).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestDurationPolicy(pub Duration);

impl RequestDurationPolicy {
    /// Returns the policy with this duration.
    #[must_use]
    pub fn policy(duration: Duration) -> Policy {
        Policy::of(Self(duration))
    }
}

impl PolicyType for RequestDurationPolicy {
    const NUMBER: u32 = tags::policy::REQUEST_DURATION;
    const NAME: &'static str = "RequestDurationPolicy";
    const LEVELS: PolicyLevels = PolicyLevels::CLIENT;

    fn check(&self) -> Result<(), String> {
        match time::units(self.0) {
            0 => Err("a duration of 0".to_owned()),
            _ => Ok(()),
        }
    }
}

/// Heartbeats that a client sends while it waits for a reply (FT::HeartbeatPolicy), to servers whose references say that they
/// answer them. By default none are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeartbeatPolicy {
    /// Whether heartbeats are sent.
    pub heartbeat: bool,
    /// Time without a reply after which one is sent; more than 0.
    pub interval: Duration,
    /// Time without an answer to it after which the connection counts as dead; more than 0.
    pub time_out: Duration,
}

impl HeartbeatPolicy {
    /// Returns the policy by which heartbeats are sent at this interval.
    #[must_use]
    pub fn policy(interval: Duration, time_out: Duration) -> Policy {
        Policy::of(Self {
            heartbeat: true,
            interval,
            time_out,
        })
    }
}

impl PolicyType for HeartbeatPolicy {
    const NUMBER: u32 = tags::policy::HEARTBEAT;
    const NAME: &'static str = "HeartbeatPolicy";
    const LEVELS: PolicyLevels = PolicyLevels::CLIENT;

    fn check(&self) -> Result<(), String> {
        match self.heartbeat && (self.interval.is_zero() || self.time_out.is_zero()) {
            true => Err("an interval or a time-out of 0".to_owned()),
            false => Ok(()),
        }
    }
}

/// Publication in references that the server answers heartbeats (FT::HeartbeatEnabledPolicy), as the component
/// TAG_FT_HEARTBEAT_ENABLED. An ORB with fault tolerance answers them in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeartbeatEnabledPolicy(pub bool);

impl PolicyType for HeartbeatEnabledPolicy {
    const NUMBER: u32 = tags::policy::HEARTBEAT_ENABLED;
    const NAME: &'static str = "HeartbeatEnabledPolicy";
    const LEVELS: PolicyLevels = PolicyLevels::POA.and(PolicyLevels::POA_DEFAULT);

    fn component(&self) -> Option<TaggedComponent> {
        Some(TaggedComponent::ft_heartbeat_enabled(self.0))
    }
}
