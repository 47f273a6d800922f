//! Levels of deliveries, from a plan.

use crate::support::{Served, event, header, wants};
use parking_lot::Mutex;
use punctual_host::settings::Values;
use punctual_rtevent::{
    Consumer, Dependency, Dispatcher, Dispatching, Filter, Header, Level, Publications, Pushed,
    SpawnError, Subscription, Supplier, Task, Threads, ThreadsOptions, codes,
};
use punctual_rtevent_service::levels::{LevelError, PlannedLevels, UNPLANNED};
use punctual_rtevent_service::rtec_event_channel_admin::ConsumerQos;
use punctual_rtevent_service::{Data, Event, EventService, ServiceOptions, open, settings};
use punctual_scheduling_runtime::{Schedule as Plan, ScheduleOptions};
use std::collections::BTreeSet;
use std::sync::{Arc, mpsc};
use std::time::Duration;

const MODEL: &str = "
    [operation.radar]\nwcet = '1ms'\nperiod = '33ms'
    [operation.display]\nwcet = '1ms'\nperiod = '50ms'
    [operation.log]\nwcet = '1ms'\nperiod = '1s'
";

/// Opens a service by settings; `PLAN` is the path of the model.
pub(crate) fn opened(text: &str) -> Result<EventService, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.toml");
    std::fs::write(&path, MODEL).unwrap();
    let text = text.replace("PLAN", &path.display().to_string());
    let text = format!("listen = \"iiop://:0\"\n{text}");
    let values = Values::from_toml(&settings(), "events.toml", &text);
    let values = values.map_err(|error| error.to_string())?;
    open(&values).map_err(|problem| problem.to_string())
}

fn plan() -> Arc<Plan> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.toml");
    std::fs::write(&path, MODEL).unwrap();
    Plan::from_file(&path, "", &ScheduleOptions::default()).unwrap()
}

fn entry(kind: i32, source: i32, rt_info: i32) -> Dependency {
    let header = Header::new(kind, source);
    Dependency { header, rt_info }
}

/// Dispatcher that notes the levels of deliveries.
pub(crate) struct Noted {
    threads: Threads,
    levels: Mutex<BTreeSet<Level>>,
}

impl Noted {
    pub(crate) fn new() -> Self {
        Self {
            threads: Threads::new(ThreadsOptions::default()).unwrap(),
            levels: Mutex::default(),
        }
    }

    /// Returns the levels so far, the most urgent first.
    pub(crate) fn seen(&self) -> Vec<Level> {
        self.levels.lock().iter().copied().collect()
    }
}

impl Dispatcher for Noted {
    fn prepare(&self, level: Level) -> Result<(), SpawnError> {
        self.threads.prepare(level)
    }

    fn schedule(&self, level: Level, task: Arc<dyn Task>) {
        self.levels.lock().insert(level);
        self.threads.schedule(level, task);
    }
}

/// Consumer in this process that sends the name of the thread that calls it.
struct Names(Mutex<mpsc::Sender<(i32, String)>>);

impl Consumer<Data> for Names {
    fn push(&self, events: &[Event]) -> Pushed {
        let name = std::thread::current().name().unwrap_or("").to_owned();
        for event in events {
            let _ = self.0.lock().send((event.header.kind, name.clone()));
        }
        Pushed::Done
    }
}

struct Silent;

impl Supplier for Silent {}

#[test]
fn a_remote_consumer_receives_at_the_levels_of_both_its_dependencies() {
    let planned = PlannedLevels::new(&plan(), [(7, "radar"), (8, "log")]).unwrap();
    let levels: Vec<_> = planned.handles().map(|(_, level)| level).collect();
    assert!(levels[0] < levels[1], "the shorter period is more urgent");
    let noted = Arc::new(Noted::new());
    let mut options = ServiceOptions::default();
    options.channel.dispatching = Dispatching::Queued(noted.clone());
    options.channel.schedule = Some(Arc::new(planned));
    let served = Served::new(options);
    let consumer = served.unconnected();
    let mut qos: ConsumerQos =
        wants(&[header(codes::DISJUNCTION, 2), header(16, 0), header(17, 0)]);
    qos.dependencies[1].rt_info = 7;
    qos.dependencies[2].rt_info = 8;
    let reference = Some(&consumer.reference);
    consumer
        .proxy
        .connect_push_consumer(reference, &qos)
        .unwrap();
    let supplier = served.supplier();
    for kind in [16, 17] {
        supplier.push(&[event(kind, 1, b"")]).unwrap();
    }
    consumer.inbox.events(2);
    assert_eq!(noted.seen(), levels);
}

/// Consumer that sends the scheduling of the thread that calls it: policy and priority, as in `proc(5)`.
struct Scheduled(Mutex<mpsc::Sender<(i32, (u32, u32))>>);

impl Consumer<Data> for Scheduled {
    fn push(&self, events: &[Event]) -> Pushed {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        // Behind the name, which may hold spaces, the fields begin with the third.
        let (_, fields) = stat.rsplit_once(')').unwrap();
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let scheduled = (fields[38].parse().unwrap(), fields[37].parse().unwrap());
        for event in events {
            let _ = self.0.lock().send((event.header.kind, scheduled));
        }
        Pushed::Done
    }
}

/// Returns the scheduling of the threads that deliver to an operation with handle 7, to one with handle 8, and without a
/// handle; nothing if the machine does not grant priorities.
fn scheduled(settings: &str) -> Option<[(u32, u32); 3]> {
    let settings = format!("schedule = \"PLAN\"\nhandle = [\"7=radar\", \"8=log\"]\n{settings}");
    match opened(&settings) {
        Ok(service) => Some(scheduled_by(&service)),
        Err(reason) => {
            println!("skipped: {reason}");
            None
        }
    }
}

/// Returns the scheduling of the threads of a service that deliver to the operations with handles 7 and 8, and without a
/// handle.
pub(crate) fn scheduled_by(service: &EventService) -> [(u32, u32); 3] {
    let (scheduled, received) = mpsc::channel();
    let entries = [
        entry(codes::DISJUNCTION, 3, 0),
        entry(16, 0, 7),
        entry(17, 0, 8),
        entry(18, 0, 0),
    ];
    let filter = Filter::from_prefix(&entries).unwrap();
    let subscription = Subscription::new(filter).level(service.options().level);
    let consumer = Arc::new(Scheduled(Mutex::new(scheduled)));
    let channel = service.channel();
    let _consumer = channel.connect_consumer(subscription, consumer).unwrap();
    let supplier = channel.connect_supplier(Publications::default(), Arc::new(Silent));
    let supplier = supplier.unwrap();
    [16, 17, 18].map(|kind| {
        supplier
            .push(&[Event::new(Header::new(kind, 1), Data::default())])
            .unwrap();
        let (of, scheduled) = received.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(of, kind);
        scheduled
    })
}

#[test]
fn threads_of_planned_levels_have_native_priorities_in_the_order_of_the_plan() {
    let Some([(fifo, radar), (_, log), unplanned]) = scheduled("real_time = \"require\"") else {
        return;
    };
    assert_eq!(fifo, 1, "SCHED_FIFO");
    assert!(radar > log && log >= 1, "{radar} {log}");
    assert_eq!(unplanned, (0, 0));
}

#[test]
fn lanes_of_a_plan_have_native_priorities_of_their_own() {
    let lanes = "dispatching = \"lanes\"\nlane = [\"1=1\", \"0=1\"]\nhighest_priority = 9";
    // CORBA priorities 1 and 0 are both 1 in the kernel, and those of the plan are above them.
    let Some(scheduled_so) = scheduled(lanes) else {
        return;
    };
    assert_eq!(scheduled_so, [(1, 1); 3]);
    // The plan's most urgent operation has the highest priority.
    let lanes = "dispatching = \"lanes\"\nlane = [\"32767=1\", \"0=1\"]\nhighest_priority = 9";
    assert_eq!(scheduled(lanes), Some([(1, 9), (1, 1), (1, 1)]));
}

#[test]
fn settings_name_the_operation_of_each_rt_info() {
    let service =
        opened("schedule = \"PLAN\"\nhandle = [\"7=radar\", \"8=log\"]\nreal_time = \"off\"");
    let service = service.unwrap();
    let (names, received) = mpsc::channel();
    let entries = [
        entry(codes::DISJUNCTION, 3, 0),
        entry(16, 0, 7),
        entry(17, 0, 8),
        entry(18, 0, 0),
    ];
    let filter = Filter::from_prefix(&entries).unwrap();
    let subscription = Subscription::new(filter).level(service.options().level);
    let consumer = Arc::new(Names(Mutex::new(names)));
    let channel = service.channel();
    channel.connect_consumer(subscription, consumer).unwrap();
    let supplier = channel
        .connect_supplier(Publications::default(), Arc::new(Silent))
        .unwrap();
    let mut seen = BTreeSet::new();
    for kind in [16, 17, 18] {
        let event = Event::new(Header::new(kind, 1), Data::default());
        supplier.push(&[event]).unwrap();
        seen.insert(received.recv_timeout(Duration::from_secs(60)).unwrap());
    }
    let levels = PlannedLevels::new(&plan(), [(7, "radar"), (8, "log")]).unwrap();
    let mut expected: BTreeSet<_> = [16, 17]
        .into_iter()
        .zip(levels.handles())
        .map(|(kind, (_, level))| (kind, format!("events {}", level.priority)))
        .collect();
    expected.insert((18, "events 1/0".to_owned()));
    assert_eq!(seen, expected);
    assert_eq!(service.options().level, UNPLANNED);
}

#[test]
fn settings_make_lanes_and_deliveries_go_to_the_next_one_below() {
    let levels = PlannedLevels::new(&plan(), [(7, "radar"), (8, "log")]).unwrap();
    let levels: Vec<_> = levels.handles().map(|(_, level)| level.priority).collect();
    let (radar, log) = (levels[0], levels[1]);
    assert!(radar > log);
    let service = opened(&format!(
        "schedule = \"PLAN\"\nhandle = [\"7=radar\", \"8=log\"]\nreal_time = \"off\"\n\
         dispatching = \"lanes\"\nborrow = true\nlane = [\"{radar}=1+2\", \"0 = 1\"]"
    ));
    let service = service.unwrap();
    let (names, received) = mpsc::channel();
    let entries = [
        entry(codes::DISJUNCTION, 3, 0),
        entry(16, 0, 7),
        entry(17, 0, 8),
        entry(18, 0, 0),
    ];
    let subscription = Subscription::new(Filter::from_prefix(&entries).unwrap());
    let subscription = subscription.level(service.options().level);
    let consumer = Arc::new(Names(Mutex::new(names)));
    let channel = service.channel();
    let _consumer = channel.connect_consumer(subscription, consumer).unwrap();
    let supplier = channel.connect_supplier(Publications::default(), Arc::new(Silent));
    let supplier = supplier.unwrap();
    for (kind, lane) in [(16, radar), (17, 0), (18, 0)] {
        let event = Event::new(Header::new(kind, 1), Data::default());
        supplier.push(&[event]).unwrap();
        let seen = received.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(seen, (kind, format!("events {lane}")));
    }
}

#[test]
fn native_priorities_are_granted_or_the_start_says_what_is_missing() {
    match opened("schedule = \"PLAN\"\nhandle = [\"7=radar\"]") {
        Ok(service) => assert_eq!(service.options().level, UNPLANNED),
        Err(text) => assert!(text.contains("CAP_SYS_NICE"), "{text}"),
    }
    opened("schedule = \"PLAN\"\nreal_time = \"best-effort\"").unwrap();
}

#[test]
fn what_does_not_fit_the_plan_stops_the_start() {
    for (text, named) in [
        (
            "schedule = \"PLAN\"\nhandle = [\"7=rader\"]",
            "did you mean `radar`",
        ),
        (
            "schedule = \"PLAN\"\nhandle = [\"0=radar\"]",
            "count from 1",
        ),
        (
            "schedule = \"PLAN\"\nhandle = [\"7=radar\", \"7=log\"]",
            "two operations",
        ),
        ("schedule = \"PLAN\"\nhandle = [\"radar\"]", "7=radar.track"),
        ("schedule = \"nowhere.toml\"", "nowhere.toml"),
        ("schedule = \"PLAN\"\nhost = \"moon\"", "no host `moon`"),
        ("handle = [\"7=radar\"]", "schedule"),
        (
            "schedule = \"PLAN\"\ndispatching = \"lanes\"\nreal_time = \"off\"",
            "has no lane",
        ),
        (
            "schedule = \"PLAN\"\ndispatching = \"lanes\"\nreal_time = \"off\"\nlane = [\"5=1\", \"5=2+1\"]",
            "a priority of its own",
        ),
        ("schedule = \"PLAN\"\nlane = [\"40000=1\"]", "20000=1+4"),
        ("schedule = \"PLAN\"\nlane = [\"5=0+7\"]", "20000=1+4"),
        ("lane = [\"5=1\"]", "schedule"),
        (
            "schedule = \"PLAN\"\nlowest_priority = 5\nhighest_priority = 6",
            "too few for the 3 priorities",
        ),
        (
            "schedule = \"PLAN\"\nlowest_priority = 9\nhighest_priority = 6",
            "--lowest-priority is above",
        ),
    ] {
        let error = opened(text).unwrap_err();
        assert!(error.contains(named), "{error}");
    }
}

#[test]
fn errors_of_handles_say_which() {
    let twice = PlannedLevels::new(&plan(), [(7, "radar"), (7, "log")]);
    assert_eq!(twice, Err(LevelError::Twice(7)));
}
