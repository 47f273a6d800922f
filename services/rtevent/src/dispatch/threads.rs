//! Strategy: threads of their own for each level, with native priorities.

use super::dispatcher::{Dispatcher, Task};
use super::workers::{Staffing, Workers};
use crate::level::Level;
use crate::options::{OptionsError, ThreadFunction};
use parking_lot::RwLock;
use punctual_exec::{SpawnError, ThreadSpec};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Dispatching by threads of their own for each level. They start when a consumer of the level subscribes, and
/// stay until this is dropped.
pub struct Threads {
    options: ThreadsOptions,
    levels: RwLock<BTreeMap<Level, Arc<Workers>>>,
}

/// Options of [`Threads`].
#[derive(Clone)]
pub struct ThreadsOptions {
    /// Specification of a level's threads. Default: the name `events` and the scheduling of the thread that
    /// subscribes.
    pub thread: ThreadFunction,
    /// Number of threads of a level, at least 1. Default 1.
    pub threads: usize,
    /// Largest number of threads of a level, reached while its consumers block; one that hangs keeps a
    /// thread until its push ends. Default 64.
    pub most_threads: usize,
    /// Time for which no push of a level has ended, while events wait and all of its threads are in pushes, after which
    /// another thread starts. Default 100 ms.
    pub blocked_after: Duration,
    /// Time after which such a thread ends when it is idle. Default 10 s.
    pub idle_for: Duration,
    /// Largest number of levels with threads, at least 1; further levels are served by the threads of the next less
    /// urgent one, or of the least urgent. Default 64.
    pub most_levels: usize,
}

impl Default for ThreadsOptions {
    fn default() -> Self {
        Self {
            thread: Arc::new(|_| ThreadSpec::named("events")),
            threads: 1,
            most_threads: 64,
            blocked_after: Duration::from_millis(100),
            idle_for: Duration::from_secs(10),
            most_levels: 64,
        }
    }
}

impl Threads {
    /// Makes the strategy; its threads start with the levels.
    ///
    /// # Errors
    /// Options that are out of range.
    pub fn new(options: ThreadsOptions) -> Result<Self, OptionsError> {
        if options.threads == 0 {
            return Err(OptionsError::Zero { name: "threads" });
        }
        if options.most_levels == 0 {
            return Err(OptionsError::Zero {
                name: "most_levels",
            });
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
            levels: RwLock::default(),
        })
    }

    /// Returns the levels that have threads, the most urgent first.
    #[must_use]
    pub fn levels(&self) -> Vec<Level> {
        self.levels.read().keys().copied().collect()
    }

    fn start(&self, level: Level) -> Result<(), SpawnError> {
        let mut levels = self.levels.write();
        if levels.contains_key(&level) || levels.len() >= self.options.most_levels {
            return Ok(());
        }
        let workers = Workers::start(Staffing {
            thread: (self.options.thread)(level),
            threads: self.options.threads,
            most_threads: self.options.most_threads,
            blocked_after: self.options.blocked_after,
            idle_for: self.options.idle_for,
        })?;
        levels.insert(level, Arc::new(workers));
        Ok(())
    }

    fn has_all(&self, level: Level) -> bool {
        let levels = self.levels.read();
        levels.contains_key(&level) || levels.len() >= self.options.most_levels
    }
}

impl Dispatcher for Threads {
    fn prepare(&self, level: Level) -> Result<(), SpawnError> {
        match self.has_all(level) {
            true => Ok(()),
            false => self.start(level),
        }
    }

    fn schedule(&self, level: Level, task: Arc<dyn Task>) {
        if !self.has_all(level) {
            // Without threads of its own, the level shares those of another.
            let _ = self.start(level);
        }
        let levels = self.levels.read();
        let next = levels.range(level..).next();
        if let Some((_, workers)) = next.or_else(|| levels.last_key_value()) {
            workers.schedule(level, task);
        }
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threads")
            .field("levels", &self.levels())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ThreadsOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadsOptions")
            .field("threads", &self.threads)
            .field("most_threads", &self.most_threads)
            .field("blocked_after", &self.blocked_after)
            .field("idle_for", &self.idle_for)
            .field("most_levels", &self.most_levels)
            .finish_non_exhaustive()
    }
}
