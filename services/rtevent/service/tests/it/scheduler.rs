//! Levels of deliveries, from a scheduler on the network.

use crate::levels::{Noted, opened, scheduled_by};
use crate::support::{Served, event, header, orb, wants};
use parking_lot::Mutex;
use punctual::{Orb, Poa};
use punctual_host::Service;
use punctual_rtevent::{Dispatching, Level, Schedule, codes};
use punctual_rtevent_service::ServiceOptions;
use punctual_rtevent_service::levels::{
    SchedulerError, SchedulerLevels, SchedulerOptions, UNSCHEDULED,
};
use rtec_scheduler::{
    ConfigInfo, NotScheduled, Scheduler, SchedulerEntryPointPriorityError,
    SchedulerGetConfigInfoSetError, SchedulerPriorityError, SchedulerServant, UnknownTask,
};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Rust code generated from the part of the scheduler's interface that a channel calls.
#[allow(clippy::all, clippy::pedantic, dead_code, unreachable_pub)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/RtecScheduler.rs"));
}

use generated::rtec_scheduler;

/// Native priority, sub-priority and level.
type Place = (i32, i32, i32);

const LONG: Duration = Duration::from_secs(3_600);
const READ: Place = (80, 1, 0);
const WRITE: Place = (40, 0, 2);

/// Scheduler with a few operations, by handle and name; one without a place is not scheduled.
#[derive(Default)]
struct Plan {
    operations: Mutex<Vec<(i32, &'static str, Option<Place>)>>,
    calls: AtomicUsize,
}

impl Plan {
    fn set(&self, operations: &[(i32, &'static str, Option<Place>)]) {
        *self.operations.lock() = operations.to_vec();
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// Returns the place of the first operation that is meant; `None` within if it has none.
    fn place(&self, is_meant: impl Fn(i32, &str) -> bool) -> Option<Option<Place>> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let operations = self.operations.lock();
        let found = operations.iter().find(|(of, name, _)| is_meant(*of, name));
        found.map(|(_, _, place)| *place)
    }
}

impl SchedulerServant for Plan {
    fn priority(&self, handle: i32) -> Result<Place, SchedulerPriorityError> {
        let place = self.place(|of, _| of == handle).ok_or(UnknownTask)?;
        Ok(place.ok_or(NotScheduled)?)
    }

    fn entry_point_priority(&self, name: &str) -> Result<Place, SchedulerEntryPointPriorityError> {
        let place = self.place(|_, of| of == name).ok_or(UnknownTask)?;
        Ok(place.ok_or(NotScheduled)?)
    }

    fn get_config_info_set(&self) -> Result<Vec<ConfigInfo>, SchedulerGetConfigInfoSetError> {
        let operations = self.operations.lock();
        let places = operations.iter().filter_map(|(_, _, place)| *place);
        let queues = places.map(|(native, _, level)| ConfigInfo {
            preemption_priority: level,
            thread_priority: native,
            ..ConfigInfo::default()
        });
        Ok(queues.collect())
    }
}

/// Scheduler in an ORB of its own, until this is dropped.
struct Scheduling {
    orb: Orb,
    poa: Poa,
    plan: Arc<Plan>,
    reference: String,
}

impl Scheduling {
    fn new() -> Self {
        let (orb, poa) = orb();
        let plan = Arc::new(Plan::default());
        plan.set(&[
            (1, "radar.read", Some(READ)),
            (2, "log.write", Some(WRITE)),
            (3, "spare", None),
        ]);
        let scheduler: Scheduler = poa.activate(plan.clone()).unwrap();
        let reference = orb.object_to_string(&scheduler).unwrap();
        Self {
            orb,
            poa,
            plan,
            reference,
        }
    }

    /// Returns levels that are connected to the scheduler.
    fn levels(&self, client: &Orb, options: SchedulerOptions) -> SchedulerLevels {
        let levels = SchedulerLevels::new(&self.reference, options).unwrap();
        // On a busy machine, an answer may be late.
        while let Err(error) = levels.connect(client) {
            assert!(error.to_string().contains("does not answer"), "{error}");
        }
        levels
    }
}

impl Drop for Scheduling {
    fn drop(&mut self) {
        let _ = self.orb.shutdown(true);
    }
}

const fn level(place: Place) -> Level {
    Level::new(place.2 as u8, place.0 as i16)
}

#[test]
fn a_remote_consumer_receives_at_the_levels_that_the_scheduler_says() {
    let scheduling = Scheduling::new();
    let noted = Arc::new(Noted::new());
    let named = SchedulerOptions {
        handles: vec![(77, "log.write".to_owned())],
        timeout: LONG,
        ..SchedulerOptions::default()
    };
    let levels = SchedulerLevels::new(&scheduling.reference, named).unwrap();
    let mut options = ServiceOptions {
        scheduler: Some(Arc::new(levels)),
        level: UNSCHEDULED,
        ..ServiceOptions::default()
    };
    options.channel.dispatching = Dispatching::Queued(noted.clone());
    let served = Served::new(options);
    let consumer = served.unconnected();
    let group = header(codes::DISJUNCTION, 4);
    let kinds = [16, 17, 18, 19].map(|kind| header(kind, 0));
    let mut qos = wants(&[&[group][..], &kinds].concat());
    // A handle of the scheduler, one that stands for a name, and two without a place.
    for (entry, handle) in [(1, 1), (2, 77), (3, 3), (4, 9)] {
        qos.dependencies[entry].rt_info = handle;
    }
    let reference = Some(&consumer.reference);
    consumer
        .proxy
        .connect_push_consumer(reference, &qos)
        .unwrap();
    let supplier = served.supplier();
    for kind in [16, 17, 18, 19] {
        supplier.push(&[event(kind, 1, b"")]).unwrap();
    }
    consumer.inbox.events(4);
    assert_eq!(noted.seen(), [level(READ), level(WRITE), UNSCHEDULED]);
}

#[test]
fn an_answer_is_kept_while_it_is_fresh_and_then_asked_for_anew() {
    let scheduling = Scheduling::new();
    let (client, _) = orb();
    let of = |fresh_for| SchedulerOptions {
        fresh_for,
        timeout: LONG,
        ..SchedulerOptions::default()
    };
    let kept = scheduling.levels(&client, of(LONG));
    let asked = scheduling.levels(&client, of(Duration::ZERO));
    assert_eq!(kept.level(1), Some(level(READ)));
    assert_eq!(asked.level(1), Some(level(READ)));
    assert_eq!(kept.level(9), None);
    scheduling.plan.set(&[(1, "radar.read", Some(WRITE))]);
    let calls = scheduling.plan.calls();
    assert_eq!(kept.level(1), Some(level(READ)));
    assert_eq!(kept.level(9), None);
    assert_eq!(scheduling.plan.calls(), calls);
    assert_eq!(asked.level(1), Some(level(WRITE)));
    // An operation that has lost its place has no level.
    scheduling.plan.set(&[(1, "radar.read", None)]);
    assert_eq!(asked.level(1), None);
    client.shutdown(true).unwrap();
}

/// Writer into a text that tests read.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().clone()).unwrap()
    }
}

#[test]
fn a_scheduler_that_goes_away_is_told_once_and_its_answers_stay() {
    let scheduling = Scheduling::new();
    let (client, _) = orb();
    let levels = scheduling.levels(
        &client,
        SchedulerOptions {
            timeout: Duration::from_millis(50),
            fresh_for: Duration::ZERO,
            retry_after: Duration::ZERO,
            ..SchedulerOptions::default()
        },
    );
    let patient = scheduling.levels(
        &client,
        SchedulerOptions {
            timeout: Duration::from_millis(50),
            fresh_for: Duration::ZERO,
            retry_after: LONG,
            ..SchedulerOptions::default()
        },
    );
    let asked_until_known = |levels: &SchedulerLevels| {
        // On a busy machine, an answer may be late, and then comes with a later question.
        while levels.level(1) != Some(level(READ)) {}
    };
    asked_until_known(&levels);
    scheduling.plan.set(&[(1, "radar.read", Some(WRITE))]);
    scheduling.poa.manager().hold_requests(false).unwrap();
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, || {
        for _ in 0..3 {
            assert_eq!(levels.level(1), Some(level(READ)));
            assert_eq!(levels.level(2), None);
        }
        let text = log.text();
        assert!(
            text.matches("answered before stays").count() <= 1,
            "told more than once: {text}"
        );
        // Not called again for an hour.
        assert_eq!(patient.level(1), None);
        scheduling.poa.manager().activate().unwrap();
        assert_eq!(patient.level(1), None);
        while levels.level(1) != Some(level(WRITE)) {}
    });
    let text = log.text();
    assert!(text.contains("answered before stays"), "{text}");
    assert!(text.contains("answers again"), "{text}");
    client.shutdown(true).unwrap();
}

#[test]
fn a_scheduler_that_cannot_be_asked_stops_the_start() {
    let scheduling = Scheduling::new();
    let (client, _) = orb();
    let hasty = SchedulerOptions {
        timeout: Duration::from_millis(50),
        ..SchedulerOptions::default()
    };
    let patient = |handles: &[(i32, &str)]| SchedulerOptions {
        timeout: LONG,
        native: Some(1..=90),
        handles: handles
            .iter()
            .map(|(of, name)| (*of, (*name).to_owned()))
            .collect(),
        ..SchedulerOptions::default()
    };
    let refused = |reference: &str, options| {
        let levels = SchedulerLevels::new(reference, options).and_then(|levels| {
            levels.connect(&client)?;
            Ok(levels)
        });
        levels.map(drop).unwrap_err()
    };
    let nobody = "corbaloc:iiop:127.0.0.1:9/SchedulingService";
    let error = refused(nobody, patient(&[])).to_string();
    assert!(
        error.contains(nobody) && error.contains("does not answer"),
        "{error}"
    );
    let here = scheduling.reference.as_str();
    assert_eq!(
        refused(here, patient(&[(7, "radar.raed")])),
        SchedulerError::Unknown("radar.raed".to_owned())
    );
    assert_eq!(
        refused(here, patient(&[(7, "spare")])),
        SchedulerError::NotScheduled("spare".to_owned())
    );
    assert_eq!(
        refused(here, patient(&[(7, "spare"), (7, "spare")])),
        SchedulerError::Twice(7)
    );
    assert_eq!(
        refused(here, patient(&[(0, "spare")])),
        SchedulerError::Zero("spare".to_owned())
    );
    scheduling.plan.set(&[(1, "radar.read", Some((99, 0, 0)))]);
    let error = refused(here, patient(&[])).to_string();
    assert!(error.contains("99, outside 1 to 90"), "{error}");
    scheduling.poa.manager().hold_requests(false).unwrap();
    let error = refused(here, hasty).to_string();
    assert!(error.contains("does not answer"), "{error}");
    scheduling.poa.manager().activate().unwrap();
    client.shutdown(true).unwrap();
}

#[test]
fn settings_name_a_scheduler_that_is_asked_when_the_channel_starts() {
    let scheduling = Scheduling::new();
    let service = opened(&format!(
        "scheduler = \"{}\"\nhandle = [\"7=log.write\"]\nreal_time = \"off\"\nscheduler_timeout = \"1000s\"",
        scheduling.reference
    ));
    let service = service.unwrap();
    assert_eq!(service.options().level, UNSCHEDULED);
    let levels = service.options().scheduler.clone().unwrap();
    assert_eq!(levels.level(7), None, "it is not asked before");
    let (server, poa) = orb();
    Service::serve(&service, &poa).unwrap();
    assert_eq!(levels.level(7), Some(level(WRITE)));
    assert_eq!(levels.level(1), Some(level(READ)));
    server.shutdown(true).unwrap();
}

#[test]
fn threads_of_a_scheduler_s_levels_have_the_native_priorities_that_it_says() {
    let scheduling = Scheduling::new();
    let opened = opened(&format!(
        "scheduler = \"{}\"\nhandle = [\"7=radar.read\", \"8=log.write\"]\nscheduler_timeout = \"1000s\"",
        scheduling.reference
    ));
    match opened {
        Ok(service) => {
            let (server, poa) = orb();
            Service::serve(&service, &poa).unwrap();
            assert_eq!(scheduled_by(&service), [(1, 80), (1, 40), (0, 0)]);
            server.shutdown(true).unwrap();
        }
        Err(reason) => assert!(reason.contains("CAP_SYS_NICE"), "{reason}"),
    }
}

#[test]
fn settings_of_a_scheduler_that_do_not_fit_stop_the_start() {
    for (text, named) in [
        (
            "scheduler = \"corbaloc::h/S\"\nschedule = \"PLAN\"",
            "cannot be given together",
        ),
        (
            "scheduler = \"h:2809\"\nreal_time = \"off\"",
            "no reference",
        ),
        (
            "scheduler = \"corbaloc::h/S\"\nreal_time = \"off\"\nhandle = [\"0=radar\"]",
            "count from 1",
        ),
        ("scheduler_timeout = \"1s\"", "scheduler"),
        ("handle = [\"7=radar\"]", "`schedule` or `scheduler`"),
        (
            "scheduler = \"corbaloc::h/S\"\nreal_time = \"off\"\nlane = [\"5=1\"]\ndispatching = \"lanes\"",
            "schedule",
        ),
    ] {
        let error = opened(text).unwrap_err();
        assert!(error.contains(named), "{error}");
    }
    let service = opened("scheduler = \"corbaloc:iiop:127.0.0.1:9/S\"\nreal_time = \"off\"");
    let (server, poa) = orb();
    let error = Service::serve(&service.unwrap(), &poa).unwrap_err();
    assert!(error.to_string().contains("does not answer"), "{error}");
    server.shutdown(true).unwrap();
}
