//! A process that appends events by several threads and reads them, killed at random. Each
//! acknowledged event is delivered, and each thread's in order.
//!
//! The process is this test program, started again for one test, [`child`], with its orders in the environment. It reports on
//! standard output, which survives it:
//!
//! ```text
//! a PRODUCER NUMBER      the producer's events up to this one are acknowledged
//! g PRODUCER NUMBER      the reader has got this event
//! ```

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use punctual_durable::{
    EventId, EventLog, EventStore, FileOptions, FileStore, LogSettings, Most, Name, NewEvent,
    Reader,
};

const PRODUCERS: usize = 4;

/// Number of events in one append.
const BATCH: u64 = 50;

/// Variable with the child's orders: the file, the producers' last number, the first numbers.
const ORDERS: &str = "PUNCTUAL_DURABLE_ORDERS";

/// Load and kills of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) kills: u32,
    /// Number of events of all producers.
    pub(crate) events: u64,
    /// Longest life of a process that is killed, in milliseconds.
    pub(crate) most_life: u64,
}

/// What the parent knows of one producer's events.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    acknowledged: u64,
    /// The last one that was delivered; all before were, too.
    delivered: u64,
    /// The last one that was delivered by the present process.
    last: Option<u64>,
    repeats: u64,
}

impl Known {
    fn deliver(&mut self, number: u64) {
        match self.last {
            Some(last) => assert_eq!(number, last + 1, "in order, and none twice, in one process"),
            None => assert!(
                number <= self.delivered + 1,
                "{number} after {}",
                self.delivered
            ),
        }
        self.last = Some(number);
        self.repeats += u64::from(number <= self.delivered);
        self.delivered = self.delivered.max(number);
    }
}

/// Runs the plan; `child` is the name of the test that calls [`child`].
pub(crate) fn run(plan: Plan, child: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.redb");
    let each = plan.events / PRODUCERS as u64;
    let mut known = [Known::default(); PRODUCERS];
    let mut random = seed();
    for _ in 0..plan.kills {
        let life = 1 + random.next() % plan.most_life;
        let mut process = started(&path, each, &known, child);
        let reports = BufReader::new(process.stdout.take().unwrap());
        std::thread::scope(|scope| {
            let read = scope.spawn(|| follow(reports, &mut known));
            std::thread::sleep(Duration::from_millis(life));
            // One that has ended before had done everything.
            let _ = process.kill();
            process.wait().unwrap();
            read.join().unwrap();
        });
    }
    let mut process = started(&path, each, &known, child);
    follow(BufReader::new(process.stdout.take().unwrap()), &mut known);
    assert!(process.wait().unwrap().success());
    for one in &known {
        assert_eq!((one.acknowledged, one.delivered), (each, each));
    }
    let repeats: u64 = known.iter().map(|one| one.repeats).sum();
    println!(
        "{} events, {} kills: {repeats} repeats",
        plan.events, plan.kills
    );
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

fn started(path: &Path, each: u64, known: &[Known], child: &str) -> Child {
    let firsts: Vec<String> = known
        .iter()
        .map(|one| (one.acknowledged + 1).to_string())
        .collect();
    let orders = format!("{each} {} {}", firsts.join(" "), path.display());
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", child, "--nocapture", "--test-threads", "1"]);
    command.env(ORDERS, orders).stdout(Stdio::piped());
    command.spawn().unwrap()
}

/// Reads reports until the process has ended.
fn follow(mut reports: impl BufRead, known: &mut [Known]) {
    known.iter_mut().for_each(|one| one.last = None);
    let mut line = String::new();
    while reports.read_line(&mut line).unwrap() > 0 {
        let report = std::mem::take(&mut line);
        // The last line of a killed process may be cut off.
        let Some(report) = report.strip_suffix('\n') else {
            continue;
        };
        let words: Vec<&str> = report.split(' ').collect();
        let [kind @ ("a" | "g"), producer, number] = words[..] else {
            continue;
        };
        let (Ok(producer), Ok(number)) = (producer.parse::<usize>(), number.parse()) else {
            continue;
        };
        match kind {
            "a" => known[producer].acknowledged = known[producer].acknowledged.max(number),
            _ => known[producer].deliver(number),
        }
    }
}

/// Appends and reads as ordered, if this process was started for it.
pub(crate) fn child() {
    let Ok(orders) = std::env::var(ORDERS) else {
        return;
    };
    // Ends the line that the test harness has begun.
    report("\n");
    let mut words = orders.splitn(PRODUCERS + 2, ' ');
    let each: u64 = words.next().unwrap().parse().unwrap();
    let firsts: Vec<u64> = (0..PRODUCERS)
        .map(|_| words.next().unwrap().parse().unwrap())
        .collect();
    let path = Path::new(words.next().unwrap());
    let store = FileStore::open(path, FileOptions::default()).unwrap();
    let name = |text: &str| text.parse::<Name>().unwrap();
    let log = store
        .open_log(&name("log"), LogSettings::default())
        .unwrap();
    let reader = log.open_reader(&name("reader")).unwrap();
    std::thread::scope(|scope| {
        let log = &log;
        let start = |(producer, first)| scope.spawn(move || produce(&**log, producer, first, each));
        let producers: Vec<_> = firsts.into_iter().enumerate().map(start).collect();
        consume(&*reader, &producers);
    });
}

fn report(line: &str) {
    // One write for each line, so that lines of several threads do not mix.
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).unwrap();
    out.flush().unwrap();
}

fn produce(log: &dyn EventLog, producer: usize, first: u64, last: u64) {
    let mut next = first;
    while next <= last {
        let end = last.min(next + BATCH - 1);
        let event = |number: u64| {
            let text = format!("{producer} {number}");
            let id = EventId::new(text.as_bytes()).unwrap();
            let mut bytes = text.into_bytes();
            bytes.resize(100, b' ');
            NewEvent::new(bytes).with_id(id)
        };
        log.append((next..=end).map(event).collect()).unwrap();
        report(&format!("a {producer} {end}\n"));
        next = end + 1;
    }
}

fn consume(reader: &dyn Reader, producers: &[ScopedJoinHandle<'_, ()>]) {
    loop {
        let is_over = producers.iter().all(ScopedJoinHandle::is_finished);
        let got = reader
            .fetch(Most::events(500), Duration::from_millis(100))
            .unwrap();
        if is_over && got.is_empty() {
            return reader.flush().unwrap();
        }
        let text = |bytes: &[u8]| std::str::from_utf8(bytes).unwrap().trim_end().to_owned();
        let lines: Vec<String> = got
            .iter()
            .map(|one| format!("g {}\n", text(&one.bytes)))
            .collect();
        report(&lines.concat());
        reader.acknowledge(&got.iter().map(|one| one.position).collect::<Vec<_>>());
    }
}
