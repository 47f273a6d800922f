//! Limits on what one call spends on connections to the endpoints of its reference.

use crate::config::OrbConfig;
use punctual_exec::Deadline;
use std::time::{Duration, Instant};

/// Time and attempts that a call may yet spend on setting up connections.
#[derive(Debug)]
pub(super) struct Allowance {
    /// Time left (`timeouts.reach_ms`).
    time: Option<Duration>,
    /// Endpoints that may yet be tried (`limits.endpoints`).
    tries: usize,
}

impl Allowance {
    pub(super) fn new(config: &OrbConfig) -> Self {
        Self {
            time: config.timeouts.reach,
            tries: config.budgets.endpoints,
        }
    }

    /// Returns the setting by which no more endpoints are tried, if there is nothing left.
    pub(super) fn exhausted_by(&self) -> Option<&'static str> {
        if self.tries == 0 {
            return Some("limits.endpoints");
        }
        let is_over = self.time.is_some_and(|left| left.is_zero());
        is_over.then_some("timeouts.reach_ms")
    }

    /// Returns the deadline by which a connection must be set up that is begun now.
    pub(super) fn deadline(&self) -> Deadline {
        Deadline::after_optional(self.time)
    }

    /// Subtracts the time since `began`.
    pub(super) fn spend_time_since(&mut self, began: Instant) {
        self.time = self.time.map(|left| left.saturating_sub(began.elapsed()));
    }

    /// Subtracts one attempt, which failed.
    pub(super) fn spend_try(&mut self) {
        self.tries = self.tries.saturating_sub(1);
    }
}
