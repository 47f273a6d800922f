//! omniORB and omniEvents: their suppliers and consumers at our channels, ours at theirs.
//!
//! Each test is skipped, with the reason printed, where a program of theirs is not installed: `omniidl`, `g++` and
//! `libomniorb4-dev` for clients in C++, `omnievents` for its server and its tools.

use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use punctual::{Any, Interface, ListenEndpoint, NotNil, Orb, RootPoa};
use punctual_cosevent::cos_life_cycle::NameValuePair;
use punctual_cosevent::omni_events::{EventChannel, EventChannelFactory};
use punctual_naming::{NamingService, ServeOptions};
use punctual_naming_client::Names;
use punctual_naming_client::cos_naming::{NameComponent, NamingContext};

use crate::support::{Program, Served, event, exists, number, until};
use crate::typed::served;

/// Returns whether a program is installed; says so if it is not.
fn is_installed(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&folders).map(|folder| folder.join(program));
    let there =
        places.any(|place| place.is_file()) || Path::new("/usr/sbin").join(program).is_file();
    if !there {
        println!("skipped: {program} is not installed");
    }
    there
}

/// Process that is killed when this is dropped.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{command:?}: {text}{said}");
    text
}

/// Builds a client in C++ of omniORB, by its own compiler of IDL; `None` if it cannot be built here. `more` is IDL of it
/// besides that of channels.
fn client(name: &str, more: &[&str]) -> Option<PathBuf> {
    let has_headers = Path::new("/usr/include/omniORB4/CORBA.h").is_file();
    if !is_installed("omniidl") || !is_installed("g++") || !has_headers {
        println!("skipped: omniORB's compiler or libomniorb4-dev is not installed");
        return None;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cosevent-omniorb-{name}"));
    std::fs::create_dir_all(&folder).unwrap();
    let idls = here.join("../events/idl");
    let channels = ["CosEventComm.idl", "CosEventChannelAdmin.idl"];
    let all = channels.iter().map(|idl| idls.join(idl));
    let all: Vec<PathBuf> = all.chain(more.iter().map(|idl| here.join(idl))).collect();
    for idl in &all {
        let mut compile = Command::new("omniidl");
        compile
            .args(["-bcxx", "-Wbuse_quotes"])
            .arg("-C")
            .arg(&folder);
        compile.arg("-I").arg(&idls);
        succeeds(compile.arg(idl));
    }
    let program = folder.join(name);
    let mut compile = Command::new("g++");
    compile.current_dir(&folder).args(["-std=c++17", "-I."]);
    compile.arg(here.join(format!("tests/it/omniorb/{name}.cc")));
    let stems = all.iter().filter_map(|idl| idl.file_stem()?.to_str());
    compile.args(stems.map(|stem| format!("{stem}SK.cc")));
    compile.args(["-lomniORB4", "-lomniDynamic4", "-lomnithread", "-o"]);
    succeeds(compile.arg(&program));
    Some(program)
}

/// Things that the client in C++ finds as they should be.
const FOUND: &str = "the channel is one
a second connection is refused
pushed events are pushed on
pulled events are pushed on
pushed events are pulled
pulled events are pulled
then there are none
all are told of the end
a push behind the end is refused
";

/// Returns a URL of an object of our service.
fn url(served: &Served, key: &str) -> String {
    let place = served.orb.endpoints()[0].to_string();
    format!(
        "corbaloc:iiop:1.2@{}/{key}",
        place.trim_start_matches("iiop://")
    )
}

#[test]
fn suppliers_and_consumers_of_omniorb_of_each_kind_use_our_channel() {
    let Some(program) = client("events", &[]) else {
        return;
    };
    let served = Served::new();
    let table = served.orb.ior_table().unwrap();
    table.bind("EventChannel", &served.channel).unwrap();
    let said = succeeds(Command::new(&program).arg(url(&served, "EventChannel")));
    assert_eq!(said, FOUND);
    assert_eq!(served.service.size(), (1, 0));
    // The same by omniEvents, but for the last line: it takes a push behind the end.
    if let Some(theirs) = OmniEvents::start() {
        theirs.channel("plant");
        let output = Command::new(&program)
            .arg(theirs.url("plant"))
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let (found, _) = FOUND.trim_end().rsplit_once('\n').unwrap();
        assert!(said.starts_with(found), "{said}");
    }
}

/// Things that the typed client in C++ finds as they should be.
const TYPED_FOUND: &str = "an unknown interface is refused
an untyped consumer is refused
calls arrive as they were made
both are told of the end
a call behind the end is refused
";

/// Things that the typed client in C++ that pulls and is pulled from finds as they should be.
const PULLED_FOUND: &str = "an interface to push by is refused
there are no events yet
an untyped supplier is refused
events are pulled as they were
then there are none
both are told of the end
a pull behind the end is refused
";

#[test]
fn a_supplier_and_a_consumer_of_omniorb_use_our_typed_channel() {
    finds("typed", TYPED_FOUND);
}

#[test]
fn a_supplier_and_a_consumer_of_omniorb_that_are_pulled_use_our_typed_channel() {
    finds("pulled", PULLED_FOUND);
}

/// Runs a typed client in C++ at our typed channel.
fn finds(name: &str, found: &str) {
    let idl = [
        "idl/CosTypedEventComm.idl",
        "idl/CosTypedEventChannelAdmin.idl",
        "tests/idl/plant.idl",
    ];
    let Some(program) = client(name, &idl) else {
        return;
    };
    let served = served();
    let table = served.orb.ior_table().unwrap();
    let channel = served.typed_channel.as_ref().unwrap();
    table.bind("TypedEventChannel", channel).unwrap();
    let said = succeeds(Command::new(&program).arg(url(&served, "TypedEventChannel")));
    assert_eq!(said, found);
    assert_eq!(served.service.size(), (2, 0));
}

/// Server of omniEvents, and a program of ours that calls it.
struct OmniEvents {
    process: Running,
    _folder: tempfile::TempDir,
    port: u16,
    program: Program,
}

impl OmniEvents {
    fn start() -> Option<Self> {
        if !is_installed("omniEvents") {
            return None;
        }
        // Another program may take the port before it does.
        loop {
            let mut theirs = Self::at_a_port();
            while matches!(theirs.process.0.try_wait(), Ok(None)) {
                if theirs.factory().is_alive().unwrap_or(false) {
                    return Some(theirs);
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    fn at_a_port() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let mut command = Command::new("/usr/sbin/omniEvents");
        command.args(["-f", "-p", &port.to_string(), "-l"]);
        command.arg(folder.path());
        // There is no listener: it goes on without a Naming Service.
        command.args([
            "-ORBInitRef",
            "NameService=corbaloc::127.0.0.1:1/NameService",
        ]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Self {
            process: Running::start(&mut command),
            _folder: folder,
            port,
            program: Program::new(),
        }
    }

    fn url(&self, key: &str) -> String {
        format!("corbaloc:iiop:1.2@127.0.0.1:{}/{key}", self.port)
    }

    fn factory(&self) -> EventChannelFactory {
        let url = self.url("omniEvents");
        EventChannelFactory::from_object(self.program.orb.string_to_object(&url).unwrap())
    }

    /// Makes a channel that pulls often and delivers at short intervals.
    fn channel(&self, name: &str) -> EventChannel {
        let key = NameComponent {
            id: "EventChannel".to_owned(),
            kind: "object interface".to_owned(),
        };
        let criterion = |name: &str, value: Any| NameValuePair {
            name: name.to_owned(),
            value,
        };
        let criteria = [
            criterion("InsName", Any::new(name).unwrap()),
            criterion("PullRetryPeriod_ms", Any::new(&5_u32).unwrap()),
            criterion("CyclePeriod_ns", Any::new(&1_000_000_u32).unwrap()),
        ];
        let made = self.factory().create_object(&[key], &criteria).unwrap();
        EventChannel::from_object(made.not_nil().unwrap())
    }
}

#[test]
fn our_suppliers_and_consumers_of_each_kind_use_a_channel_of_omni_events() {
    let Some(theirs) = OmniEvents::start() else {
        return;
    };
    let (channel, program) = (theirs.channel("plant"), &theirs.program);
    assert!(channel.is_alive().unwrap());
    let (to_sink, sink) = program.sink(&channel);
    let (from_source, source) = program.source(&channel);
    let pulls = program.pulls_from(&channel);
    let pushes = program.pushes_to(&channel);
    for number in 0..5 {
        pushes.push(&event(number)).unwrap();
        source.supply(event(100 + number));
    }
    let mut received = sink.wait_for(10);
    received.sort_unstable();
    let all: Vec<i32> = (0..5).chain(100..105).collect();
    assert_eq!(received, all);
    // Its `pull` raises TRANSIENT where it would have to wait.
    let mut pulled = Vec::new();
    while pulled.len() < 10 {
        if let Ok(one) = pulls.pull() {
            pulled.push(number(&one));
        }
    }
    pulled.sort_unstable();
    assert_eq!(pulled, all);
    to_sink.disconnect_push_supplier().unwrap();
    from_source.disconnect_pull_consumer().unwrap();
    // It may have called `pull` again meanwhile.
    source.end();
    // Some of its calls raise an exception that the operation does not declare. A cycle of the channel that begins
    // meanwhile holds all requests until this one ends, which calls an object of the channel: then there is no answer.
    let _ = channel.with_timeout(Duration::from_secs(2)).destroy();
}

#[test]
fn tools_of_omni_events_create_a_channel_here_and_destroy_it() {
    if !is_installed("eventc") {
        return;
    }
    let naming = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()
        .unwrap();
    let poa = naming.root_poa().unwrap();
    let service = NamingService::in_memory().unwrap();
    let root = service.serve(&poa, ServeOptions::default()).unwrap();
    poa.manager().activate().unwrap();
    let names = format!(
        "NameService={}",
        naming.object_to_string(root.as_object()).unwrap()
    );
    let served = Served::new();
    let table = served.orb.ior_table().unwrap();
    table.bind("omniEvents", &served.factory).unwrap();
    let mut create = Command::new("eventc");
    create.args(["-ORBInitRef", &names, "-n", "plant/alarms", "-i", "alarms"]);
    create.args(["-q", "7", "-R", "5"]);
    // The context of the name.
    let below = Names::below(&NamingContext::from_object(root.as_object().clone()));
    below.bind_new_context("plant").unwrap();
    succeeds(create.arg(url(&served, "omniEvents")));
    let channel: EventChannel = below.resolve("plant/alarms").unwrap();
    assert!(channel.is_alive().unwrap());
    assert_eq!(served.service.size(), (2, 0));
    let program = Program::new();
    let pulls = program.pulls_from(&channel);
    let pushes = program.pushes_to(&channel);
    for number in 0..10 {
        pushes.push(&event(number)).unwrap();
    }
    // The queue has seven places.
    assert_eq!(number(&pulls.pull().unwrap()), 3);
    let mut destroy = Command::new("rmeventc");
    succeeds(destroy.args(["-ORBInitRef", &names, "-n", "plant/alarms"]));
    until(|| !exists(&channel));
    assert_eq!(served.service.size(), (1, 0));
    let _ = naming.shutdown(true);
}

#[test]
fn omni_events_records_events_of_our_channel_and_plays_them_back() {
    if !is_installed("events") {
        return;
    }
    let (served, program) = (Served::new(), Program::new());
    let table = served.orb.ior_table().unwrap();
    table.bind("EventChannel", &served.channel).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events");
    let mut record = Command::new("events");
    record
        .arg(url(&served, "EventChannel"))
        .stderr(Stdio::null());
    let recording = Running::start(record.stdout(File::create(&file).unwrap()));
    until(|| served.service.size() == (1, 1));
    let connected = || served.metric("pushed_total") + served.metric("pulled_total");
    let pushes = program.pushes_to(&served.channel);
    // It is connected some time after it has obtained its proxy.
    until(|| {
        pushes.push(&event(1)).unwrap();
        connected() >= 3
    });
    until(|| std::fs::metadata(&file).unwrap().len() > 0);
    drop(recording);
    let pulls = program.pulls_from(&served.channel);
    let mut play = Command::new("events");
    play.args(["-s", &url(&served, "EventChannel")]);
    play.stderr(Stdio::null()).stdin(File::open(&file).unwrap());
    let _playing = Running::start(&mut play);
    assert_eq!(number(&pulls.pull().unwrap()), 1);
}
