//! Strategy: a pool of threads for all levels, the most urgent first.

use super::dispatcher::{Dispatcher, Task};
use super::slow::{SlowLane, SlowOptions};
use super::workers::{Growth, Lane, Staffing, Workers};
use crate::level::Level;
use crate::options::OptionsError;
use punctual_exec::{SpawnError, ThreadSpec};
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

/// Dispatching by a pool of threads: each takes the most urgent work that waits. Its threads start when
/// the first consumer subscribes, and stay until this is dropped.
pub struct Pool(Arc<Lanes>);

/// Lane of all levels, and that of slow consumers.
struct Lanes {
    options: PoolOptions,
    usual: OnceLock<Workers>,
    slow: SlowLane,
    own: Weak<Self>,
}

/// Options of [`Pool`].
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// Specification of the threads. Default: the name `events` and the scheduling of the thread that
    /// subscribes first.
    pub thread: ThreadSpec,
    /// Number of threads, at least 1. Default 4.
    pub threads: usize,
    /// Largest number of threads besides those that consumers block, reached while many block at once. Default 16.
    pub most_threads: usize,
    /// Largest number of threads that consumers block: one that hangs keeps a thread until its push ends. Beyond, threads
    /// that block are not replaced. Default 1,024.
    pub most_blocked: usize,
    /// Time after which a push blocks its thread, if other consumers wait: the pool gets another thread, and the consumer
    /// is a slow one. Default 100 ms.
    pub blocked_after: Duration,
    /// Threads of slow consumers.
    pub slow: SlowOptions,
    /// Time after which a thread beyond `threads` ends when it is idle. Default 10 s.
    pub idle_for: Duration,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            thread: ThreadSpec::named("events"),
            threads: 4,
            most_threads: 16,
            most_blocked: 1_024,
            blocked_after: Duration::from_millis(100),
            slow: SlowOptions::default(),
            idle_for: Duration::from_secs(10),
        }
    }
}

impl Pool {
    /// Makes the strategy.
    ///
    /// # Errors
    /// Options that are out of range.
    pub fn new(options: PoolOptions) -> Result<Self, OptionsError> {
        if options.threads == 0 {
            return Err(OptionsError::Zero { name: "threads" });
        }
        if options.most_threads < options.threads {
            return Err(OptionsError::Limit {
                name: "most_threads",
                limit: options.most_threads,
                wanted: options.threads,
            });
        }
        options.slow.check()?;
        Ok(Self(Arc::new_cyclic(|own| Lanes {
            slow: SlowLane::beside(options.staffing(), &options.slow),
            options,
            usual: OnceLock::new(),
            own: own.clone(),
        })))
    }
}

impl PoolOptions {
    fn staffing(&self) -> Staffing {
        Staffing {
            thread: self.thread.clone(),
            threads: self.threads,
            most_threads: self.most_threads,
            most_blocked: self.most_blocked,
            blocked_after: self.blocked_after,
            idle_for: self.idle_for,
            growth: Growth::WhenBlocked,
        }
    }
}

impl Dispatcher for Pool {
    fn prepare(&self, level: Level) -> Result<(), SpawnError> {
        self.0.prepare(level)
    }

    fn schedule(&self, level: Level, task: Arc<dyn Task>) {
        self.0.schedule(level, task);
    }
}

impl Dispatcher for Lanes {
    fn prepare(&self, _level: Level) -> Result<(), SpawnError> {
        if self.usual.get().is_some() {
            return Ok(());
        }
        let lane = Lane::Usual(self.own.clone());
        let workers = Workers::start(self.options.staffing(), lane)?;
        // Another thread may have been first; these end then.
        let _ = self.usual.set(workers);
        Ok(())
    }

    fn schedule(&self, level: Level, task: Arc<dyn Task>) {
        let usual = self.slow.take(&self.own, level, task);
        if let (Some(task), Some(workers)) = (usual, self.usual.get()) {
            workers.schedule(level, task);
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("options", &self.0.options)
            .finish_non_exhaustive()
    }
}
