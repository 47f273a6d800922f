//! Hand-over of a job to an idle worker: one exchange, and a wake-up.
//!
//! ```text
//!   working --begin_waiting--> idle --give--> given --wait--> working
//!                               |
//!                               '---end---> ended
//! ```
//!
//! The state decides between a job and the end, so that no job is lost with an ending worker: the
//! later of the two threads sees the earlier one's step. The job itself lies behind an uncontended
//! mutex, as one thread at a time has taken the worker from the list of idle ones.

use crate::sync::{AtomicU32, Mutex, Ordering, Parker, lock};
use std::fmt;

const WORKING: u32 = 0;
const IDLE: u32 = 1;
const GIVEN: u32 = 2;
const ENDED: u32 = 3;

/// Worker, as seen by the threads that give it jobs.
pub(crate) struct Handover<J> {
    state: AtomicU32,
    job: Mutex<Option<J>>,
    worker: Parker,
}

impl<J> Handover<J> {
    /// Makes the hand-over of the calling thread, a worker that is busy.
    #[must_use]
    pub(crate) fn own() -> Self {
        Self {
            state: AtomicU32::new(WORKING),
            job: Mutex::new(None),
            worker: Parker::own(),
        }
    }

    /// Declares the worker idle, so that a job may be given. Called by the worker before it is
    /// listed as idle.
    pub(crate) fn begin_waiting(&self) {
        // Release: the thread that gives the next job sees what the last job did.
        self.state.store(IDLE, Ordering::Release);
    }

    /// Waits for a job; returns `None` when there will be none. Called by the worker.
    pub(crate) fn wait(&self) -> Option<J> {
        loop {
            // Acquire pairs with the exchange in `give`.
            match self.state.load(Ordering::Acquire) {
                IDLE => self.worker.park(None),
                GIVEN => {
                    self.state.store(WORKING, Ordering::Relaxed);
                    return lock(&self.job).take();
                }
                _ => return None,
            }
        }
    }

    /// Gives the worker a job. Called by the thread that has taken it from the list of idle
    /// workers.
    ///
    /// # Errors
    /// The job, when the worker has ended.
    pub(crate) fn give(&self, job: J) -> Result<(), J> {
        *lock(&self.job) = Some(job);
        if self.leave_idle(GIVEN) {
            self.worker.unpark();
            return Ok(());
        }
        match lock(&self.job).take() {
            Some(job) => Err(job),
            None => Ok(()),
        }
    }

    /// Ends the worker's wait, unless it has a job by now. May be called from any thread.
    pub(crate) fn end(&self) {
        if self.leave_idle(ENDED) {
            self.worker.unpark();
        }
    }

    fn leave_idle(&self, next: u32) -> bool {
        self.state
            .compare_exchange(IDLE, next, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}

impl<J> fmt::Debug for Handover<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handover").finish_non_exhaustive()
    }
}
