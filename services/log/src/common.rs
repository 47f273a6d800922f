//! Parts that all logs of a service share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use punctual_events::Objects;
use punctual_host::access::Rules;

use crate::clock::Clock;
use crate::discarded::Discarded;
use crate::ds_log_admin::RecordId;
use crate::iterators::Iterators;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::refusal::Refusal;
use crate::storage::{Change, RecordsChange, Storage};

/// Most records that one commit removes.
pub(crate) const SLICE: usize = 1_000;

/// Limits, objects and store of a service.
pub(crate) struct Common {
    pub(crate) limits: Limits,
    pub(crate) metrics: Arc<Metrics>,
    /// Peers that may change logs and write to them.
    pub(crate) writers: Rules<()>,
    pub(crate) clock: Clock,
    pub(crate) objects: Arc<Objects>,
    pub(crate) storage: Arc<Storage>,
    pub(crate) usage: Usage,
    pub(crate) iterators: Iterators,
    /// Number of logs of all factories.
    logs: AtomicUsize,
    pub(crate) discarded: Discarded,
}

impl std::fmt::Debug for Common {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Common").finish_non_exhaustive()
    }
}

impl Common {
    pub(crate) fn new(
        (limits, writers, clock): (Limits, Rules<()>, Clock),
        metrics: Arc<Metrics>,
        storage: Arc<Storage>,
        objects: Objects,
    ) -> Self {
        let objects = Arc::new(objects);
        Self {
            usage: Usage::new(limits.records, limits.bytes),
            iterators: Iterators::new(objects.clone(), &limits),
            limits,
            logs: AtomicUsize::new(0),
            metrics,
            writers,
            clock,
            objects,
            storage,
            discarded: Discarded::default(),
        }
    }

    /// Checks that the peer of the request may change logs.
    ///
    /// # Errors
    /// It may not.
    pub(crate) fn check_access(&self) -> Result<(), Refusal> {
        match self.writers.permits(&self.writers.requester(), |()| true) {
            true => Ok(()),
            false => Err(Refusal::NotPermitted),
        }
    }

    /// Counts a log more, if there may be one.
    ///
    /// # Errors
    /// There are as many as may be.
    pub(crate) fn count_log(&self) -> Result<(), Refusal> {
        let most = self.limits.logs;
        let more = |logs: usize| (logs < most).then_some(logs + 1);
        // Relaxed: only the number matters, here and below.
        let counted = self
            .logs
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        counted.map(drop).map_err(|_| Refusal::TooManyLogs(most))
    }

    /// Counts a log that the store has kept, whatever the limit is now.
    pub(crate) fn count_kept_log(&self) {
        self.logs.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn forget_log(&self) {
        self.logs.fetch_sub(1, Ordering::Relaxed);
    }

    /// Removes discarded records from the file, up to the first commit that fails. Blocks.
    pub(crate) fn sweep(&self) {
        loop {
            let removed = self.discarded.take(SLICE);
            if removed.is_empty() {
                return;
            }
            let change = |(log, ids): &(u64, Vec<RecordId>)| {
                Change::Records(RecordsChange {
                    removed: ids.clone(),
                    ..RecordsChange::of(*log)
                })
            };
            let changes = removed.iter().map(change).collect();
            if self.storage.change_all(changes).is_err() {
                // Reported where it is written. They are tried again.
                for (log, ids) in removed {
                    self.discarded.add(log, ids);
                }
                return;
            }
        }
    }
}

/// Records and bytes of all logs, within their limits.
#[derive(Debug)]
pub(crate) struct Usage {
    used: Mutex<(u64, u64)>,
    most: (u64, u64),
}

impl Usage {
    const fn new(records: u64, bytes: u64) -> Self {
        Self {
            used: Mutex::new((0, 0)),
            most: (records, bytes),
        }
    }

    /// Takes room for records; returns whether there is as much.
    pub(crate) fn take(&self, records: u64, bytes: u64) -> bool {
        let mut used = self.used.lock();
        let wanted = (used.0.saturating_add(records), used.1.saturating_add(bytes));
        let fits = wanted.0 <= self.most.0 && wanted.1 <= self.most.1;
        if fits {
            *used = wanted;
        }
        fits
    }

    /// Notes records that the store has kept, whatever the limits are now.
    pub(crate) fn add(&self, records: u64, bytes: u64) {
        let mut used = self.used.lock();
        used.0 = used.0.saturating_add(records);
        used.1 = used.1.saturating_add(bytes);
    }

    pub(crate) fn give_back(&self, records: u64, bytes: u64) {
        let mut used = self.used.lock();
        used.0 = used.0.saturating_sub(records);
        used.1 = used.1.saturating_sub(bytes);
    }

    /// Returns whether there would be room for a record, were others of so many bytes removed.
    pub(crate) fn has_room_without(&self, freed: u64, bytes: u64) -> bool {
        let used = self.used.lock().1;
        used.saturating_sub(freed).saturating_add(bytes) <= self.most.1
    }

    /// Returns records and bytes.
    pub(crate) fn used(&self) -> (u64, u64) {
        *self.used.lock()
    }
}
