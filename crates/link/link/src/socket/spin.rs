//! Looking at a socket for a while before blocking on it.

use crate::{LinkError, Phase, Properties};
use punctual_exec::{Look, Spin};
use std::time::Duration;

/// Whether and for how long a thread that receives looks at the socket, again and again, before it
/// blocks on it. Being woken takes longer than most answers do, where they come from another processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpinOptions {
    /// For how long, at most: less while looking keeps being in vain, and not at all on a thread that
    /// may run on one processor only. Zero, the default, never looks and costs nothing. Property
    /// `spin_us`.
    pub budget: Duration,
    /// Whether threads under `SCHED_FIFO`, `SCHED_RR` and `SCHED_DEADLINE` look, too. Default off:
    /// they would keep everybody else from their processor. Property `spin_real_time`.
    pub real_time: bool,
}

/// The properties that set them.
pub(crate) const SPIN_PROPERTIES: [&str; 2] = ["spin_us", "spin_real_time"];

impl SpinOptions {
    /// These options with properties over them.
    pub(crate) fn with(&self, properties: &Properties, phase: Phase) -> Result<Self, LinkError> {
        let budget = properties.parse("spin_us", "a number of microseconds", phase)?;
        let real_time = properties.parse("spin_real_time", "true or false", phase)?;
        Ok(Self {
            budget: budget.map_or(self.budget, Duration::from_micros),
            real_time: real_time.unwrap_or(self.real_time),
        })
    }

    /// What looks, where anything is to.
    pub(crate) fn spin(&self) -> Option<Box<Spin>> {
        let spin = || Box::new(Spin::new(self.budget, Look::System).real_time(self.real_time));
        (!self.budget.is_zero()).then(spin)
    }
}
