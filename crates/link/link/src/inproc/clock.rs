//! Time of a network.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Threads that wait for data to arrive, and are woken as the simulated time passes.
pub(super) trait Sleepers: Send + Sync + Debug {
    /// Wakes all threads that wait for data on the network.
    fn wake(&self);
}

/// Clock that stands still until a test advances it. Clones show the same time; any number of
/// networks may share one clock.
#[derive(Clone, Debug, Default)]
pub struct SimulatedClock {
    shared: Arc<Mutex<Simulated>>,
}

#[derive(Debug, Default)]
struct Simulated {
    now: Duration,
    networks: Vec<Weak<dyn Sleepers>>,
}

impl SimulatedClock {
    /// Makes a simulated clock that shows zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the simulated time since the clock was made.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.lock().now
    }

    /// Advances the time: due data arrives, and the threads that wait for it are woken.
    pub fn advance(&self, by: Duration) {
        let networks = {
            let mut simulated = self.lock();
            simulated.now = simulated.now.saturating_add(by);
            simulated.networks.retain(|known| known.strong_count() > 0);
            simulated.networks.clone()
        };
        for network in networks.iter().filter_map(Weak::upgrade) {
            network.wake();
        }
    }

    /// Registers a network whose waiting threads are woken whenever the simulated time advances.
    pub(super) fn register_network(&self, network: Arc<dyn Sleepers>) {
        self.lock().networks.push(Arc::downgrade(&network));
    }

    fn lock(&self) -> MutexGuard<'_, Simulated> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Source of the time for an in-process network: real or simulated.
#[derive(Clone, Debug)]
pub(super) enum Clock {
    Real(Instant),
    Simulated(SimulatedClock),
}

impl Clock {
    pub(super) fn real() -> Self {
        Self::Real(Instant::now())
    }

    pub(super) fn now(&self) -> Duration {
        match self {
            Self::Real(begin) => begin.elapsed(),
            Self::Simulated(clock) => clock.now(),
        }
    }

    /// Returns how long a thread has to sleep until `due`; `None` with a simulated clock, which
    /// wakes the thread when its time is advanced.
    pub(super) fn until(&self, due: Duration) -> Option<Duration> {
        match self {
            Self::Real(begin) => Some(due.saturating_sub(begin.elapsed())),
            Self::Simulated(_) => None,
        }
    }
}
