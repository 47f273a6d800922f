//! Shared code of the tests: a service in an ORB of its own, called by requests.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use punctual::policy::Collocation;
use punctual::{Any, Interface, ListenEndpoint, NotNil, Orb, RootPoa};
use punctual_host::Service;
use punctual_host::metrics::Exposition;
use punctual_host::store::Faults;
use punctual_log::ds_event_log_admin::{EventLog, EventLogFactory};
use punctual_log::ds_log_admin::{BasicLog, BasicLogFactory, HALT, Log, LogRecord, NvPair};
use punctual_log::ds_notify_log_admin::{NotifyLog, NotifyLogFactory};
use punctual_log::{Clock, Limits, LogService, Root};
use punctual_notification::cos_notification::Property;
use tempfile::TempDir;

/// Units of `TimeT` in a second.
pub(crate) const SECOND: u64 = 10_000_000;

/// Monday, 6 January 2025, 00:00 UTC.
pub(crate) const MONDAY: u64 = 0x01b2_1dd2_1381_4000 + 1_736_121_600 * SECOND;

/// Time that a test sets.
#[derive(Clone)]
pub(crate) struct Time(Arc<AtomicU64>);

impl Time {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicU64::new(MONDAY)))
    }

    pub(crate) fn set(&self, time: u64) {
        self.0.store(time, Ordering::SeqCst);
    }

    pub(crate) fn pass(&self, seconds: u64) {
        self.0.fetch_add(seconds * SECOND, Ordering::SeqCst);
    }

    pub(crate) fn clock(&self) -> Clock {
        let time = self.0.clone();
        Clock::of(move || time.load(Ordering::SeqCst))
    }
}

/// Service that is called by requests, until this is dropped.
pub(crate) struct Served {
    pub(crate) orb: Orb,
    pub(crate) service: LogService,
    pub(crate) factory: BasicLogFactory,
    pub(crate) events: EventLogFactory,
    pub(crate) notify: NotifyLogFactory,
    pub(crate) time: Time,
    /// Folder of the store, if the test has not its own.
    _folder: Option<TempDir>,
}

impl Served {
    pub(crate) fn new() -> Self {
        Self::with(limits())
    }

    pub(crate) fn with(limits: Limits) -> Self {
        Self::prepared(|service| service.set_limits(limits))
    }

    /// Serves in a folder of its own what `prepare` has set.
    pub(crate) fn prepared(prepare: impl FnOnce(&LogService)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let service = LogService::open(&folder.path().join("logs.redb")).unwrap();
        service.set_limits(limits());
        prepare(&service);
        let mut served = Self::of(service, ("127.0.0.1", 0));
        served._folder = Some(folder);
        served
    }

    pub(crate) fn at(path: &Path, place: (&str, u16)) -> Self {
        let service = LogService::open(path).unwrap();
        service.set_limits(limits());
        Self::of(service, place)
    }

    /// Serves at any port what `prepare` has set.
    pub(crate) fn at_with(path: &Path, prepare: impl FnOnce(&LogService)) -> Self {
        let service = LogService::open(path).unwrap();
        prepare(&service);
        Self::of(service, ("127.0.0.1", 0))
    }

    pub(crate) fn faulty(path: &Path, faults: &Faults) -> Self {
        let service = LogService::open_with_faults(path, faults.clone()).unwrap();
        service.set_limits(limits());
        Self::of(service, ("127.0.0.1", 0))
    }

    /// Serves what is called without requests.
    pub(crate) fn collocated() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let service = LogService::open(&folder.path().join("logs.redb")).unwrap();
        service.set_limits(limits());
        let mut served = Self::called_by(Collocation::ThruPoa, service, ("127.0.0.1", 0));
        served._folder = Some(folder);
        served
    }

    /// Serves at a host and a port; 0 is any.
    fn of(service: LogService, place: (&str, u16)) -> Self {
        Self::called_by(Collocation::None, service, place)
    }

    fn called_by(collocation: Collocation, service: LogService, (host, port): (&str, u16)) -> Self {
        let time = Time::new();
        service.set_clock(time.clock());
        let orb = Orb::builder()
            .listen(ListenEndpoint::iiop(host, port))
            .configure(|config| {
                LogService::configure(config);
                config.collocation = collocation;
            })
            .build()
            .unwrap();
        let poa = orb.root_poa().unwrap();
        let Root {
            basic: factory,
            event: events,
            notify,
        } = service.serve(&poa).unwrap();
        poa.manager().activate().unwrap();
        Self {
            orb,
            service,
            factory,
            events,
            notify,
            time,
            _folder: None,
        }
    }

    /// Creates a log without a maximum.
    pub(crate) fn log(&self) -> BasicLog {
        self.log_of(HALT, 0)
    }

    pub(crate) fn log_of(&self, full_action: u16, max_size: u64) -> BasicLog {
        let (log, _) = self.factory.create(full_action, max_size).unwrap();
        log.not_nil().unwrap()
    }

    pub(crate) fn find(&self, id: u32) -> Log {
        self.factory.find_log(id).unwrap().not_nil().unwrap()
    }

    /// Creates an event log without a maximum.
    pub(crate) fn event_log(&self) -> EventLog {
        let (log, _) = self.events.create(HALT, 0, &[]).unwrap();
        log.not_nil().unwrap()
    }

    /// Returns the notify log with an id.
    pub(crate) fn find_notify(&self, id: u32) -> NotifyLog {
        let found = self.notify.find_log(id).unwrap().not_nil().unwrap();
        NotifyLog::narrow(found.as_object().clone()).unwrap()
    }

    /// Creates a notify log without a maximum, and with properties of quality of service.
    pub(crate) fn notify_log(&self, quality: &[Property]) -> NotifyLog {
        let created = self.notify.create(HALT, 0, &[], quality, &[]);
        created.unwrap().0.not_nil().unwrap()
    }

    /// Returns the value of a metric without labels.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let mut out = Exposition::of("log");
        self.service.write_metrics(&mut out);
        let text = out.into_text();
        let start = format!("punctual_log_{name} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&start));
        line.unwrap_or_else(|| panic!("{name}: {text}"))
            .parse()
            .unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.service.end_waiting();
        let _ = self.orb.shutdown(true);
        self.service.stop();
    }
}

pub(crate) fn limits() -> Limits {
    Limits {
        sweep: Duration::from_millis(5),
        ..Limits::default()
    }
}

pub(crate) fn number(number: i32) -> Any {
    Any::new(&number).unwrap()
}

pub(crate) fn text(text: &str) -> Any {
    Any::new(text).unwrap()
}

/// Writes records with these numbers.
pub(crate) fn write(log: &Log, numbers: impl IntoIterator<Item = i32>) {
    let records: Vec<_> = numbers.into_iter().map(number).collect();
    log.write_records(&records).unwrap();
}

/// Returns the numbers in records.
pub(crate) fn numbers(records: &[LogRecord]) -> Vec<i32> {
    let numbers = records.iter().map(|record| record.info.extract().unwrap());
    numbers.collect()
}

/// Returns the numbers of all records that meet a constraint, of which the reply has all.
pub(crate) fn found(log: &Log, constraint: &str) -> Vec<i32> {
    let (records, rest) = log.query("EXTENDED_TCL", constraint).unwrap();
    assert!(rest.is_none());
    numbers(&records)
}

pub(crate) fn all(log: &Log) -> Vec<i32> {
    found(log, "")
}

pub(crate) fn attribute(name: &str, value: Any) -> NvPair {
    NvPair {
        name: name.to_owned(),
        value,
    }
}

pub(crate) fn record(info: Any, attr_list: Vec<NvPair>) -> LogRecord {
    LogRecord {
        id: 77,
        time: 88,
        attr_list,
        info,
    }
}

/// Waits until something holds, for at most five minutes: a test that waits longer fails instead of running on.
#[track_caller]
pub(crate) fn until(holds: impl Fn() -> bool) {
    let end = std::time::Instant::now() + Duration::from_secs(300);
    while !holds() {
        assert!(
            std::time::Instant::now() < end,
            "it does not hold after five minutes"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns whether an object exists.
pub(crate) fn exists(object: &impl Interface) -> bool {
    !object.as_object().non_existent().unwrap()
}
