//! Limits on what one call spends on connections to the endpoints of its reference.

use crate::config::OrbConfig;
use punctual_exec::Deadline;
use std::time::{Duration, Instant};

/// Remaining time and number of attempts that a call may spend on setting up connections.
#[derive(Debug)]
pub(super) struct Allowance {
    /// Remaining time for setting up connections (`timeouts.reach_ms`).
    time: Option<Duration>,
    /// Number of endpoints that may still be tried (`limits.endpoints`).
    tries: usize,
}

impl Allowance {
    pub(super) fn new(config: &OrbConfig) -> Self {
        Self {
            time: config.timeouts.reach,
            tries: config.budgets.endpoints,
        }
    }

    /// Returns the name of the setting because of which no more endpoints are tried; `None` while
    /// time and attempts remain.
    pub(super) fn exhausted_by(&self) -> Option<&'static str> {
        if self.tries == 0 {
            return Some("limits.endpoints");
        }
        let is_over = self.time.is_some_and(|left| left.is_zero());
        is_over.then_some("timeouts.reach_ms")
    }

    /// Returns the deadline for setting up a connection that is started now.
    pub(super) fn deadline(&self) -> Deadline {
        Deadline::after_optional(self.time)
    }

    /// Subtracts the time since `began` from the call's allowance.
    pub(super) fn spend_time_since(&mut self, began: Instant) {
        self.time = self.time.map(|left| left.saturating_sub(began.elapsed()));
    }

    /// Subtracts one failed attempt from the call's allowance.
    pub(super) fn spend_try(&mut self) {
        self.tries = self.tries.saturating_sub(1);
    }
}
