//! Strategy: threads of their own for each level, with native priorities.

use super::dispatcher::{Dispatcher, Task};
use super::slow::{SlowLane, SlowOptions};
use super::workers::{Growth, Lane, Staffing, Workers};
use crate::level::Level;
use crate::options::{OptionsError, ThreadFunction};
use parking_lot::RwLock;
use punctual_exec::{SpawnError, ThreadSpec};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Dispatching by threads of their own for each level. They start when a consumer of the level subscribes, and
/// stay until this is dropped.
pub struct Threads(Arc<Lanes>);

/// Lanes of the levels, and that of slow consumers.
struct Lanes {
    options: ThreadsOptions,
    levels: RwLock<BTreeMap<Level, Workers>>,
    slow: SlowLane,
    own: Weak<Self>,
}

/// Options of [`Threads`].
#[derive(Clone)]
pub struct ThreadsOptions {
    /// Specification of a level's threads. Default: the name `events` and the scheduling of the thread that
    /// subscribes.
    pub thread: ThreadFunction,
    /// Number of threads of a level, at least 1. Default 1.
    pub threads: usize,
    /// Largest number of threads of a level besides those that consumers block, reached while many block at once.
    /// Default 64.
    pub most_threads: usize,
    /// Largest number of threads of a level that consumers block: one that hangs keeps a thread until its push ends.
    /// Beyond, threads that block are not replaced. Default 1,024.
    pub most_blocked: usize,
    /// Time after which a push blocks its thread, if other consumers of the level wait: the level gets another thread, and
    /// the consumer is a slow one. Default 100 ms.
    pub blocked_after: Duration,
    /// Threads of slow consumers of all levels.
    pub slow: SlowOptions,
    /// Time after which a thread beyond `threads` ends when it is idle. Default 10 s.
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
            most_blocked: 1_024,
            blocked_after: Duration::from_millis(100),
            slow: SlowOptions::default(),
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
        options.slow.check()?;
        Ok(Self(Lanes::new(options)))
    }

    /// Returns the levels that have threads, the most urgent first.
    #[must_use]
    pub fn levels(&self) -> Vec<Level> {
        self.0.levels.read().keys().copied().collect()
    }
}

impl Lanes {
    fn new(options: ThreadsOptions) -> Arc<Self> {
        Arc::new_cyclic(|own| Self {
            slow: SlowLane::beside(options.staffing(options.slow.thread.clone()), &options.slow),
            options,
            levels: RwLock::default(),
            own: own.clone(),
        })
    }

    fn start(&self, level: Level) -> Result<(), SpawnError> {
        let mut levels = self.levels.write();
        if levels.contains_key(&level) || levels.len() >= self.options.most_levels {
            return Ok(());
        }
        let staffing = self.options.staffing((self.options.thread)(level));
        let workers = Workers::start(staffing, Lane::Usual(self.own.clone()))?;
        levels.insert(level, workers);
        Ok(())
    }

    fn has_all(&self, level: Level) -> bool {
        let levels = self.levels.read();
        levels.contains_key(&level) || levels.len() >= self.options.most_levels
    }

    fn schedule_usual(&self, level: Level, task: Arc<dyn Task>) {
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

impl ThreadsOptions {
    fn staffing(&self, thread: ThreadSpec) -> Staffing {
        Staffing {
            thread,
            threads: self.threads,
            most_threads: self.most_threads,
            most_blocked: self.most_blocked,
            blocked_after: self.blocked_after,
            idle_for: self.idle_for,
            growth: Growth::WhenBlocked,
        }
    }
}

impl Dispatcher for Threads {
    fn prepare(&self, level: Level) -> Result<(), SpawnError> {
        self.0.prepare(level)
    }

    fn schedule(&self, level: Level, task: Arc<dyn Task>) {
        self.0.schedule(level, task);
    }
}

impl Dispatcher for Lanes {
    fn prepare(&self, level: Level) -> Result<(), SpawnError> {
        match self.has_all(level) {
            true => Ok(()),
            false => self.start(level),
        }
    }

    fn schedule(&self, level: Level, task: Arc<dyn Task>) {
        if let Some(task) = self.slow.take(&self.own, level, task) {
            self.schedule_usual(level, task);
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
            .field("most_blocked", &self.most_blocked)
            .field("blocked_after", &self.blocked_after)
            .field("slow", &self.slow)
            .field("idle_for", &self.idle_for)
            .field("most_levels", &self.most_levels)
            .finish_non_exhaustive()
    }
}
