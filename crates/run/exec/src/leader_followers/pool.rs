//! A bounded pool of threads that run one reactor.

use super::reserve::{Reserve, ReserveOptions};
use crate::reactor::Reactor;
use crate::thread::Scheduling;
use crate::{Deadline, SpawnError, ThreadGroup, ThreadSpec};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

/// How a pool is made.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// How its threads are started; there is a number behind the name of each.
    pub spec: ThreadSpec,
    /// How those are scheduled that serve, where that is not as `spec` says: the reserve thread is as it says even then.
    pub serving: Option<Scheduling>,
    /// Threads that are started with the pool, at least 1.
    pub threads: usize,
    /// Threads that it may have; the others are started when all are busy, and stay.
    pub max_threads: usize,
    /// One more that stands by while all others are busy. Without it, what comes then waits.
    pub reserve: Option<ReserveOptions>,
}

impl Default for PoolOptions {
    /// One thread at first, 16 at most, and a reserve.
    fn default() -> Self {
        Self {
            spec: ThreadSpec::named("punctual-pool"),
            serving: None,
            threads: 1,
            max_threads: 16,
            reserve: Some(ReserveOptions::default()),
        }
    }
}

/// Threads that wait in one reactor: the kernel wakes one of them for each event, and the others wait
/// on. Dropping it stops the reactor and does not wait.
#[derive(Debug)]
pub struct LeaderFollowers {
    reactor: Arc<Reactor>,
    threads: ThreadGroup,
    reserve: Option<Arc<Reserve>>,
    /// It has one thread and will have no more.
    alone: bool,
}

/// What starts threads.
#[derive(Debug)]
struct Growth {
    reactor: Weak<Reactor>,
    threads: ThreadGroup,
    spec: ThreadSpec,
    max_threads: usize,
    /// Threads started so far.
    started: AtomicUsize,
}

impl LeaderFollowers {
    /// Starts a pool. A reactor has one.
    ///
    /// # Errors
    /// What [`ThreadGroup::spawn`] says; the reactor is stopped then.
    pub fn start(reactor: Arc<Reactor>, options: &PoolOptions) -> Result<Self, SpawnError> {
        let max_threads = options.max_threads.max(options.threads).max(1);
        let threads = ThreadGroup::new(max_threads + usize::from(options.reserve.is_some()));
        let growth = Arc::new(Growth {
            reactor: Arc::downgrade(&reactor),
            threads: threads.clone(),
            spec: match options.serving {
                Some(scheduling) => options.spec.clone().scheduling(scheduling),
                None => options.spec.clone(),
            },
            max_threads,
            started: AtomicUsize::new(0),
        });
        let start = |reserve| Reserve::start(&reactor, &threads, &options.spec, reserve);
        let reserve = options.reserve.clone().map(start).transpose();
        let reserve = reserve.inspect_err(|_| reactor.stop())?;
        let (when_busy, reserve_of_pool) = (growth.clone(), reserve.clone());
        reactor.when_all_are_busy(move || {
            // Where no thread can be started, the reserve serves.
            if !matches!(when_busy.grow(), Ok(true))
                && let Some(reserve) = &reserve_of_pool
            {
                reserve.wake();
            }
        });
        let pool = Self {
            reactor,
            threads,
            alone: max_threads == 1 && reserve.is_none(),
            reserve,
        };
        for _ in 0..options.threads.max(1) {
            // Dropping the pool stops those that were started.
            growth.grow()?;
        }
        Ok(pool)
    }

    /// The reactor.
    #[must_use]
    pub fn reactor(&self) -> &Arc<Reactor> {
        &self.reactor
    }

    /// Its threads, for whoever waits until they have ended.
    #[must_use]
    pub fn thread_group(&self) -> ThreadGroup {
        self.threads.clone()
    }

    /// How many threads it has, the reserve among them.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Whether one thread does all, so that whatever it waits for keeps everybody waiting.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self.alone
    }

    /// Stops the reactor and waits until every thread has finished what it serves; false when the
    /// deadline passed first. A thread of the pool that stops it does not wait for itself: `rest` is how
    /// many need not have finished.
    #[must_use]
    pub fn stop(&self, rest: usize, deadline: Deadline) -> bool {
        self.halt();
        self.threads.wait_until_at_most(rest, deadline)
    }

    fn halt(&self) {
        self.reactor.stop();
        if let Some(reserve) = &self.reserve {
            reserve.wake();
        }
    }
}

impl Drop for LeaderFollowers {
    fn drop(&mut self) {
        self.halt();
    }
}

impl Growth {
    /// Starts one more thread; false when there are as many as there may be.
    fn grow(&self) -> Result<bool, SpawnError> {
        let one_more = |started| (started < self.max_threads).then_some(started + 1);
        // Relaxed: it only counts.
        let counted = self
            .started
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        let (Ok(number), Some(reactor)) = (counted, self.reactor.upgrade()) else {
            return Ok(false);
        };
        let name = format!("{}-{number}", self.spec.name());
        let started = self
            .threads
            .spawn(self.spec.with_name(name), move || reactor.run());
        if started.is_err() {
            self.started.fetch_sub(1, Ordering::Relaxed);
        }
        started.map(|()| true)
    }
}
