//! A server process with persistent suppliers and consumers, killed at random. Each event that a push has taken reaches
//! each consumer at least once, and each supplier's in order. Either it is started again in its place, or another server of
//! its cluster takes its place.
//!
//! The server is this test program, started again for one test, [`child`], with its orders in the environment. It says
//! `ready` on standard output when it is served, with the reference to its factory.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use punctual::{Any, Interface, ListenEndpoint, NotNil, SystemException};
use punctual_host::log::Level;
use punctual_host::{Service, Turn};
use punctual_jetstream::{JetStreamOptions, JetStreamRecords, JetStreamStore};
use punctual_notification::NotificationService;
use punctual_notification::cos_notification::{
    CONNECTION_RELIABILITY, EVENT_RELIABILITY, EventType, PERSISTENT, Property, StructuredEvent,
};
use punctual_notification::cos_notify_channel_admin::{
    ClientType, EventChannel, EventChannelFactory, SequenceProxyPushConsumer,
    SequenceProxyPushSupplier, StructuredProxyPullSupplier,
};
use punctual_notification::cos_notify_comm as comm;

use crate::nats::Nats;
use crate::support::{
    Program, Served, consumers, event, limits, narrowed, number, property, push_supplier,
};

const SUPPLIERS: i32 = 3;

/// Number of events in one push.
const BATCH: i32 = 50;

/// Events of one supplier have numbers up to this.
const EACH: i32 = 100_000_000;

/// Variable with the server's orders: its host, its port and its file; then, in a cluster, the other server's port, and the
/// NATS server.
const ORDERS: &str = "PUNCTUAL_NOTIFICATION_ORDERS";

/// Lease of a cluster's servers, after which another one takes the place of one that was killed.
const LEASE: Duration = Duration::from_millis(500);

/// Time within which something has to go on.
const LIMIT: Duration = Duration::from_secs(60);

/// Load and kills of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) kills: u32,
    /// Number of events of all suppliers.
    pub(crate) events: i32,
    /// Longest life of a process that is killed, in milliseconds.
    pub(crate) most_life: u64,
    /// Address of the loopback interface that no other test uses.
    pub(crate) host: &'static str,
}

/// What a consumer has got. Clones share it.
#[derive(Clone, Default)]
struct Tracker(Arc<Mutex<Got>>);

#[derive(Default)]
struct Got {
    /// The last event of each supplier; all before were there, too.
    last: BTreeMap<i32, i32>,
    repeats: u64,
    /// First event that came although one before it had not.
    gap: Option<i32>,
}

impl Tracker {
    fn take(&self, event: &StructuredEvent) {
        let mut got = self.0.lock();
        let (supplier, number) = (number(event) / EACH, number(event) % EACH);
        let last = got.last.get(&supplier).copied().unwrap_or(0);
        if number > last + 1 {
            got.gap.get_or_insert(supplier * EACH + number);
        }
        got.repeats += u64::from(number <= last);
        got.last.insert(supplier, number.max(last));
    }

    fn has_all(&self, each: i32) -> bool {
        let got = self.0.lock();
        (0..SUPPLIERS).all(|supplier| got.last.get(&supplier) == Some(&each))
    }

    fn count(&self) -> i32 {
        self.0.lock().last.values().sum()
    }
}

impl comm::NotifyPublishServant for Tracker {
    fn offer_change(
        &self,
        _added: &[EventType],
        _removed: &[EventType],
    ) -> Result<(), comm::NotifyPublishOfferChangeError> {
        Ok(())
    }
}

impl comm::SequencePushConsumerServant for Tracker {
    fn push_structured_events(
        &self,
        notifications: &[StructuredEvent],
    ) -> Result<(), comm::SequencePushConsumerPushStructuredEventsError> {
        notifications.iter().for_each(|event| self.take(event));
        Ok(())
    }

    fn disconnect_sequence_push_consumer(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

/// A server's process, which is killed when this is dropped.
struct Server(Child);

/// What a server's process has told: its number, and the reference to its factory; `None` when it has ended.
type Told = (usize, Option<String>);

impl Server {
    /// Starts the server with a number.
    fn start(number: usize, orders: &str, child: &str, tells: Sender<Told>) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", child, "--nocapture", "--test-threads", "1"]);
        command.env(ORDERS, orders);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        std::thread::spawn(move || {
            // The test may be over.
            for line in lines.map_while(Result::ok) {
                if let Some(factory) = line.strip_prefix("ready ") {
                    let _ = tells.send((number, Some(factory.to_owned())));
                }
            }
            let _ = tells.send((number, None));
        });
        Self(process)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Serves as ordered, if this process was started for it, until it is killed.
pub(crate) fn child() {
    let Ok(orders) = std::env::var(ORDERS) else {
        return;
    };
    punctual_host::log::start(Level::Error);
    let words: Vec<&str> = orders.split(' ').collect();
    let endpoint = ListenEndpoint::iiop(words[0], words[1].parse().unwrap());
    let path = Path::new(words[2]);
    let (service, endpoint) = match &words[3..] {
        [other, nats] => (
            clustered(path, nats),
            endpoint.option("also_in_ior", format!("{}:{other}", words[0])),
        ),
        _ => (NotificationService::open(path).unwrap(), endpoint),
    };
    service.set_limits(limits());
    let served = Served::at(service, endpoint);
    let factory = served.orb.object_to_string(served.factory.as_object());
    println!("\nready {}", factory.unwrap());
    let turn = Service::turn(&served.service);
    while turn.as_ref().is_none_or(|turn| turn.loss().is_none()) {
        std::thread::sleep(Duration::from_millis(100));
    }
    // Its place was taken.
    std::process::exit(1);
}

/// Waits until this server of a cluster may serve.
fn clustered(path: &Path, nats: &str) -> NotificationService {
    let options = JetStreamOptions {
        acknowledge_wait: Duration::from_secs(2),
        ..JetStreamOptions::new([nats])
    };
    let events = JetStreamStore::open(options).unwrap();
    let name = "notification".parse().unwrap();
    let records = JetStreamRecords::new(&events, &name, LEASE).unwrap();
    let records = Arc::new(records);
    assert!(records.wait(&mut || false).unwrap());
    NotificationService::clustered(path, records, Arc::new(events))
}

/// Servers of a run, of which one serves.
struct Servers<'r> {
    /// Orders for each.
    orders: Vec<String>,
    child: &'r str,
    running: Vec<Option<Server>>,
    /// Number of the one that serves.
    serving: usize,
    tells: Sender<Told>,
    told: Receiver<Told>,
}

impl<'r> Servers<'r> {
    /// Starts one server in a file, or, with a NATS server, two of a cluster. Returns the reference of the one that serves,
    /// too.
    fn start(plan: &Plan, folder: &Path, nats: Option<&str>, child: &'r str) -> (Self, String) {
        let free = [(); 2].map(|()| TcpListener::bind((plan.host, 0)).unwrap());
        let ports = free.map(|free| free.local_addr().unwrap().port());
        let path = |number: usize| folder.join(format!("notification{number}.redb"));
        let order = |number: usize| {
            let path = path(number);
            format!("{} {} {}", plan.host, ports[number], path.display())
        };
        let orders = match nats {
            None => vec![order(0)],
            Some(nats) => [0, 1]
                .map(|number| format!("{} {} {nats}", order(number), ports[1 - number]))
                .to_vec(),
        };
        let (tells, told) = channel();
        let mut servers = Self {
            running: orders.iter().map(|_| None).collect(),
            orders,
            child,
            serving: 0,
            tells,
            told,
        };
        servers.begin(0);
        let factory = servers.wait();
        (1..servers.orders.len()).for_each(|number| servers.begin(number));
        (servers, factory)
    }

    fn begin(&mut self, number: usize) {
        let tells = self.tells.clone();
        let server = Server::start(number, &self.orders[number], self.child, tells);
        self.running[number] = Some(server);
    }

    /// Waits until one serves; returns its reference. One that has ended by itself is started again.
    fn wait(&mut self) -> String {
        loop {
            let told = self.told.recv_timeout(LIMIT).expect("one serves");
            if let Some(factory) = self.note(told) {
                return factory;
            }
        }
    }

    fn note(&mut self, (number, factory): Told) -> Option<String> {
        match &factory {
            Some(_) => self.serving = number,
            None => {
                let server = self.running[number].as_mut();
                // One that was killed has a successor already.
                if server.is_none_or(|server| server.0.try_wait().unwrap().is_some()) {
                    self.begin(number);
                }
            }
        }
        factory
    }

    /// Kills the one that serves, starts it again, and waits until one serves.
    fn kill(&mut self) {
        while let Ok(told) = self.told.try_recv() {
            self.note(told);
        }
        let number = self.serving;
        self.running[number] = None;
        self.begin(number);
        self.wait();
    }
}

/// Runs the plan; `child` is the name of the test that calls [`child`].
pub(crate) fn run(plan: Plan, child: &str) {
    run_with(plan, None, child);
}

/// Runs the plan on two servers of a cluster, which share a NATS server.
pub(crate) fn run_clustered(plan: Plan, nats: &Nats, child: &str) {
    run_with(plan, Some(&nats.url), child);
}

fn run_with(plan: Plan, nats: Option<&str>, child: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (mut servers, factory) = Servers::start(&plan, folder.path(), nats, child);
    let program = Program::new();
    let channel = created(&program, &factory);
    let pushed = [pushed_to(&program, &channel), pushed_to(&program, &channel)];
    let pulled = Tracker::default();
    let pulls = program.pulls_from(&channel);
    let each = plan.events / SUPPLIERS;
    let proxies = (0..SUPPLIERS).map(|_| program.pushes_sequences_to(&channel));
    let proxies: Vec<_> = proxies.collect();
    let is_over = AtomicBool::new(false);
    let trackers = [&pushed[0], &pushed[1], &pulled];
    let has_all = || trackers.iter().all(|tracker| tracker.has_all(each));
    std::thread::scope(|scope| {
        for (supplier, proxy) in proxies.iter().enumerate() {
            scope.spawn(move || supply(proxy, i32::try_from(supplier).unwrap(), each));
        }
        scope.spawn(|| pull(&pulls, &pulled, &is_over));
        let mut random = seed();
        for _ in 0..plan.kills {
            std::thread::sleep(Duration::from_millis(1 + random.next() % plan.most_life));
            servers.kill();
        }
        let (mut since, mut before) = (Instant::now(), 0);
        while !has_all() && since.elapsed() < LIMIT {
            let now = trackers.iter().map(|tracker| tracker.count()).sum();
            if now != before {
                (since, before) = (Instant::now(), now);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    println!("{} events, {} kills", plan.events, plan.kills);
    let names = ["pushed", "pushed", "pulled"];
    for (name, tracker) in names.iter().zip(trackers) {
        let got = tracker.0.lock();
        println!("{name}: {:?}, {} repeats", got.last, got.repeats);
    }
    for (name, tracker) in names.iter().zip(trackers) {
        assert_eq!(tracker.0.lock().gap, None, "{name}: in order");
    }
    assert!(has_all());
}

/// Creates the channel of persistent events.
fn created(program: &Program, factory: &str) -> EventChannel {
    let factory = program.orb.string_to_object(factory).unwrap();
    let factory = EventChannelFactory::narrow(factory).unwrap();
    let qos = [
        property(CONNECTION_RELIABILITY, PERSISTENT),
        property(EVENT_RELIABILITY, PERSISTENT),
        property("MaximumBatchSize", 100_i32),
    ];
    let created = factory.create_channel(&qos, &[]);
    created.unwrap().0.not_nil().unwrap()
}

fn pushed_to(program: &Program, channel: &EventChannel) -> Tracker {
    let proxy = push_supplier(&consumers(channel), ClientType::SequenceEvent);
    let proxy: SequenceProxyPushSupplier = narrowed(&proxy);
    let tracker = Tracker::default();
    let object: comm::SequencePushConsumer = program.object(tracker.clone());
    proxy.connect_sequence_push_consumer(Some(&object)).unwrap();
    tracker
}

fn numbered(supplier: i32, number: i32) -> StructuredEvent {
    let mut event = event(supplier * EACH + number);
    let id = format!("{supplier}-{number}");
    event.header.variable_header = vec![Property {
        name: "EventId".to_owned(),
        value: Any::new(id.as_str()).unwrap(),
    }];
    event
}

/// Pushes all events of a supplier: each push again until it has returned.
fn supply(proxy: &SequenceProxyPushConsumer, supplier: i32, each: i32) {
    let mut next = 1;
    let mut since = Instant::now();
    while next <= each && since.elapsed() < LIMIT {
        let end = each.min(next + BATCH - 1);
        let events: Vec<_> = (next..=end).map(|one| numbered(supplier, one)).collect();
        match proxy.push_structured_events(&events) {
            Ok(()) => (next, since) = (end + 1, Instant::now()),
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Pulls events until all is over.
fn pull(proxy: &StructuredProxyPullSupplier, tracker: &Tracker, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        match proxy.try_pull_structured_event() {
            Ok((event, true)) => tracker.take(&event),
            _ => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Numbers that differ from run to run, and whose seed is shown.
struct Random(u64);

fn seed() -> Random {
    let seed = u64::from(std::process::id()) ^ 0x9E37_79B9_7F4A_7C15;
    println!("seed {seed}");
    Random(seed)
}

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        self.0 >> 33
    }
}
