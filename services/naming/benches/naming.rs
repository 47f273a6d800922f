//! Benchmark of the naming service: `cargo bench -p punctual-naming`; with a word of a part's title
//! as argument, only that part.
//!
//! It compares resolving with an empty call, durable binds with the disk's rate of `fdatasync`, and
//! a million bindings from a file, with omniNames in the same run if installed.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../tests/it/groups_served.rs"]
mod groups_served;
#[path = "../tests/it/naming/support.rs"]
mod support;

use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use groups_served::alone_and_with_group_service;
use punctual::policy::Collocation;
use punctual::{Interface, ObjectRef, Orb};
use punctual_naming::NamingService;
use punctual_naming::cos_naming::{NameComponent, NamingContext};
use punctual_naming::extension::{Choice, ExtendedContext};
use punctual_naming::store::{Change, FileStore, ROOT, Store, Target};
use support::{Served, name, object};

/// Part of the naming service benchmark: its title and its function.
type Part = (&'static str, fn());

const PARTS: [Part; 8] = [
    ("resolve: over TCP beside an empty call", resolve),
    ("groups: resolve, alone and at a group service", groups),
    ("commit: of the file alone, beside fdatasync", commit),
    ("durable: binds beside fdatasync", durable),
    ("free: binds where fdatasync costs nothing", in_memory),
    ("million: 10^6 bindings in 10^4 contexts", million),
    ("list: 10^5 bindings of one context by iterator", list),
    ("omninames: the same of omniNames", omni_names),
];

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    for (title, part) in PARTS {
        let is_wanted = |word: &String| title.contains(word.as_str());
        if wanted.is_empty() || wanted.iter().any(is_wanted) {
            println!("{title}");
            part();
        }
    }
}

/// Number of members of a group.
const MEMBERS: usize = 16;

/// Resolves the name of a group, whose members the names' store has or a group service.
fn groups() {
    let both = alone_and_with_group_service();
    for (_, served) in &both {
        let context = ExtendedContext::narrow(served.root.as_object().clone()).unwrap();
        context
            .bind_group(&name("pumps"), Choice::RoundRobin)
            .unwrap();
        for at in 0..MEMBERS {
            let (id, member) = (format!("m{at}"), object(&served.orb, at));
            context.join(&name("pumps"), &id, Some(&member), 0).unwrap();
        }
    }
    let [(_, alone), (_groups, shared)] = &both;
    let pumps = name("pumps");
    let resolve = |served: &Served| assert!(served.root.resolve(&pumps).unwrap().is_some());
    let (alone, shared) = interleaved(10_000, |_| resolve(alone), |_| resolve(shared));
    println!(
        "  {MEMBERS} members, alone: {:.1} µs, at a group service: {:.1} µs",
        1e6 / alone,
        1e6 / shared
    );
}

/// Returns the median of several runs, in calls per second.
fn rate(mut runs: Vec<f64>) -> f64 {
    runs.sort_by(f64::total_cmp);
    runs[runs.len() / 2]
}

fn timed(count: u32, mut call: impl FnMut(u32)) -> f64 {
    let begin = Instant::now();
    (0..count).for_each(&mut call);
    f64::from(count) / begin.elapsed().as_secs_f64()
}

/// Measures two kinds of calls in alternating runs, as the machine's speed varies over time.
fn interleaved(count: u32, mut one: impl FnMut(u32), mut other: impl FnMut(u32)) -> (f64, f64) {
    timed(count / 4, &mut one);
    timed(count / 4, &mut other);
    let runs: (Vec<f64>, Vec<f64>) = (0..9)
        .map(|_| (timed(count, &mut one), timed(count, &mut other)))
        .unzip();
    (rate(runs.0), rate(runs.1))
}

/// Returns a reference of the usual length, as Punctual's servers publish it.
fn usual(served: &Served) -> ObjectRef {
    served.root.as_object().clone()
}

fn resolve() {
    let served = Served::in_memory();
    let one = object(&served.orb, 1);
    served.root.bind_new_context(&name("plants")).unwrap();
    served.root.bind_new_context(&name("plants/north")).unwrap();
    served
        .root
        .bind(&name("pump"), Some(&usual(&served)))
        .unwrap();
    served
        .root
        .bind(&name("plants/north/pump"), Some(&one))
        .unwrap();
    compare(&served.root, "one component", &name("pump"));
    compare(&served.root, "three", &name("plants/north/pump"));
}

fn compare(root: &NamingContext, what: &str, path: &[NameComponent]) {
    let (empty, resolve) = interleaved(
        10_000,
        |_| assert!(!root.as_object().non_existent().unwrap()),
        |_| assert!(root.resolve(path).unwrap().is_some()),
    );
    println!(
        "  {what}: {:.1} µs, an empty call {:.1} µs: {:.2} times",
        1e6 / resolve,
        1e6 / empty,
        empty / resolve
    );
}

/// Duration of one slice, in which one kind of work runs before the next. The speed of disks, above
/// all virtual ones, varies from second to second, so the compared kinds must run within the same
/// second.
const SLICE: Duration = Duration::from_millis(150);

/// Number of time slices for each compared kind of work.
const ROUNDS: usize = 25;

/// Returns the rate of calls during one slice, per second.
fn sliced(mut call: impl FnMut(u32)) -> f64 {
    let begin = Instant::now();
    let mut count = 0;
    while begin.elapsed() < SLICE {
        call(count);
        count += 1;
    }
    f64::from(count) / begin.elapsed().as_secs_f64()
}

/// Formats the median and the quartiles of the ratios between two kinds of work in the same round.
fn ratio(of: &[f64], to: &[f64]) -> String {
    let mut ratios: Vec<f64> = of.iter().zip(to).map(|(of, to)| of / to).collect();
    ratios.sort_by(f64::total_cmp);
    let at = |part: usize| ratios[ratios.len() * part / 4];
    format!("{:.2} times that ({:.2} to {:.2})", at(2), at(1), at(3))
}

/// File whose first page is repeatedly made durable (`fdatasync`).
struct Page(File);

impl Page {
    fn new(folder: &Path) -> Self {
        let mut page = Self(File::create(folder.join("sync")).unwrap());
        page.sync();
        page.0.sync_all().unwrap();
        page
    }

    fn sync(&mut self) {
        self.0.rewind().unwrap();
        self.0.write_all(&[7; 4096]).unwrap();
        self.0.sync_data().unwrap();
    }
}

/// Stores the given number of new bindings in one commit.
fn bind_in(store: &FileStore, first: u32, each: u32) {
    let bind = |one: u32| Change::Bind {
        context: ROOT,
        key: format!("object{:08}", first + one).into(),
        target: Target::Object(stored(one as usize)),
    };
    let changes: Vec<Change> = (0..each).map(bind).collect();
    store.commit(&changes).unwrap();
}

fn commit() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let store = FileStore::open(&folder.path().join("names.redb")).unwrap();
    let mut page = Page::new(folder.path());
    let mut rates: [Vec<f64>; 3] = Default::default();
    let mut first = 0;
    for _ in 0..ROUNDS {
        rates[0].push(sliced(|_| page.sync()));
        for (rates, each) in rates[1..].iter_mut().zip([1, 32]) {
            rates.push(sliced(|_| {
                bind_in(&store, first, each);
                first += each;
            }));
        }
    }
    let [sync, one, many] = &rates;
    println!("  fdatasync of 4 KiB: {:.0}/s", rate(sync.clone()));
    for (each, commits) in [(1, one), (32, many)] {
        println!(
            "  commits of {each}: {:.0}/s, {}",
            rate(commits.clone()),
            ratio(commits, sync)
        );
    }
}

/// Returns a reference to the service in a new ORB, with a connection of its own.
fn client(served: &Served) -> NamingContext {
    let orb = Orb::builder().configure(|config| config.collocation = Collocation::None);
    let orb = orb.build().unwrap();
    let url = format!("corbaloc:iiop:1.2@{}/NameService", &served.address()[1..]);
    NamingContext::from_object(orb.string_to_object(&url).unwrap())
}

/// Returns the rate of binds during one slice, per second; each context has one caller.
fn binds(contexts: &[NamingContext]) -> f64 {
    let bind = |number: usize, context: &NamingContext| {
        sliced(|at| {
            let name = name(&format!("{number}-{}", at % 300));
            context.rebind(&name, Some(context.as_object())).unwrap();
        })
    };
    std::thread::scope(|scope| {
        let callers = contexts.iter().enumerate();
        let callers = callers.map(|(number, context)| scope.spawn(move || bind(number, context)));
        let callers: Vec<_> = callers.collect();
        callers.into_iter().map(|one| one.join().unwrap()).sum()
    })
}

fn durable() {
    // In the build folder, which is on a disk: /tmp may be in memory.
    durable_in(Path::new(env!("CARGO_TARGET_TMPDIR")));
}

/// Measures binds on a file system in memory, where only processor time counts.
fn in_memory() {
    durable_in(Path::new("/dev/shm"));
}

fn durable_in(place: &Path) {
    let folder = tempfile::tempdir_in(place).unwrap();
    let service = NamingService::open(&folder.path().join("names.redb")).unwrap();
    let served = Served::new(&service);
    let clients: Vec<NamingContext> = (0..32).map(|_| client(&served)).collect();
    let shared = vec![clients[0].clone(); 32];
    let mut page = Page::new(folder.path());
    let mut rates: [Vec<f64>; 4] = Default::default();
    for _ in 0..ROUNDS {
        rates[0].push(sliced(|_| page.sync()));
        rates[1].push(binds(&clients[..1]));
        rates[2].push(binds(&clients));
        rates[3].push(binds(&shared));
    }
    let [sync, one, many, threads] = &rates;
    println!("  fdatasync of 4 KiB: {:.0}/s", rate(sync.clone()));
    for (who, binds, than) in [
        ("1 client", one, sync),
        ("32 clients", many, one),
        ("32 threads of a client", threads, one),
    ] {
        println!(
            "  binds of {who}: {:.0}/s, {}",
            rate(binds.clone()),
            ratio(binds, than)
        );
    }
}

/// Returns the resident memory of this process, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes * 1024
}

/// Returns the reference of an object of Punctual's, in its stored form.
fn stored(number: usize) -> Box<[u8]> {
    // As long as references of `object_to_string`: a type id, one profile, its components.
    let mut bytes = vec![0; 180];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    bytes.into()
}

fn fill(path: &Path, contexts: u64, each: usize) {
    let store = FileStore::open(path).unwrap();
    for first in (1..=contexts).step_by(100) {
        let mut changes = Vec::new();
        for context in first..(first + 100).min(contexts + 1) {
            changes.push(Change::Create {
                context,
                home: ROOT,
            });
            let key = format!("context{context:05}").into();
            let target = Target::Context(context);
            changes.push(Change::Bind {
                context: ROOT,
                key,
                target,
            });
            for at in 0..each {
                let key = format!("object{at:05}").into();
                let target = Target::Object(stored(at));
                changes.push(Change::Bind {
                    context,
                    key,
                    target,
                });
            }
        }
        store.commit(&changes).unwrap();
    }
}

fn million() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("names.redb");
    // In a process of its own, whose memory ends with it.
    if let Some(path) = std::env::var_os("PUNCTUAL_NAMING_STORE") {
        let before = resident();
        let begin = Instant::now();
        let service = NamingService::open(Path::new(&path)).unwrap();
        let took = begin.elapsed();
        let size = service.size();
        let memory = resident().saturating_sub(before);
        println!(
            "  open: {:.2} s for {} bindings in {} contexts, {:.0} bytes of memory a binding",
            took.as_secs_f64(),
            size.bindings,
            size.contexts,
            memory as f64 / size.bindings as f64
        );
        return;
    }
    fill(&path, 10_000, 100);
    println!(
        "  file: {:.0} MB",
        std::fs::metadata(&path).unwrap().len() as f64 / 1e6
    );
    let mut again = Command::new(std::env::current_exe().unwrap());
    let again = again.arg("million").env("PUNCTUAL_NAMING_STORE", &path);
    assert!(again.status().unwrap().success());
}

fn list() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("names.redb");
    fill(&path, 1, 100_000);
    let service = NamingService::open(&path).unwrap();
    let served = Served::new(&service);
    let context = served.root.resolve(&name("context00001")).unwrap().unwrap();
    let context = NamingContext::from_object(context);
    let (mut longest, begin) = (Duration::ZERO, Instant::now());
    let (first, iterator) = context.list(500).unwrap();
    let (iterator, mut count) = (iterator.unwrap(), first.len());
    loop {
        let call = Instant::now();
        let (has_more, some) = iterator.next_n(500).unwrap();
        longest = longest.max(call.elapsed());
        count += some.len();
        if !has_more {
            break;
        }
    }
    println!(
        "  {count} bindings in {:.0} ms, 500 a call, the longest call {:.2} ms",
        begin.elapsed().as_secs_f64() * 1e3,
        longest.as_secs_f64() * 1e3
    );
}

/// omniNames process, which is ended when this is dropped.
struct OmniNames(Child);

impl OmniNames {
    /// Starts omniNames, and waits until it answers; also returns the time that this took.
    fn start(folder: &Path, port: u16, is_new: bool) -> (Self, NamingContext, Duration) {
        let mut command = Command::new("omniNames");
        if is_new {
            command.args(["-start", &port.to_string()]);
        }
        command
            .arg("-logdir")
            .arg(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let begin = Instant::now();
        let child = OmniNames(command.spawn().unwrap());
        let orb = Orb::builder().build().unwrap();
        let text = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/NameService");
        let root = NamingContext::from_object(orb.string_to_object(&text).unwrap());
        while root.list(0).is_err() {
            std::thread::sleep(Duration::from_millis(1));
        }
        (child, root, begin.elapsed())
    }
}

impl Drop for OmniNames {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn omni_names() {
    if Command::new("omniNames").arg("-help").output().is_err() {
        println!("  skipped: omniNames is not installed");
        return;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let (server, root, _) = OmniNames::start(folder.path(), port, true);
    let one = object(root.as_object().orb(), 1);
    root.bind_new_context(&name("plants")).unwrap();
    root.bind_new_context(&name("plants/north")).unwrap();
    root.bind(&name("pump"), Some(root.as_object())).unwrap();
    root.bind(&name("plants/north/pump"), Some(&one)).unwrap();
    compare(&root, "one component", &name("pump"));
    compare(&root, "three", &name("plants/north/pump"));
    // omniNames compares a name with all others of its context, so that a single context with as
    // many would take minutes.
    for context in 0..100 {
        root.bind_new_context(&name(&format!("context{context}")))
            .unwrap();
    }
    let binds = timed(100_000, |at| {
        let path = format!("context{}/object{:06}", at % 100, at / 100);
        root.bind(&name(&path), Some(&one)).unwrap();
    });
    println!("  binds of 1 client: {binds:.0}/s (not made durable)");
    drop(server);
    let (_server, _, took) = OmniNames::start(folder.path(), port, false);
    println!(
        "  start-up with 100,000 names in 100 contexts: {:.2} s",
        took.as_secs_f64()
    );
    ours_with_as_many();
}

/// Measures the start of Punctual's service with as many names as omniNames had.
fn ours_with_as_many() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("names.redb");
    fill(&path, 100, 1_000);
    let begin = Instant::now();
    let service = NamingService::open(&path).unwrap();
    let took = begin.elapsed();
    println!(
        "  ours with {} names: {:.2} s",
        service.size().bindings,
        took.as_secs_f64()
    );
}
