//! Strategy: lanes of Real-time CORBA (Real-time CORBA 1.2, §5.10), each with threads of its own and a priority.

use super::dispatcher::{Dispatcher, Task};
use super::slow::{SlowLane, SlowOptions};
use super::workers::{Growth, Lane, Staffing, Workers};
use crate::level::Level;
use crate::options::OptionsError;
use punctual_exec::{SpawnError, ThreadSpec};
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

/// Dispatching by lanes, as of a thread pool of Real-time CORBA. A delivery is made by the lane with the highest priority that
/// is not above its level, or by the lowest lane; deliveries of one lane are made in the order of their levels. The static
/// threads start when the first consumer subscribes, and stay until this is dropped.
pub struct Lanes(Arc<All>);

/// All lanes, and that of slow consumers.
struct All {
    /// Options with the lanes in the order of their priorities, the highest first.
    options: LanesOptions,
    lanes: OnceLock<Vec<Workers>>,
    slow: SlowLane,
    own: Weak<Self>,
}

/// Options of [`Lanes`].
#[derive(Clone, Debug)]
pub struct LanesOptions {
    /// Lanes, at least one, each with a priority of its own. Default: none.
    pub lanes: Vec<LaneThreads>,
    /// A lane whose threads are all in pushes borrows an idle thread of a lane with lower priority (allow_borrowing), the next
    /// one that has an idle one. That runs at the borrowing lane's native priority until nothing waits there without a
    /// thread. Default: false.
    pub allow_borrowing: bool,
    /// Largest number of threads of a lane that consumers block: one that hangs keeps a thread until its push ends, and
    /// counts no more for the lane, which gets another. Beyond, threads that block are not replaced. Default 1,024.
    pub most_blocked: usize,
    /// Time after which a push blocks its thread, if other consumers of the lane wait, and the consumer is a slow one.
    /// Default 100 ms.
    pub blocked_after: Duration,
    /// Threads of slow consumers of all lanes.
    pub slow: SlowOptions,
    /// Time after which a dynamic thread ends when it is idle. Default 10 s.
    pub idle_for: Duration,
}

/// Priority and threads of a lane.
#[derive(Clone, Debug)]
pub struct LaneThreads {
    /// Priority of the lane: the most urgent level of its deliveries.
    pub level: Level,
    /// Specification of the threads. [`LaneThreads::new`]: the name `events` and the scheduling of the thread that subscribes
    /// first.
    pub thread: ThreadSpec,
    /// Number of threads that are always there, at least 1.
    pub static_threads: usize,
    /// Maximum number of further threads: each starts when a delivery waits and no thread of the lane is idle.
    pub dynamic_threads: usize,
}

/// Numbers of a lane at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaneStatus {
    /// Priority of the lane.
    pub level: Level,
    /// Number of static and dynamic threads that are there.
    pub threads: usize,
    /// Number of threads beside these in pushes that have lasted too long.
    pub blocked: usize,
    /// Number of times that a borrowed thread has served a queue of the lane.
    pub borrowed: u64,
}

impl Default for LanesOptions {
    fn default() -> Self {
        Self {
            lanes: Vec::new(),
            allow_borrowing: false,
            most_blocked: 1_024,
            blocked_after: Duration::from_millis(100),
            slow: SlowOptions::default(),
            idle_for: Duration::from_secs(10),
        }
    }
}

impl LaneThreads {
    /// Makes a lane with numbers of static and of dynamic threads.
    #[must_use]
    pub fn new(level: Level, static_threads: usize, dynamic_threads: usize) -> Self {
        Self {
            level,
            thread: ThreadSpec::named("events"),
            static_threads,
            dynamic_threads,
        }
    }

    /// Sets the specification of the threads.
    #[must_use]
    pub fn thread(mut self, thread: ThreadSpec) -> Self {
        self.thread = thread;
        self
    }
}

impl Lanes {
    /// Makes the strategy.
    ///
    /// # Errors
    /// No lane, one without a static thread, two of one level, or other options that are out of range.
    pub fn new(mut options: LanesOptions) -> Result<Self, OptionsError> {
        options.check()?;
        options.lanes.sort_by_key(|lane| lane.level);
        Ok(Self(Arc::new_cyclic(|own| All {
            slow: SlowLane::beside(options.of_slow(), &options.slow),
            options,
            lanes: OnceLock::new(),
            own: own.clone(),
        })))
    }

    /// Returns the numbers of each lane, the one with the highest priority first; none before the first consumer has
    /// subscribed. Locks each lane for a moment.
    #[must_use]
    pub fn status(&self) -> Vec<LaneStatus> {
        let started = self.0.lanes.get().into_iter().flatten();
        let status = |(lane, workers): (&LaneThreads, &Workers)| {
            let strength = workers.strength();
            LaneStatus {
                level: lane.level,
                threads: strength.threads,
                blocked: strength.blocked,
                borrowed: strength.borrowed,
            }
        };
        self.0
            .options
            .lanes
            .iter()
            .zip(started)
            .map(status)
            .collect()
    }
}

impl LanesOptions {
    fn check(&self) -> Result<(), OptionsError> {
        let zero = |name| Err(OptionsError::Zero { name });
        if self.lanes.is_empty() {
            return zero("lanes");
        }
        for (place, lane) in self.lanes.iter().enumerate() {
            if lane.static_threads == 0 {
                return zero("static_threads");
            }
            let mut before = self.lanes.iter().take(place);
            if before.any(|other| other.level == lane.level) {
                return Err(OptionsError::LanesOfOneLevel(lane.level));
            }
        }
        self.slow.check()
    }

    fn of_lane(&self, lane: &LaneThreads) -> Staffing {
        Staffing {
            thread: lane.thread.clone(),
            threads: lane.static_threads,
            most_threads: lane.static_threads.saturating_add(lane.dynamic_threads),
            most_blocked: self.most_blocked,
            blocked_after: self.blocked_after,
            idle_for: self.idle_for,
            growth: Growth::OnDemand,
        }
    }

    /// Returns what the lane of slow consumers has in common with the others.
    fn of_slow(&self) -> Staffing {
        let lane = LaneThreads::new(Level::default(), self.slow.threads, 0);
        self.of_lane(&lane.thread(self.slow.thread.clone()))
    }
}

impl All {
    fn start(&self) -> Result<Vec<Workers>, SpawnError> {
        let lanes = self.options.lanes.iter();
        let mut lanes =
            lanes.map(|lane| (self.options.of_lane(lane), Lane::Usual(self.own.clone())));
        match self.options.allow_borrowing {
            true => Workers::start_sharing(lanes),
            false => lanes.try_fold(Vec::new(), |mut started, (staffing, lane)| {
                started.push(Workers::start(staffing, lane)?);
                Ok(started)
            }),
        }
    }

    /// Returns the threads that serve a level.
    fn lane(&self, level: Level) -> Option<&Workers> {
        let lanes = self.lanes.get()?;
        let above = |lane: &LaneThreads| lane.level < level;
        let place = self.options.lanes.partition_point(above);
        lanes.get(place).or_else(|| lanes.last())
    }
}

impl Dispatcher for Lanes {
    fn prepare(&self, level: Level) -> Result<(), SpawnError> {
        self.0.prepare(level)
    }

    fn schedule(&self, level: Level, task: Arc<dyn Task>) {
        self.0.schedule(level, task);
    }
}

impl Dispatcher for All {
    fn prepare(&self, _level: Level) -> Result<(), SpawnError> {
        if self.lanes.get().is_none() {
            let lanes = self.start()?;
            // Another thread may have been first; these end then.
            let _ = self.lanes.set(lanes);
        }
        Ok(())
    }

    fn schedule(&self, level: Level, task: Arc<dyn Task>) {
        let usual = self.slow.take(&self.own, level, task);
        if let (Some(task), Some(workers)) = (usual, self.lane(level)) {
            workers.schedule(level, task);
        }
    }
}

impl fmt::Debug for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lanes")
            .field("options", &self.0.options)
            .finish_non_exhaustive()
    }
}
