//! Parts that all channels of a service share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use punctual_events::peer::bounded;
use punctual_events::{Objects, Timetable, Workers};
use punctual_host::access::Rules;
use punctual_rtevent::Dispatcher;

use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::peer::Peer;
use crate::refusal::Refusal;
use crate::storage::{Change, Storage};

/// Limits, objects and threads of a service.
pub(crate) struct Common {
    pub(crate) limits: Limits,
    pub(crate) metrics: Arc<Metrics>,
    /// Peers that may create channels and supply events.
    pub(crate) writers: Rules<()>,
    pub(crate) objects: Objects,
    /// Threads that pull from suppliers.
    pub(crate) workers: Workers,
    /// Threads that make all other calls, which may go to peers that are gone: these delay no pull.
    pub(crate) checks: Workers,
    pub(crate) timetable: Timetable,
    /// Threads that push to consumers.
    pub(crate) dispatcher: Arc<dyn Dispatcher>,
    /// Thread that removes records.
    records: Workers,
    /// Store, until the service is stopped.
    storage: Mutex<Option<Arc<Storage>>>,
    is_ending: AtomicBool,
}

impl std::fmt::Debug for Common {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Common").finish_non_exhaustive()
    }
}

/// Parts of [`Common`] that are started.
pub(crate) struct Started {
    pub(crate) objects: Objects,
    pub(crate) workers: Workers,
    pub(crate) checks: Workers,
    pub(crate) timetable: Timetable,
    pub(crate) dispatcher: Arc<dyn Dispatcher>,
    pub(crate) records: Workers,
    pub(crate) storage: Option<Arc<Storage>>,
}

impl Common {
    pub(crate) fn new(
        limits: Limits,
        metrics: Arc<Metrics>,
        writers: Rules<()>,
        started: Started,
    ) -> Self {
        let Started {
            objects,
            workers,
            checks,
            timetable,
            dispatcher,
            records,
            storage,
        } = started;
        Self {
            limits,
            metrics,
            writers,
            objects,
            workers,
            checks,
            timetable,
            dispatcher,
            records,
            storage: Mutex::new(storage),
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
        let Some(storage) = self.storage() else {
            return Ok(());
        };
        // Other requests of the same connection continue, so that they get into the same commit.
        punctual::about_to_block();
        storage.change(change)
    }

    /// Removes the record of a connection that has ended, on another thread. One that is found after a crash ends again
    /// as its peer does not exist.
    pub(crate) fn forget_connection(&self, number: u64) {
        let Some(storage) = self.storage() else {
            return;
        };
        self.records.run(move || {
            // Reported where it is written.
            let _ = storage.change(Change::Connection(number, None));
        });
    }

    /// Ends all threads, once records have been removed, and closes the store.
    pub(crate) fn stop(&self) {
        self.timetable.end();
        self.workers.end();
        self.checks.end();
        self.records.finish();
        let storage = self.storage.lock().take();
        drop(storage);
    }

    fn storage(&self) -> Option<Arc<Storage>> {
        self.storage.lock().clone()
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
