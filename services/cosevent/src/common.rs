//! Parts that all channels of a service share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use punctual_events::peer::bounded;
use punctual_events::{Keeper, Objects, Timetable, Workers};
use punctual_host::access::Rules;
use punctual_rtevent::Dispatcher;

use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::peer::Peer;
use crate::refusal::Refusal;
use crate::storage::Change;
use crate::typed::Catalogue;

/// Limits, objects and threads of a service.
pub(crate) struct Common {
    pub(crate) limits: Limits,
    pub(crate) metrics: Arc<Metrics>,
    /// Peers that may create channels and supply events.
    pub(crate) writers: Rules<()>,
    /// Interfaces whose calls can be events.
    pub(crate) interfaces: Catalogue,
    pub(crate) objects: Objects,
    /// Threads that pull from suppliers.
    pub(crate) workers: Workers,
    /// Threads that make all other calls, which may go to peers that are gone: these delay no pull.
    pub(crate) checks: Workers,
    pub(crate) timetable: Timetable,
    /// Threads that push to consumers.
    pub(crate) dispatcher: Arc<dyn Dispatcher>,
    keeper: Keeper<Change>,
    /// States that connections that were kept wait to be served.
    is_waiting: Arc<AtomicBool>,
    is_ending: AtomicBool,
}

impl std::fmt::Debug for Common {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Common").finish_non_exhaustive()
    }
}

/// Parts of [`Common`] that are started.
pub(crate) struct Started {
    pub(crate) interfaces: Catalogue,
    pub(crate) objects: Objects,
    pub(crate) workers: Workers,
    pub(crate) checks: Workers,
    pub(crate) timetable: Timetable,
    pub(crate) dispatcher: Arc<dyn Dispatcher>,
    pub(crate) keeper: Keeper<Change>,
    pub(crate) is_waiting: Arc<AtomicBool>,
}

impl Common {
    pub(crate) fn new(
        limits: Limits,
        metrics: Arc<Metrics>,
        writers: Rules<()>,
        started: Started,
    ) -> Self {
        let Started {
            interfaces,
            objects,
            workers,
            checks,
            timetable,
            dispatcher,
            keeper,
            is_waiting,
        } = started;
        Self {
            limits,
            metrics,
            writers,
            interfaces,
            objects,
            workers,
            checks,
            timetable,
            dispatcher,
            keeper,
            is_waiting,
            is_ending: AtomicBool::new(false),
        }
    }

    /// Checks that the peer of the request may create channels and supply events.
    ///
    /// # Errors
    /// Access is denied.
    pub(crate) fn check_access(&self) -> Result<(), Refusal> {
        match self.writers.permits(&self.writers.requester(), |()| true) {
            true => Ok(()),
            false => Err(Refusal::NotPermitted),
        }
    }

    /// Tells a peer that its connection has ended, on another thread.
    pub(crate) fn say_disconnected<P: Peer>(&self, peer: P) {
        let time = self.limits.call_timeout;
        self.checks
            .run(move || bounded(&peer, time).say_disconnected());
    }

    /// Makes a change durable, if the service has a store. Blocks.
    ///
    /// # Errors
    /// The change cannot be written; then nothing has changed.
    pub(crate) fn keep(&self, change: Change) -> Result<(), Refusal> {
        Ok(self.keeper.keep(vec![change])?)
    }

    /// Removes the record of a connection that has ended, on another thread.
    pub(crate) fn forget_connection(&self, number: u64) {
        self.keeper.forget(Change::Connection(number, None));
    }

    /// Ends all threads, once records have been removed, and gives the store up.
    pub(crate) fn stop(&self) {
        self.timetable.end();
        self.workers.end();
        self.checks.end();
        self.keeper.stop();
    }

    /// Notes whether connections that were kept wait to be served.
    pub(crate) fn note_waiting(&self, is_waiting: bool) {
        self.is_waiting.store(is_waiting, Ordering::Relaxed);
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
