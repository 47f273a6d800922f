//! `punctual events cos serve`: killed with suppliers and consumers connected, and ended while calls wait.

use punctual::dynamic::{InvokeError, Request};
use punctual::policy::Collocation;
use punctual::{
    Any, CompletionStatus, Interface, ListenEndpoint, NotNil, OperationError, Orb, RootPoa,
    SystemException, SystemExceptionKind as Kind, TypeCode,
};
use punctual_cosevent::cos_event_channel_admin::{
    EventChannel, ProxyPullSupplier, ProxyPushConsumer,
};
use punctual_cosevent::cos_event_comm::{
    PullSupplier, PullSupplierPullError, PushConsumer, PushConsumerPushError, PushConsumerServant,
};
use punctual_cosevent::cos_typed_event_channel_admin::TypedEventChannel;
use punctual_cosevent::omni_events::EventChannelFactory;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use crate::support::until;

/// Server process, which is killed when this is dropped.
struct Serving {
    process: Child,
    reference: String,
}

impl Serving {
    fn new(place: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
        let endpoint = format!("iiop://{place}");
        command.args(["events", "cos", "serve", "--listen", &endpoint]);
        command.args(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut reference = String::new();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut reference).unwrap();
        let reference = reference.trim().to_owned();
        assert!(!reference.is_empty(), "it has not started");
        Self { process, reference }
    }

    /// Ends the server by SIGTERM.
    fn terminate(&self) {
        let pid = self.process.id().to_string();
        let killed = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(killed.unwrap().success());
    }

    fn channel(&self, orb: &Orb) -> EventChannel {
        EventChannel::from_object(orb.string_to_object(&self.reference).unwrap())
    }
}

impl Drop for Serving {
    /// Kills the process by SIGKILL.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns an address with a port that stays free: no other program and no other test uses the host.
fn place(host: &str) -> String {
    let free = TcpListener::bind((host, 0)).unwrap();
    free.local_addr().unwrap().to_string()
}

/// Program with a consumer.
fn program() -> Orb {
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .configure(|config| config.collocation = Collocation::None)
        .build()
        .unwrap();
    orb.root_poa().unwrap().manager().activate().unwrap();
    orb
}

/// Consumer that keeps the numbers that it receives.
#[derive(Clone, Default)]
struct Numbers(Arc<Mutex<Vec<i32>>>);

impl Numbers {
    fn last(&self) -> i32 {
        self.0.lock().unwrap().last().copied().unwrap_or(-1)
    }
}

/// Number of events by which the supplier is ahead of the consumer at most.
const AHEAD: i32 = 500;

/// Event behind all others.
const END: i32 = -1;

impl PushConsumerServant for Numbers {
    fn push(&self, data: &Any) -> Result<(), PushConsumerPushError> {
        self.0.lock().unwrap().push(data.extract().unwrap());
        Ok(())
    }

    fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

fn supply(channel: &EventChannel) -> Option<ProxyPushConsumer> {
    let admin = channel.for_suppliers().ok()??;
    let proxy = admin.obtain_push_consumer().ok()??;
    proxy.connect_push_supplier(None).ok()?;
    Some(proxy)
}

fn consume(channel: &EventChannel, consumer: &PushConsumer) {
    let admin = channel.for_consumers().unwrap().not_nil().unwrap();
    let proxy = admin.obtain_push_supplier().unwrap().not_nil().unwrap();
    proxy.connect_push_consumer(Some(consumer)).unwrap();
}

fn pull_from(channel: &EventChannel) -> ProxyPullSupplier {
    let admin = channel.for_consumers().unwrap().not_nil().unwrap();
    let proxy = admin.obtain_pull_supplier().unwrap().not_nil().unwrap();
    proxy.connect_pull_consumer(None).unwrap();
    proxy
}

/// Pushes numbers until the server has been started again, and some more; returns those that were accepted. Connects
/// again whenever the proxy is gone. Is never far ahead of the consumer, whose queue in the server is so never full.
fn pushed(channel: &EventChannel, numbers: &Numbers, is_restarted: &AtomicBool) -> BTreeSet<i32> {
    let mut proxy = None;
    let mut accepted = BTreeSet::new();
    let mut rest = 100;
    for number in 0.. {
        if is_restarted.load(Ordering::SeqCst) {
            rest -= 1;
        }
        until(|| is_restarted.load(Ordering::SeqCst) || number - numbers.last() < AHEAD);
        while !push_once(channel, &mut proxy, number, &mut accepted) {}
        if rest == 0 {
            break;
        }
    }
    accepted
}

/// Pushes a number; returns `false` if it is to be repeated. A push whose outcome is not known is not repeated.
fn push_once(
    channel: &EventChannel,
    proxy: &mut Option<ProxyPushConsumer>,
    number: i32,
    accepted: &mut BTreeSet<i32>,
) -> bool {
    let Some(to) = proxy.take().or_else(|| supply(channel)) else {
        return false;
    };
    let error = match to.push(&Any::new(&number).unwrap()) {
        Ok(()) => {
            *proxy = Some(to);
            return accepted.insert(number);
        }
        Err(error) => error,
    };
    let kind = error.system().map(SystemException::kind);
    let is_gone = kind.is_none_or(|kind| kind == Kind::ObjectNotExist);
    *proxy = (!is_gone).then_some(to);
    error.completed() != CompletionStatus::No
}

fn killed_in_between(host: &str, store: Option<&Path>) -> (BTreeSet<i32>, Vec<i32>) {
    let (place, orb, numbers) = (place(host), program(), Numbers::default());
    let store = store.map(|path| path.display().to_string());
    let arguments = match &store {
        Some(path) => vec!["--store", path],
        None => vec![],
    };
    let serving = Serving::new(&place, &arguments);
    let channel = serving.channel(&orb);
    let consumer: PushConsumer = orb.root_poa().unwrap().activate(numbers.clone()).unwrap();
    consume(&channel, &consumer);
    let is_restarted = Arc::new(AtomicBool::new(false));
    let (supplying, seen, over) = (channel.clone(), numbers.clone(), is_restarted.clone());
    let supplier = std::thread::spawn(move || pushed(&supplying, &seen, &over));
    until(|| numbers.0.lock().unwrap().len() > 200);
    drop(serving);
    let _serving = Serving::new(&place, &arguments);
    if store.is_none() {
        consume(&channel, &consumer);
    }
    is_restarted.store(true, Ordering::SeqCst);
    let accepted = supplier.join().unwrap();
    // An event behind all others.
    let last = supply(&channel).unwrap();
    last.push(&Any::new(&END).unwrap()).unwrap();
    until(|| numbers.0.lock().unwrap().contains(&END));
    orb.shutdown(true).unwrap();
    let received = numbers.0.lock().unwrap().clone();
    (accepted, received)
}

/// Checks that each number was received once and in order; returns how many that were accepted were lost.
fn lost(accepted: &BTreeSet<i32>, received: &[i32]) -> usize {
    let received: Vec<i32> = received.iter().copied().filter(|one| *one != END).collect();
    assert!(received.is_sorted());
    let once: BTreeSet<i32> = received.iter().copied().collect();
    assert_eq!(once.len(), received.len());
    accepted.difference(&once).count()
}

#[test]
fn after_a_kill_consumers_of_a_stored_channel_receive_on_and_what_was_lost_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("events.redb");
    let (accepted, received) = killed_in_between("127.77.2.1", Some(&store));
    // What was in the queue of the killed process.
    let lost = lost(&accepted, &received);
    assert!(lost <= AHEAD as usize, "{lost}");
    println!("{} accepted, {lost} lost by the kill", accepted.len());
    assert!(received.contains(accepted.last().unwrap()));
}

#[test]
fn after_a_kill_peers_of_a_channel_without_a_store_connect_again() {
    let (accepted, received) = killed_in_between("127.77.2.2", None);
    // Also those that were accepted before the consumer had connected again.
    let lost = lost(&accepted, &received);
    println!("{} accepted, {lost} lost by the kill", accepted.len());
    assert!(received.contains(accepted.last().unwrap()));
}

#[test]
fn calls_that_wait_are_answered_when_the_server_is_ended() {
    let orb = program();
    let mut serving = Serving::new("127.0.0.1:0", &[]);
    let proxy = pull_from(&serving.channel(&orb));
    let (say, heard) = mpsc::channel();
    let waiting = PullSupplier::from_object(proxy.as_object().clone());
    waiting.sendc_pull(move |pulled: Result<Any, PullSupplierPullError>| {
        let _ = say.send(pulled);
    });
    assert!(!proxy.try_pull().unwrap().1);
    serving.terminate();
    let ended = heard.recv().unwrap().unwrap_err();
    let kind = ended.system().unwrap().kind();
    assert!(
        matches!(kind, Kind::Transient | Kind::CommFailure),
        "{ended}"
    );
    assert!(serving.process.wait().unwrap().success());
    orb.shutdown(true).unwrap();
}

#[test]
fn the_channel_and_the_factory_are_found_by_their_well_known_keys() {
    let (orb, place) = (program(), place("127.77.2.3"));
    let _serving = Serving::new(&place, &[]);
    for key in ["EventChannelFactory", "omniEvents"] {
        let url = format!("corbaloc:iiop:{place}/{key}");
        let factory = orb.string_to_object(&url).unwrap();
        let factory = EventChannelFactory::narrow(factory).unwrap();
        factory.create_channel(&format!("of {key}")).unwrap();
    }
    for key in ["EventChannel", "of%20omniEvents"] {
        let url = format!("corbaloc:iiop:{place}/{key}");
        let channel = EventChannel::narrow(orb.string_to_object(&url).unwrap()).unwrap();
        assert!(supply(&channel).is_some());
    }
    orb.shutdown(true).unwrap();
}

#[test]
fn calls_of_an_interface_in_idl_are_events_of_the_typed_channel() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("beats.idl"),
        "#include \"number.idl\"\ninterface Beats { void beat(in Number count); };",
    )
    .unwrap();
    let parts = folder.path().join("parts");
    std::fs::create_dir(&parts).unwrap();
    std::fs::write(parts.join("number.idl"), "typedef long Number;").unwrap();
    let (orb, place) = (program(), place("127.77.2.4"));
    let file = folder.path().join("beats.idl").display().to_string();
    let parts = parts.display().to_string();
    let mut serving = Serving::new(&place, &["--idl", &file, "--include", &parts]);
    let channel = orb.string_to_object(&format!("corbaloc:iiop:{place}/TypedEventChannel"));
    let channel = TypedEventChannel::narrow(channel.unwrap()).unwrap();
    let consumers = channel.for_consumers().unwrap().not_nil().unwrap();
    let pulls = consumers.obtain_pull_supplier().unwrap().not_nil().unwrap();
    pulls.connect_pull_consumer(None).unwrap();
    let typed_pulls = consumers.obtain_typed_pull_supplier("IDL:PullBeats:1.0");
    let typed_pulls = typed_pulls.unwrap().not_nil().unwrap();
    typed_pulls.connect_pull_consumer(None).unwrap();
    let suppliers = channel.for_suppliers().unwrap().not_nil().unwrap();
    let proxy = suppliers
        .obtain_typed_push_consumer("IDL:Beats:1.0")
        .unwrap();
    let proxy = proxy.not_nil().unwrap();
    proxy.connect_push_supplier(None).unwrap();
    let beats = proxy.get_typed_consumer().unwrap().unwrap();
    let mut request = Request::new(&beats, "beat");
    request.add_in("count", Any::new(&7).unwrap());
    request.invoke().unwrap();
    let event = pulls.pull().unwrap();
    assert_eq!(event.type_code().id(), Ok("IDL:Beats/beat:1.0"));
    assert_eq!(event.read(|input| input.get_i32()), Ok(7));
    let pull_beats = typed_pulls.get_typed_supplier().unwrap().unwrap();
    let mut request = Request::new(&pull_beats, "try_beat");
    request
        .add_out("count", &TypeCode::LONG)
        .set_return_type(&TypeCode::BOOLEAN);
    for (has_event, count) in [(true, 7), (false, 0)] {
        request.invoke().unwrap();
        assert_eq!(request.return_value().extract(), Ok(has_event));
        assert_eq!(request.argument(0).unwrap().extract(), Ok(count));
    }
    // A call that waits is answered when the server is ended.
    let (say, heard) = mpsc::channel();
    let mut waits = Request::new(&pull_beats, "pull_beat");
    waits.add_out("count", &TypeCode::LONG);
    let ended = move |_, outcome: Result<(), InvokeError>| {
        let _ = say.send(outcome.map_err(SystemException::from));
    };
    waits.sendc_with(ended).unwrap();
    request.invoke().unwrap();
    serving.terminate();
    let kind = heard.recv().unwrap().unwrap_err().kind();
    assert!(
        matches!(kind, Kind::Transient | Kind::CommFailure),
        "{kind:?}"
    );
    assert!(serving.process.wait().unwrap().success());
    orb.shutdown(true).unwrap();
}

#[test]
fn idl_that_does_not_compile_ends_the_command_with_its_messages() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wrong.idl");
    std::fs::write(&file, "interface Wrong { void said(in Text text); };").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args([
        "events",
        "cos",
        "serve",
        "--listen",
        "iiop://127.0.0.1:0",
        "--idl",
    ]);
    let ended = command.arg(&file).output().unwrap();
    assert!(!ended.status.success());
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(
        told.contains("wrong.idl") && told.contains("`Text`"),
        "{told}"
    );
    assert!(told.contains("--include"), "{told}");
}
