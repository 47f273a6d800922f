//! Numbers of threads, and the tasks that they run.

use crate::dispatch::dispatcher::Dispatcher;
use punctual_exec::ThreadSpec;
use std::sync::Weak;
use std::time::Duration;

/// Numbers of threads, and when they change.
#[derive(Clone)]
pub(crate) struct Staffing {
    /// Specification of the threads.
    pub(crate) thread: ThreadSpec,
    /// Number of threads that are always there.
    pub(crate) threads: usize,
    /// Largest number of threads that are not written off.
    pub(crate) most_threads: usize,
    /// Largest number of threads that are written off.
    pub(crate) most_blocked: usize,
    /// Time after which a run counts as blocked, if others wait.
    pub(crate) blocked_after: Duration,
    /// Time after which a further thread that is idle ends.
    pub(crate) idle_for: Duration,
    pub(crate) growth: Growth,
}

/// Condition under which further threads start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    /// Runs block threads while others wait.
    WhenBlocked,
    /// Tasks wait, and no thread is idle.
    OnDemand,
}

impl Staffing {
    /// Returns whether the numbers of threads may change, so that a thread watches.
    pub(crate) fn changes(&self) -> bool {
        self.most_blocked > 0 || self.grows_on_demand() && self.most_threads > self.threads
    }

    pub(crate) fn grows_on_demand(&self) -> bool {
        self.growth == Growth::OnDemand
    }
}

/// Tasks that the threads run, and the way of others.
pub(crate) enum Lane {
    /// All tasks.
    Only,
    /// Tasks that are not slow; slow ones go to the strategy.
    Usual(Weak<dyn Dispatcher>),
    /// Slow tasks; those whose run ends within this time go back to the strategy.
    Slow(Weak<dyn Dispatcher>, Duration),
}
