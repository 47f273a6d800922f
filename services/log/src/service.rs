//! The log service: its settings, its store, its start and its end.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;
use punctual::{Implements, Interface, Poa};
use punctual_cosevent::EventService;
use punctual_events::{Objects, Timetable};
use punctual_host::access::Rules;
use punctual_host::metrics::Exposition;
#[cfg(feature = "faults")]
use punctual_host::store::Faults;
use punctual_host::store::{StoreError, StoreFile};
use punctual_notification::NotificationService;
use thiserror::Error;

use crate::clock::Clock;
use crate::common::Common;
use crate::ds_event_log_admin::EventLogFactory;
use crate::ds_log_admin::{BasicLogFactory, LogMgr};
use crate::ds_notify_log_admin::NotifyLogFactory;
use crate::limits::Limits;
use crate::logs::Logs;
use crate::metrics::{Gauges, Metrics};
use crate::refusal::Refusal;
use crate::servant::{Announcements, EVENT_FACTORY, FACTORY, Factory, NOTIFY_FACTORY, Notices};
use crate::starting::{
    basic_logs, event_logs, events, no_resources, notification, notify_logs, restore, sweep_later,
};
use crate::storage::{KIND, Storage};

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
    common: Arc<Common>,
    logs: [Arc<Logs>; 3],
    /// Channels of event logs.
    events: EventService,
    /// Channels of notify logs.
    notification: NotificationService,
    timetable: Arc<Timetable>,
}

/// References to a service: its factories.
#[derive(Clone, Debug)]
pub struct Root {
    /// Factory of logs that clients write to.
    pub basic: BasicLogFactory,
    /// Factory of logs that are event channels.
    pub event: EventLogFactory,
    /// Factory of logs that are channels of the Notification Service.
    pub notify: NotifyLogFactory,
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
    pub fn serve(&self, parent: &Poa) -> Result<Root, Refusal> {
        let options = self.0.options.read().clone();
        let kept = self.0.storage.kept()?;
        let events = events(parent, &options.limits, &options.writers)?;
        let common = Arc::new(self.common(parent, options)?);
        let announcements = Announcements::new(&events)?;
        let (notification, channels, filters) = notification(parent, &common, &kept)?;
        let notices = Notices::new(&channels, &common.storage, &kept)?;
        let basic = basic_logs(&common);
        let event = event_logs(&common, &events, announcements.clone());
        let notify = notify_logs(&common, &channels, notices.clone());
        let root = Root {
            basic: common.objects.add(
                FACTORY.as_bytes(),
                <BasicLogFactory as Implements<_>>::servant(Factory {
                    logs: basic.clone(),
                    kind: (),
                }),
            )?,
            event: common.objects.add(
                EVENT_FACTORY.as_bytes(),
                <EventLogFactory as Implements<_>>::servant(Factory {
                    logs: event.clone(),
                    kind: announcements,
                }),
            )?,
            notify: common.objects.add(
                NOTIFY_FACTORY.as_bytes(),
                <NotifyLogFactory as Implements<_>>::servant(Factory {
                    logs: notify.clone(),
                    kind: notices,
                }),
            )?,
        };
        basic.set_factory(LogMgr::from_object(root.basic.as_object().clone()));
        event.set_factory(LogMgr::from_object(root.event.as_object().clone()));
        notify.set_factory(LogMgr::from_object(root.notify.as_object().clone()));
        let logs = [basic, event, notify];
        restore(&logs, kept, &filters);
        let timetable = Timetable::start("log-sweeps").map_err(no_resources)?;
        let timetable = Arc::new(timetable);
        sweep_later(&timetable, &common, &logs);
        let served = Served {
            common,
            logs,
            events,
            notification,
            timetable,
        };
        let twice = |_| Refusal::NoResources("the log service is served already".to_owned());
        self.0.served.set(served).map_err(twice)?;
        Ok(root)
    }

    fn common(&self, parent: &Poa, options: Options) -> Result<Common, Refusal> {
        let Options {
            limits,
            writers,
            clock,
        } = options;
        let first = self.0.storage.begin_run()?;
        let objects = Objects::new(parent, ADAPTER, first, Box::new(|_| None))?;
        let storage = self.0.storage.clone();
        let given = (limits, writers, clock);
        Ok(Common::new(given, self.0.metrics.clone(), storage, objects))
    }

    /// Answers all calls that wait, and lets none wait from now on, so that the ORB can be shut down.
    pub fn end_waiting(&self) {
        if let Some(served) = self.0.served.get() {
            served.events.end_waiting();
            served.notification.end_waiting();
        }
    }

    /// Ends the threads of the service, and closes its store.
    pub fn stop(&self) {
        if let Some(served) = self.0.served.get() {
            served.events.stop();
            served.notification.stop();
            served.timetable.end();
            served.common.objects.clear();
            served.logs.iter().for_each(|logs| logs.abandon());
        }
        self.0.storage.close();
    }

    /// Returns the numbers of logs and of records.
    #[must_use]
    pub fn size(&self) -> (usize, u64) {
        self.0.served.get().map_or((0, 0), |served| {
            let (records, _) = served.common.usage.used();
            (served.count(), records)
        })
    }

    /// Appends the service's metrics to the exposition.
    pub fn write_metrics(&self, out: &mut Exposition) {
        let gauges = self.0.served.get().map(|served| {
            let (records, bytes) = served.common.usage.used();
            Gauges {
                logs: served.count(),
                records,
                bytes,
                iterators: served.common.iterators.count(),
                proxies: served.events.size().1 + served.notification.size().1,
            }
        });
        self.0.metrics.write(out, gauges.unwrap_or_default());
        self.0.storage.write_metrics(out);
    }
}

impl Served {
    fn count(&self) -> usize {
        self.logs.iter().map(|logs| logs.count()).sum()
    }
}
