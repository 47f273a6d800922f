//! Parts that all channels of a service share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use punctual_events::{Objects, Timetable, Workers};
use punctual_host::access::Rules;

use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::refusal::Refusal;

/// Limits, objects and threads of a service.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) limits: Limits,
    pub(crate) metrics: Arc<Metrics>,
    /// Peers that may create channels and supply events.
    pub(crate) writers: Rules<()>,
    pub(crate) objects: Objects,
    /// Threads that begin calls to consumers and suppliers. None waits for a reply.
    pub(crate) workers: Workers,
    /// Threads that make all other calls, which may go to peers that are gone: these delay no event.
    pub(crate) checks: Workers,
    pub(crate) timetable: Timetable,
    is_ending: AtomicBool,
}

impl Common {
    /// Starts the threads.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub(crate) fn start(
        limits: Limits,
        metrics: Arc<Metrics>,
        writers: Rules<()>,
        objects: Objects,
    ) -> Result<Self, Refusal> {
        let workers = |name| Workers::new(name, limits.threads).map_err(|error| refused(&error));
        Ok(Self {
            workers: workers("notify-calls")?,
            checks: workers("notify-checks")?,
            timetable: Timetable::start("notify-times").map_err(|error| refused(&error))?,
            limits,
            metrics,
            writers,
            objects,
            is_ending: AtomicBool::new(false),
        })
    }

    /// Checks that the peer of the request may create channels and supply events.
    ///
    /// # Errors
    /// It may not.
    pub(crate) fn check_access(&self) -> Result<(), Refusal> {
        match self.writers.permits(&self.writers.requester(), |()| true) {
            true => Ok(()),
            false => Err(Refusal::NotPermitted),
        }
    }

    /// Ends all threads.
    pub(crate) fn stop(&self) {
        self.timetable.end();
        self.workers.end();
        self.checks.end();
    }

    /// Notes that the service is being shut down: nothing waits any more.
    pub(crate) fn begin_ending(&self) {
        // Pairs with the load in `is_ending`.
        self.is_ending.store(true, Ordering::Release);
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Acquire)
    }
}

fn refused(error: &dyn std::fmt::Display) -> Refusal {
    Refusal::NoResources(error.to_string())
}
