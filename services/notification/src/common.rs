//! Parts that all channels of a service share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use punctual_events::{Keeper, Objects, Timetable, Workers};
use punctual_host::access::Rules;

use crate::filter::Room;
use crate::generation::Generation;
use crate::journal::Journal;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::names::Names;
use crate::presence::Presence;
use crate::qos::Abilities;
use crate::refusal::Refusal;
use crate::storage::{Change, Storage};

/// Limits, objects and threads of a service.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) limits: Limits,
    pub(crate) metrics: Arc<Metrics>,
    /// Peers that may create channels and supply events.
    pub(crate) writers: Rules<()>,
    pub(crate) objects: Objects,
    pub(crate) names: Names,
    /// Number of changes of filters, and of what they are attached to.
    pub(crate) selections: Generation,
    /// Memory of the constraints of all filters.
    pub(crate) constraints: Room,
    /// Foreign filters of all objects.
    pub(crate) foreign: Presence,
    /// Threads that begin calls to consumers and suppliers. None waits for a reply.
    pub(crate) workers: Workers,
    /// Threads that begin calls to foreign filters, so that these delay no call to consumers and suppliers. None waits for a
    /// reply.
    pub(crate) filtering: Workers,
    /// Threads that make all other calls, which may go to peers that are gone: these delay no event.
    pub(crate) checks: Workers,
    /// Threads that read and write events that are in logs.
    pub(crate) readers: Workers,
    pub(crate) timetable: Timetable,
    /// Store of persistent events.
    pub(crate) journal: Option<Journal>,
    keeper: Keeper<Change>,
    pub(crate) is_stored: bool,
    /// States that the channels are parts of another service.
    pub(crate) is_embedded: bool,
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
        storage: Option<Arc<Storage>>,
        journal: Option<Journal>,
        is_embedded: bool,
    ) -> Result<Self, Refusal> {
        let workers = |name, most| Workers::new(name, most).map_err(|error| refused(&error));
        Ok(Self {
            workers: workers("notify-calls", limits.threads)?,
            filtering: workers("notify-filters", limits.threads)?,
            checks: workers("notify-checks", limits.threads)?,
            readers: workers("notify-logs", limits.threads)?,
            is_stored: storage.is_some(),
            is_embedded,
            journal,
            keeper: Keeper::start("notify-records", storage).map_err(|error| refused(&error))?,
            timetable: Timetable::start("notify-times").map_err(|error| refused(&error))?,
            names: Names::default(),
            selections: Generation::default(),
            constraints: Room::default(),
            foreign: Presence::default(),
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

    /// Returns the values that properties of quality of service may have.
    pub(crate) fn abilities(&self) -> Abilities {
        self.limits
            .abilities(self.journal.is_some(), self.is_stored)
    }

    /// Makes changes durable, all or none, if the service has a store. Blocks.
    ///
    /// # Errors
    /// They cannot be written; then nothing has changed.
    pub(crate) fn keep(&self, changes: Vec<Change>) -> Result<(), Refusal> {
        Ok(self.keeper.keep(changes)?)
    }

    /// Removes a record on another thread: that of a connection whose client is gone. While the service is being shut
    /// down, connections stay for the next start.
    pub(crate) fn forget(&self, removal: Change) {
        if !self.is_ending() {
            self.keeper.forget(removal);
        }
    }

    /// Takes the name of an object that ends away.
    pub(crate) fn forget_name(&self, number: u64) {
        if self.names.remove(number) {
            self.forget(Change::Name(number, None));
        }
    }

    /// Ends all threads, once records and readers have been removed, and closes the store.
    pub(crate) fn stop(&self) {
        self.timetable.end();
        self.workers.end();
        self.filtering.end();
        self.checks.end();
        self.readers.finish();
        self.keeper.stop();
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
