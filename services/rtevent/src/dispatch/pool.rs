//! Strategy: a pool of threads for all levels, the most urgent first.

use super::dispatcher::{Dispatcher, Task};
use super::workers::{Staffing, Workers};
use crate::level::Level;
use crate::options::OptionsError;
use punctual_exec::{SpawnError, ThreadSpec};
use std::fmt;
use std::sync::Arc;
use std::sync::OnceLock;
use std::time::Duration;

/// Dispatching by a pool of threads: each takes the most urgent work that waits. Its threads start when
/// the first consumer subscribes, and stay until this is dropped.
pub struct Pool {
    options: PoolOptions,
    workers: OnceLock<Workers>,
}

/// Options of [`Pool`].
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// Specification of the threads. Default: the name `events` and the scheduling of the thread that
    /// subscribes first.
    pub thread: ThreadSpec,
    /// Number of threads, at least 1. Default 4.
    pub threads: usize,
    /// Largest number of threads, reached while consumers block. Default 16.
    pub most_threads: usize,
    /// Time for which no push has ended, while events wait and all threads are in pushes, after which another thread
    /// starts. Default 100 ms.
    pub blocked_after: Duration,
    /// Time after which such a thread ends when it is idle. Default 10 s.
    pub idle_for: Duration,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            thread: ThreadSpec::named("events"),
            threads: 4,
            most_threads: 16,
            blocked_after: Duration::from_millis(100),
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
        Ok(Self {
            options,
            workers: OnceLock::new(),
        })
    }
}

impl Dispatcher for Pool {
    fn prepare(&self, _level: Level) -> Result<(), SpawnError> {
        if self.workers.get().is_some() {
            return Ok(());
        }
        let options = self.options.clone();
        let workers = Workers::start(Staffing {
            thread: options.thread,
            threads: options.threads,
            most_threads: options.most_threads,
            blocked_after: options.blocked_after,
            idle_for: options.idle_for,
        })?;
        // Another thread may have been first; these end then.
        let _ = self.workers.set(workers);
        Ok(())
    }

    fn schedule(&self, level: Level, task: Arc<dyn Task>) {
        if let Some(workers) = self.workers.get() {
            workers.schedule(level, task);
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
