//! A bounded pool of threads that run one reactor.

use super::growth::Growth;
use super::reserve::{Reserve, ReserveOptions};
use super::workers::Workers;
use crate::reactor::Reactor;
use crate::thread::Scheduling;
use crate::{Deadline, SpawnError, ThreadGroup, ThreadSpec};
use std::sync::Arc;

/// Options of a leader/followers thread pool.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// Specification of the threads; a number is appended to each thread's name.
    pub spec: ThreadSpec,
    /// Scheduling of the serving threads where it differs from `spec`; the reserve thread always
    /// follows `spec`.
    pub serving: Option<Scheduling>,
    /// Number of threads started with the pool, at least 1.
    pub threads: usize,
    /// Upper bound of the number of threads; further threads start when all are busy, and stay.
    pub max_threads: usize,
    /// Number of threads up to which a further one starts at once when all are busy. Beyond it, one starts once all
    /// have been held up for some 2 ms, blocked or computing, if there is a reserve thread, which finds that out.
    /// With more threads than processors, those that serve short work wake each other in vain. Default: no bound.
    pub at_once: usize,
    /// Reserve thread, which stands by while all others are busy. Without it, new events then wait.
    pub reserve: Option<ReserveOptions>,
}

impl Default for PoolOptions {
    /// Returns options for one thread at first, 16 at most, and a reserve.
    fn default() -> Self {
        Self {
            spec: ThreadSpec::named("punctual-pool"),
            serving: None,
            threads: 1,
            max_threads: 16,
            at_once: usize::MAX,
            reserve: Some(ReserveOptions::default()),
        }
    }
}

/// Pool of threads that wait in one reactor: the kernel wakes one of them for each event, and the
/// others keep waiting. Dropping the pool stops the reactor and does not wait.
#[derive(Debug)]
pub struct LeaderFollowers {
    reactor: Arc<Reactor>,
    threads: ThreadGroup,
    reserve: Option<Arc<Reserve>>,
    /// Set where the pool has one thread and may not grow.
    alone: bool,
}

impl LeaderFollowers {
    /// Starts a pool. A reactor has one pool at most.
    ///
    /// # Errors
    /// Those of [`ThreadGroup::spawn`]; the reactor is stopped then.
    pub fn start(reactor: Arc<Reactor>, options: &PoolOptions) -> Result<Self, SpawnError> {
        let max_threads = options.max_threads.max(options.threads).max(1);
        let threads = ThreadGroup::new(max_threads + usize::from(options.reserve.is_some()));
        let workers = Arc::new(Workers::new(max_threads));
        let growth = Arc::new(Growth {
            reactor: Arc::downgrade(&reactor),
            threads: threads.clone(),
            spec: match options.serving {
                Some(scheduling) => options.spec.clone().scheduling(scheduling),
                None => options.spec.clone(),
            },
            workers: workers.clone(),
        });
        let start = |reserve| {
            let of_pool = (&growth, &workers);
            Reserve::start(&reactor, of_pool, (&threads, &options.spec), reserve)
        };
        let reserve = options.reserve.clone().map(start).transpose();
        let reserve = reserve.inspect_err(|_| reactor.stop())?;
        let (when_busy, reserve_of_pool) = (growth.clone(), reserve.clone());
        let at_once = options.at_once;
        reactor.when_all_are_busy(move || {
            let Some(reserve) = &reserve_of_pool else {
                // Without one, what comes waits where no thread can be started.
                let _ = when_busy.grow();
                return;
            };
            // The reserve starts others later, and serves where no thread can be started.
            let starts = when_busy.workers.started() < at_once;
            if !(starts && matches!(when_busy.grow(), Ok(true))) {
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
            // On an error, dropping the pool stops the threads already started.
            growth.grow()?;
        }
        Ok(pool)
    }

    /// Returns the reactor that the pool's threads run.
    #[must_use]
    pub fn reactor(&self) -> &Arc<Reactor> {
        &self.reactor
    }

    /// Returns the group of the pool's threads, for callers that wait until these have ended.
    #[must_use]
    pub fn thread_group(&self) -> ThreadGroup {
        self.threads.clone()
    }

    /// Returns the number of threads of the pool, including the reserve thread.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Returns whether a single thread serves everything, so that its waits delay all connections.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self.alone
    }

    /// Stops the reactor and waits until every thread has finished what it serves; returns `false`
    /// if the deadline passed first. A thread of the pool that calls this does not wait for itself:
    /// `rest` is the number of threads that may still run.
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
