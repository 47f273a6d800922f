//! Control: the clock and the threads of questions to peers.

use crate::dispatch::{Growth, Lane as Tasks, Staffing, Task, Workers};
use crate::level::Level;
use crate::options::Liveness;
use crate::timer::Lane;
use parking_lot::Mutex;
use punctual_exec::{SpawnError, ThreadSpec};
use punctual_sys::clock;
use std::sync::Arc;
use std::time::Duration;

/// Clock and threads of questions to peers whether they are alive.
pub(super) struct Control {
    pub(super) liveness: Liveness,
    lane: Arc<Lane<()>>,
    /// Threads that ask; none before they are started, and with a manual clock.
    workers: Mutex<Option<Workers>>,
}

/// Largest number of threads that ask: so many peers may not return at all.
const MOST_THREADS: usize = 8;

impl Control {
    pub(super) fn new(liveness: Liveness, resolution: u64, now: u64) -> Self {
        let control = Self {
            liveness,
            lane: Arc::new(Lane::new(resolution, now)),
            workers: Mutex::new(None),
        };
        control.lane.add((), now.saturating_add(control.interval()));
        control
    }

    /// Starts the threads, unless they run; `ask` is called at each interval.
    pub(super) fn start(&self, ask: impl Fn() + Send + 'static) -> Result<(), SpawnError> {
        let mut workers = self.workers.lock();
        if workers.is_some() {
            return Ok(());
        }
        let (lane, interval) = (self.lane.clone(), self.interval());
        let staffing = Staffing {
            thread: ThreadSpec::named("event control"),
            threads: 1,
            most_threads: 1,
            most_blocked: MOST_THREADS - 1,
            blocked_after: self.liveness.interval.min(Duration::from_secs(1)),
            idle_for: Duration::from_secs(10),
            growth: Growth::WhenBlocked,
        };
        let own = Workers::start(staffing, Tasks::Only)?;
        ThreadSpec::named("event control").start(move || {
            lane.run(|expired| {
                ask();
                // Questions that were missed are not made up for.
                lane.start(expired.key, clock::nanos().saturating_add(interval));
            });
        })?;
        *workers = Some(own);
        Ok(())
    }

    /// Executes a question: on a thread for questions, if the channel has such threads.
    pub(super) fn execute(&self, question: Arc<dyn Task>) {
        let workers = self.workers.lock();
        match &*workers {
            Some(workers) => workers.schedule(Level::default(), question),
            None => {
                drop(workers);
                question.run();
            }
        }
    }

    /// Returns whether questions are due, of a manual clock.
    pub(super) fn is_due(&self, now: u64) -> bool {
        let mut expired = Vec::new();
        self.lane.advance(now, &mut expired);
        for timer in &expired {
            self.lane
                .start(timer.key, now.saturating_add(self.interval()));
        }
        !expired.is_empty()
    }

    pub(super) fn next(&self) -> Option<u64> {
        self.lane.next()
    }

    /// Ends the threads.
    pub(super) fn stop(&self) {
        self.lane.stop();
        let workers = self.workers.lock().take();
        drop(workers);
    }

    fn interval(&self) -> u64 {
        u64::try_from(self.liveness.interval.as_nanos()).unwrap_or(u64::MAX)
    }
}
