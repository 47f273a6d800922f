//! The log service: its settings, its store, its start and its end.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;
use punctual::{Implements, Poa, Servant};
use punctual_events::{Objects, Timetable};
use punctual_host::access::Rules;
use punctual_host::metrics::Exposition;
#[cfg(feature = "faults")]
use punctual_host::store::Faults;
use punctual_host::store::{StoreError, StoreFile};
use thiserror::Error;

use crate::clock::Clock;
use crate::common::Common;
use crate::ds_log_admin::{BasicLog, BasicLogFactory, RecordId};
use crate::kept::FactoryKind;
use crate::limits::Limits;
use crate::log::Log;
use crate::logs::Logs;
use crate::metrics::{Gauges, Metrics};
use crate::record::Entry;
use crate::refusal::Refusal;
use crate::servant::{Basic, BasicFactory, FACTORY, ServedLog};
use crate::storage::{KIND, Kept, Storage};

/// Name of the adapter.
const ADAPTER: &str = "LogService";

/// Log service, whose clones share the same logs.
#[derive(Clone)]
pub struct LogService(Arc<Shared>);

struct Shared {
    options: RwLock<Options>,
    metrics: Arc<Metrics>,
    storage: Arc<Storage>,
    served: OnceLock<Served>,
}

/// Settings that apply when the service is served.
#[derive(Clone, Debug, Default)]
struct Options {
    limits: Limits,
    writers: Rules<()>,
    clock: Clock,
}

/// Parts of a service that is served.
struct Served {
    logs: Arc<Logs>,
    factory: BasicLogFactory,
    timetable: Arc<Timetable>,
}

/// Reason why a log service cannot be opened.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("the log service cannot be opened: {0}")]
pub struct OpenError(#[from] pub StoreError);

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for LogService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogService")
            .field("is_served", &self.0.served.get().is_some())
            .finish_non_exhaustive()
    }
}

impl LogService {
    /// Opens the service in a file, which is created if need be.
    ///
    /// # Errors
    /// The file cannot be opened, is in use, or has other contents.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Ok(Self::with(StoreFile::open(path, KIND)?))
    }

    /// Opens the service in a file as [`open`](Self::open) does, on a disk with injected faults.
    ///
    /// # Errors
    /// As of [`open`](Self::open).
    #[cfg(feature = "faults")]
    pub fn open_with_faults(path: &Path, faults: Faults) -> Result<Self, OpenError> {
        let file = StoreFile::open_with_faults(path, KIND, faults)?;
        Ok(Self::with(file))
    }

    fn with(file: StoreFile) -> Self {
        Self(Arc::new(Shared {
            options: RwLock::default(),
            metrics: Arc::default(),
            storage: Arc::new(Storage::new(file)),
            served: OnceLock::new(),
        }))
    }

    /// Sets the limits, which apply when the service is served.
    pub fn set_limits(&self, limits: Limits) {
        self.0.options.write().limits = limits;
    }

    /// Sets the peers that may change logs and write to them, which applies when the service is served. Without a grant,
    /// all may.
    pub fn set_writers(&self, writers: Rules<()>) {
        self.0.options.write().writers = writers;
    }

    /// Sets the clock, which applies when the service is served.
    pub fn set_clock(&self, clock: Clock) {
        self.0.options.write().clock = clock;
    }

    /// Returns unused pages of the service's file to the file system. Takes time in proportion to the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn compact(&self) -> Result<bool, OpenError> {
        Ok(self.0.storage.compact()?)
    }

    /// Serves the service, once, by an adapter below `parent`, which requests reach through its manager. Logs and records
    /// that were kept are there again. If the ORB's endpoints stay the same, so do the references.
    ///
    /// # Errors
    /// The adapter or a thread cannot be made; the file cannot be read; the service is served already.
    pub fn serve(&self, parent: &Poa) -> Result<BasicLogFactory, Refusal> {
        let served = self.start(parent)?;
        let factory = served.factory.clone();
        let twice = || Refusal::NoResources("the log service is served already".to_owned());
        self.0.served.set(served).map_err(|_| twice())?;
        Ok(factory)
    }

    fn start(&self, parent: &Poa) -> Result<Served, Refusal> {
        let Options {
            limits,
            writers,
            clock,
        } = self.0.options.read().clone();
        let kept = self.0.storage.kept()?;
        let first = self.0.storage.begin_run()?;
        let objects = Objects::new(parent, ADAPTER, first, Box::new(|_| None))?;
        let storage = self.0.storage.clone();
        let given = (limits, writers, clock);
        let common = Arc::new(Common::new(given, self.0.metrics.clone(), storage, objects));
        let logs = Logs::new(common.clone(), FactoryKind::Basic, serve_basic);
        let factory: BasicLogFactory = common.objects.add(
            FACTORY.as_bytes(),
            <BasicLogFactory as Implements<_>>::servant(BasicFactory(logs.clone())),
        )?;
        logs.set_factory((*factory).clone());
        restore(&logs, kept);
        let timetable = Timetable::start("log-sweeps");
        let timetable = timetable.map_err(|error| Refusal::NoResources(error.to_string()))?;
        let timetable = Arc::new(timetable);
        sweep_later(&timetable, &logs);
        Ok(Served {
            logs,
            factory,
            timetable,
        })
    }

    /// Ends the threads of the service, and closes its store.
    pub fn stop(&self) {
        if let Some(served) = self.0.served.get() {
            served.timetable.end();
            served.logs.common.objects.clear();
            served.logs.abandon();
        }
        self.0.storage.close();
    }

    /// Returns the numbers of logs and of records.
    #[must_use]
    pub fn size(&self) -> (usize, u64) {
        self.0.served.get().map_or((0, 0), |served| {
            let (records, _) = served.logs.common.usage.used();
            (served.logs.count(), records)
        })
    }

    /// Appends the service's metrics to the exposition.
    pub fn write_metrics(&self, out: &mut Exposition) {
        let gauges = self.0.served.get().map(|served| {
            let (records, bytes) = served.logs.common.usage.used();
            Gauges {
                logs: served.logs.count(),
                records,
                bytes,
                iterators: served.logs.common.iterators.count(),
            }
        });
        self.0.metrics.write(out, gauges.unwrap_or_default());
        self.0.storage.write_metrics(out);
    }
}

fn serve_basic(logs: &Arc<Logs>, log: &Arc<Log>) -> Arc<dyn Servant> {
    <BasicLog as Implements<_>>::servant(ServedLog::new(logs, log, Basic))
}

/// Makes the logs that were kept. Records without a log are those of one that was destroyed, and are removed.
fn restore(logs: &Arc<Logs>, kept: Kept) {
    let mut records: HashMap<u64, Vec<(RecordId, Entry)>> = HashMap::new();
    for ((log, id), entry) in kept.entries {
        records.entry(log).or_default().push((id, entry));
    }
    let last: HashMap<_, _> = kept.last.into_iter().collect();
    for (number, settings) in kept.logs {
        let last = last.get(&number).copied().unwrap_or_default();
        let records = records.remove(&number).unwrap_or_default();
        if let Err(refusal) = logs.restore(number, settings, (last, records)) {
            tracing::warn!("a log that was kept is not served: {refusal}");
        }
    }
    for (log, records) in records {
        let ids = records.iter().map(|(id, _)| *id);
        logs.common.discard(log, ids.collect());
    }
}

/// Removes what has ended from the file and from memory, now and then.
fn sweep_later(timetable: &Arc<Timetable>, logs: &Arc<Logs>) {
    let (later, swept) = (Arc::downgrade(timetable), Arc::downgrade(logs));
    timetable.after(logs.common.limits.sweep, move || {
        let (Some(timetable), Some(logs)) = (later.upgrade(), swept.upgrade()) else {
            return;
        };
        logs.common.iterators.expire();
        for log in logs.all() {
            log.expire();
        }
        logs.common.sweep();
        sweep_later(&timetable, &logs);
    });
}
