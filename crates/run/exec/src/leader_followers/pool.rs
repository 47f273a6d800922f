//! A bounded pool of threads that run one reactor.

use super::reserve::Reserve;
use crate::reactor::Reactor;
use crate::{Crew, Deadline, SpawnError};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

/// How a pool is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolOptions {
    /// What its threads are called in the operating system's listings, a number behind it.
    pub name: String,
    /// Threads that are there from the start, at least 1.
    pub threads: usize,
    /// Threads that it may have; the others come when all that are there are held up, and stay.
    pub most: usize,
    /// Whether one more stands by, which serves while all others are held up, to refuse what would take
    /// long ([`crate::reactor::Role::Reserve`]). Without it, what comes then waits.
    pub reserve: bool,
}

impl Default for PoolOptions {
    /// One thread at first, 16 at most, and a reserve.
    fn default() -> Self {
        Self {
            name: "punctual-pool".to_owned(),
            threads: 1,
            most: 16,
            reserve: true,
        }
    }
}

/// Threads that sit in one reactor: the kernel wakes one of them for each event, and the others wait
/// on. Dropping it stops the reactor and does not wait.
#[derive(Debug)]
pub struct LeaderFollowers {
    reactor: Arc<Reactor>,
    crew: Crew,
    reserve: Option<Arc<Reserve>>,
    /// It has one thread and will have no more.
    alone: bool,
}

/// What brings threads into being.
#[derive(Debug)]
struct Growth {
    reactor: Weak<Reactor>,
    crew: Crew,
    name: String,
    most: usize,
    /// Threads begun so far.
    begun: AtomicUsize,
}

impl LeaderFollowers {
    /// Starts a pool. A reactor has one.
    ///
    /// # Errors
    /// What [`Crew::spawn`] says; the reactor is stopped then.
    pub fn start(reactor: Arc<Reactor>, options: &PoolOptions) -> Result<Self, SpawnError> {
        let most = options.most.max(options.threads).max(1);
        let crew = Crew::new(most + usize::from(options.reserve));
        let growth = Arc::new(Growth {
            reactor: Arc::downgrade(&reactor),
            crew: crew.clone(),
            name: options.name.clone(),
            most,
            begun: AtomicUsize::new(0),
        });
        let reserve = options
            .reserve
            .then(|| Reserve::start(&reactor, &crew, &options.name))
            .transpose();
        let reserve = reserve.inspect_err(|_| reactor.stop())?;
        let (when_busy, call) = (growth.clone(), reserve.clone());
        reactor.when_all_are_busy(move || {
            // Where no thread is to be had, the reserve serves.
            if !matches!(when_busy.grow(), Ok(true))
                && let Some(reserve) = &call
            {
                reserve.call();
            }
        });
        let pool = Self {
            reactor,
            crew,
            alone: most == 1 && reserve.is_none(),
            reserve,
        };
        for _ in 0..options.threads.max(1) {
            // Dropping the pool stops those that were begun.
            growth.grow()?;
        }
        Ok(pool)
    }

    /// The reactor.
    #[must_use]
    pub fn reactor(&self) -> &Arc<Reactor> {
        &self.reactor
    }

    /// Its threads, for who waits until they have ended.
    #[must_use]
    pub fn crew(&self) -> Crew {
        self.crew.clone()
    }

    /// How many threads it has, the reserve among them.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.crew.len()
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
        self.crew.wait_until_at_most(rest, deadline)
    }

    fn halt(&self) {
        self.reactor.stop();
        if let Some(reserve) = &self.reserve {
            reserve.call();
        }
    }
}

impl Drop for LeaderFollowers {
    fn drop(&mut self) {
        self.halt();
    }
}

impl Growth {
    /// Begins one more thread; false when there are as many as there may be.
    fn grow(&self) -> Result<bool, SpawnError> {
        let one_more = |begun| (begun < self.most).then_some(begun + 1);
        // Relaxed: it only counts.
        let counted = self
            .begun
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        let (Ok(number), Some(reactor)) = (counted, self.reactor.upgrade()) else {
            return Ok(false);
        };
        let begun = self
            .crew
            .spawn(&format!("{}-{number}", self.name), move || reactor.run());
        if begun.is_err() {
            self.begun.fetch_sub(1, Ordering::Relaxed);
        }
        begun.map(|()| true)
    }
}
