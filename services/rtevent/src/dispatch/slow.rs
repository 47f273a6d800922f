//! Lane of slow consumers: those whose last push blocked a thread.
//!
//! They take turns at few threads of their own, and go back to their levels when a push ends in time.

use super::dispatcher::{Dispatcher, Task};
use super::workers::{Lane, Staffing, Workers};
use crate::level::Level;
use crate::options::OptionsError;
use punctual_exec::ThreadSpec;
use punctual_sys::scheduling::Scheduling;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

/// Threads of slow consumers: those whose last push took longer than `blocked_after` while others waited. They take turns,
/// whatever their levels, until a push takes less.
#[derive(Clone, Debug)]
pub struct SlowOptions {
    /// Specification of the threads. Default: the name `slow events`, and ordinary scheduling (`SCHED_OTHER`).
    pub thread: ThreadSpec,
    /// Number of threads, at least 1; they start with the first slow consumer. Default 2.
    pub threads: usize,
}

impl Default for SlowOptions {
    fn default() -> Self {
        Self {
            thread: ThreadSpec::named("slow events").scheduling(Scheduling::Other),
            threads: 2,
        }
    }
}

/// Time after which a push of a slow consumer is taken for one that never ends, so that its thread is replaced.
const FOREVER: Duration = Duration::from_secs(10);

/// Lane of the slow consumers of a strategy.
pub(super) struct SlowLane {
    staffing: Staffing,
    /// Time within which a run has to end for its task to be slow no more.
    in_time: Duration,
    workers: OnceLock<Workers>,
}

impl SlowOptions {
    /// Checks the options.
    ///
    /// # Errors
    /// There are no threads.
    pub(super) fn check(&self) -> Result<(), OptionsError> {
        match self.threads {
            0 => Err(OptionsError::Zero {
                name: "slow.threads",
            }),
            _ => Ok(()),
        }
    }
}

impl SlowLane {
    /// Makes the lane beside workers with this staffing.
    pub(super) fn beside(usual: Staffing, options: &SlowOptions) -> Self {
        Self {
            in_time: usual.blocked_after,
            staffing: Staffing {
                thread: options.thread.clone(),
                threads: options.threads,
                most_threads: options.threads,
                blocked_after: FOREVER.max(usual.blocked_after),
                ..usual
            },
            workers: OnceLock::new(),
        }
    }

    /// Schedules a task of the strategy `home` if it is slow. Returns tasks that are not, and slow ones if the machine
    /// refuses the lane's threads.
    pub(super) fn take<D: Dispatcher + 'static>(
        &self,
        home: &Weak<D>,
        level: Level,
        task: Arc<dyn Task>,
    ) -> Option<Arc<dyn Task>> {
        if !task.is_slow() {
            return Some(task);
        }
        match self.workers(home) {
            Some(workers) => {
                workers.schedule(level, task);
                None
            }
            None => Some(task),
        }
    }

    /// Returns the lane's threads, which the first slow task starts; `None` if the machine refuses them.
    fn workers<D: Dispatcher + 'static>(&self, home: &Weak<D>) -> Option<&Workers> {
        if self.workers.get().is_none() {
            let lane = Lane::Slow(home.clone(), self.in_time);
            let workers = Workers::start(self.staffing.clone(), lane).ok()?;
            // Another thread may have been first; these end then.
            let _ = self.workers.set(workers);
        }
        self.workers.get()
    }
}
