//! Spinning on a socket before blocking on it.

use crate::{LinkError, Phase, Properties};
use punctual_exec::{Look, Spin};
use std::time::Duration;

/// Spinning of a thread that receives: it polls the socket repeatedly before it blocks. A wake-up
/// takes longer than most answers do, where they come from another processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpinOptions {
    /// Upper bound of the time: less while spinning keeps failing, down to none. Default 50 µs;
    /// zero never spins. Property `spin_us`.
    pub budget: Duration,
    /// `true` if threads under `SCHED_FIFO`, `SCHED_RR` and `SCHED_DEADLINE` spin, too, and those
    /// of a process whose control group may use less time than its processors have (cgroup
    /// `cpu.max`), however many spin already. Default off: the peer may need the processor, or
    /// calls the time. For peers whose threads have processors of their own. Property
    /// `spin_always`.
    pub always: bool,
}

/// Names of the properties that set spinning before a receive blocks.
pub const SPIN_PROPERTIES: [&str; 2] = ["spin_us", "spin_always"];

impl Default for SpinOptions {
    fn default() -> Self {
        Self {
            budget: Duration::from_micros(50),
            always: false,
        }
    }
}

impl SpinOptions {
    /// Returns the spin options overridden by the [`SPIN_PROPERTIES`].
    ///
    /// # Errors
    /// [`crate::Cause::BadProperty`] for a value that does not parse.
    pub fn with(&self, properties: &Properties, phase: Phase) -> Result<Self, LinkError> {
        let budget = properties.parse("spin_us", "a number of microseconds", phase)?;
        let always = properties.parse("spin_always", "true or false", phase)?;
        Ok(Self {
            budget: budget.map_or(self.budget, Duration::from_micros),
            always: always.unwrap_or(self.always),
        })
    }

    /// Returns the spin budget, if spinning is enabled.
    pub(crate) fn spin(&self) -> Option<Box<Spin>> {
        let spin = || Box::new(Spin::new(self.budget, Look::System).always(self.always));
        (!self.budget.is_zero()).then(spin)
    }
}
