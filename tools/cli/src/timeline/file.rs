//! A file that `-ORBTimeline` has written, and its requests at client and server.

use crate::fail;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::{BufReader, Read};
use std::path::Path;
use std::process::ExitCode;

/// Version of the files that are read.
const VERSION: u32 = 1;
/// Maximum size of a file, in bytes.
const MOST_BYTES: u64 = 1 << 30;
/// Maximum number of events: twice as many as 64 threads record by default.
const MOST_EVENTS: usize = 1 << 23;

/// Largest time of a monotonic clock, in nanoseconds: 18 years. So differences of times do not overflow.
const MOST_NANOS: i64 = 1 << 59;
/// Largest time of day, in nanoseconds: in the year 2096.
const MOST_TIME_OF_DAY: i64 = 4_000_000_000_000_000_000;
/// Largest offset of TAI, in seconds: it is 37 since 2017.
const MOST_TAI_OFFSET: i64 = 1_000;
/// Largest error of a clock, in nanoseconds: 104 days.
const MOST_ERROR: i64 = 1 << 53;

const ON_FILES: &str = "a program writes one with -ORBTimeline FILE, when its ORB has shut down";

/// A recorded time line. All times are nanoseconds of its host's monotonic clock.
#[derive(Debug)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) process: Process,
    pub(super) clock: Clock,
    pub(super) connections: Vec<Connection>,
    pub(super) lost: u64,
    pub(super) threads: BTreeMap<u32, String>,
    /// Names of operations, by [`Stage::Upcall`].
    pub(super) operations: Vec<String>,
    pub(super) events: Vec<Event>,
    /// Requests that the process has sent, in order of time.
    pub(super) calls: Vec<Call>,
    /// Requests that the process has read, in order of time.
    pub(super) served: Vec<Served>,
}

/// Process that has recorded.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Process {
    pub(super) host: String,
    pub(super) program: String,
    pub(super) id: u32,
}

/// Clocks of the host.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Clock {
    pub(super) boot: String,
    pub(super) time_namespace: String,
    pub(super) begin: Reading,
    pub(super) end: Reading,
}

/// Clocks at one moment, in nanoseconds.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Reading {
    pub(super) monotonic: i64,
    pub(super) time_of_day: i64,
    #[serde(default)]
    pub(super) within: i64,
    #[serde(default)]
    pub(super) synchronised: bool,
    #[serde(default)]
    pub(super) estimated_error: i64,
    /// Seconds that TAI is ahead of the time of day; 0 where the kernel has not been told.
    #[serde(default)]
    pub(super) tai_offset: i64,
}

impl Reading {
    fn is_possible(&self) -> bool {
        let errors = [self.within, self.estimated_error];
        (-MOST_NANOS..=MOST_NANOS).contains(&self.monotonic)
            && (0..=MOST_TIME_OF_DAY).contains(&self.time_of_day)
            && (0..=MOST_TAI_OFFSET).contains(&self.tai_offset)
            && errors.iter().all(|error| (0..=MOST_ERROR).contains(error))
    }
}

/// Side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Side {
    Client,
    Server,
}

/// Connection, by the numbers of its requests.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Connection {
    pub(super) side: Side,
    pub(super) lane: u32,
    pub(super) connection: u32,
    pub(super) local: String,
    pub(super) peer: String,
}

/// Identifier of a request among those in progress on one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
pub(super) struct Request {
    pub(super) lane: u32,
    pub(super) connection: u32,
    pub(super) request: u32,
}

/// Stage, as events name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Sending,
    Sent,
    Read,
    Queued,
    /// Begin of the upcall; number of its operation, if the operation has a name.
    Upcall(Option<u32>),
    RunsAt,
    UpcallEnd,
    Replied,
    Received,
}

/// Request that has reached a stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) at: i64,
    pub(super) thread: u32,
    pub(super) stage: Stage,
    pub(super) request: Request,
    pub(super) priority: Option<i16>,
    pub(super) processor: u8,
}

/// Request at its client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) request: Request,
    pub(super) sending: i64,
    pub(super) received: Option<i64>,
}

/// Request at its server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Served {
    pub(super) request: Request,
    pub(super) read: i64,
    pub(super) upcall: Option<i64>,
    pub(super) upcall_end: Option<i64>,
    pub(super) operation: Option<u32>,
}

impl Served {
    /// Returns the last moment of the request that is certainly before its reply was sent.
    pub(super) fn end(&self) -> i64 {
        self.upcall_end.or(self.upcall).unwrap_or(self.read)
    }
}

#[cfg(test)]
impl File {
    /// Makes a file without events, whose host's clocks have been read at its begin and its end.
    pub(super) fn with_clock(begin: Reading, end: Reading) -> Self {
        Self {
            name: String::new(),
            process: Process::default(),
            clock: Clock {
                boot: "b".to_owned(),
                time_namespace: String::new(),
                begin,
                end,
            },
            connections: Vec::new(),
            lost: 0,
            threads: BTreeMap::new(),
            operations: Vec::new(),
            events: Vec::new(),
            calls: Vec::new(),
            served: Vec::new(),
        }
    }
}

/// Reads a file, or prints what is wrong in it.
pub(super) fn read(path: &Path) -> Result<File, ExitCode> {
    let shown = path.display();
    let opened = std::fs::File::open(path);
    let opened = opened.map_err(|error| fail(format!("{shown}: {error}"), Some(ON_FILES)))?;
    let mut input = BufReader::new(opened.take(MOST_BYTES));
    let read: Result<Whole, _> = serde_json::from_reader(&mut input);
    let whole = read.map_err(|error| {
        let message = match input.get_ref().limit() {
            0 => format!("{shown} is longer than {} MiB", MOST_BYTES >> 20),
            _ => format!("{shown} is no time line of requests: {error}"),
        };
        fail(message, Some(ON_FILES))
    })?;
    whole.file(shown.to_string()).map_err(|reason| {
        fail(
            format!("{shown} cannot be joined: {reason}"),
            Some(ON_FILES),
        )
    })
}

/// Keys of the file.
struct Whole {
    about: About,
    events: Events,
}

#[derive(Deserialize)]
struct About {
    punctual_timeline: Option<u32>,
    #[serde(default)]
    lost: u64,
    #[serde(default)]
    process: Process,
    clock: Option<Clock>,
    #[serde(default)]
    connections: Vec<Connection>,
}

#[derive(Default)]
struct Events {
    names: HashMap<String, u32>,
    operations: Vec<String>,
    threads: BTreeMap<u32, String>,
    all: Vec<Event>,
}

impl Whole {
    fn file(self, name: String) -> Result<File, String> {
        let Self { about, events } = self;
        match about.punctual_timeline {
            Some(VERSION) => {}
            Some(other) => {
                return Err(format!(
                    "it has version {other}, and this command reads version {VERSION}"
                ));
            }
            None => return Err("it is the trace of another program".to_owned()),
        }
        let clock = about
            .clock
            .ok_or("it has no clocks and connections (`write_chrome_trace` leaves them out, `write_recording` has them)")?;
        let (begin, end) = (&clock.begin, &clock.end);
        let is_possible = begin.is_possible() && end.is_possible();
        if !is_possible || begin.monotonic > end.monotonic {
            return Err("its clocks have times that no clock has".to_owned());
        }
        let mut all = events.all;
        // The events of one thread are in order.
        all.sort_by_key(|event| event.at);
        Ok(File {
            name,
            process: about.process,
            clock,
            connections: about.connections,
            lost: about.lost,
            threads: events.threads,
            operations: events.operations,
            calls: calls(&all),
            served: served(&all),
            events: all,
        })
    }
}

/// Returns the requests that were sent.
fn calls(events: &[Event]) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut current: HashMap<Request, usize> = HashMap::new();
    for event in events {
        match event.stage {
            Stage::Sending => {
                current.insert(event.request, calls.len());
                calls.push(Call {
                    request: event.request,
                    sending: event.at,
                    received: None,
                });
            }
            Stage::Received => {
                let call = current.remove(&event.request);
                if let Some(call) = call.and_then(|place| calls.get_mut(place)) {
                    call.received = Some(event.at);
                }
            }
            _ => {}
        }
    }
    calls
}

/// Returns the requests that were read.
fn served(events: &[Event]) -> Vec<Served> {
    let mut all: Vec<Served> = Vec::new();
    let mut current: HashMap<Request, usize> = HashMap::new();
    for event in events {
        if event.stage == Stage::Read {
            current.insert(event.request, all.len());
            all.push(Served {
                request: event.request,
                read: event.at,
                upcall: None,
                upcall_end: None,
                operation: None,
            });
            continue;
        }
        let place = current.get(&event.request);
        let Some(served) = place.and_then(|place| all.get_mut(*place)) else {
            continue;
        };
        match event.stage {
            Stage::Upcall(operation) => {
                served.upcall = Some(event.at);
                served.operation = operation;
            }
            Stage::UpcallEnd => served.upcall_end = Some(event.at),
            _ => {}
        }
    }
    all
}

/// Event in the form of the file.
#[derive(Deserialize)]
struct Written<'e> {
    #[serde(borrow)]
    ph: Cow<'e, str>,
    #[serde(borrow)]
    name: Cow<'e, str>,
    #[serde(default)]
    tid: u32,
    /// Microseconds.
    #[serde(default)]
    ts: f64,
    #[serde(borrow, default)]
    args: Arguments<'e>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Arguments<'e> {
    lane: u32,
    connection: u32,
    request: u32,
    processor: u8,
    priority: Option<i16>,
    #[serde(borrow)]
    operation: Option<Cow<'e, str>>,
    /// Name of a thread.
    #[serde(borrow)]
    name: Option<Cow<'e, str>>,
}

impl Events {
    fn add(&mut self, written: Written<'_>) -> Result<(), &'static str> {
        let arguments = written.args;
        let stage = match (&*written.ph, &*written.name) {
            ("M", "thread_name") => {
                let name = arguments.name.unwrap_or_default().into_owned();
                self.threads.insert(written.tid, name);
                return Ok(());
            }
            ("i", "sending") => Stage::Sending,
            ("i", "sent") => Stage::Sent,
            ("i", "read") => Stage::Read,
            ("i", "queued") => Stage::Queued,
            ("i", "runs at") => Stage::RunsAt,
            ("i", "replied") => Stage::Replied,
            ("i", "received") => Stage::Received,
            ("B", _) => Stage::Upcall(arguments.operation.map(|name| self.number(&name))),
            ("E", _) => Stage::UpcallEnd,
            _ => return Ok(()),
        };
        if self.all.len() >= MOST_EVENTS {
            return Err("more than 8,388,608 events; record for a shorter time");
        }
        let at = nanos(written.ts);
        if !(-MOST_NANOS..=MOST_NANOS).contains(&at) {
            return Err("an event at a time that no clock has");
        }
        self.all.push(Event {
            at,
            thread: written.tid,
            stage,
            request: Request {
                lane: arguments.lane,
                connection: arguments.connection,
                request: arguments.request,
            },
            priority: arguments.priority,
            processor: arguments.processor,
        });
        Ok(())
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.names.get(name) {
            return *number;
        }
        // There are fewer names than events.
        let number = u32::try_from(self.operations.len()).unwrap_or(u32::MAX);
        self.names.insert(name.to_owned(), number);
        self.operations.push(name.to_owned());
        number
    }
}

/// Returns the nanoseconds of a time in microseconds: exact for the first 104 days of a machine's clock.
#[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
fn nanos(micros: f64) -> i64 {
    (micros * 1000.0).round() as i64
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OfKeys)
    }
}

struct OfKeys;

impl<'de> Visitor<'de> for OfKeys {
    type Value = Whole;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time line of requests")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Whole, A::Error> {
        let (mut about, mut events) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "otherData" => about = Some(map.next_value()?),
                "traceEvents" => events = Some(map.next_value()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Whole {
            about: about.ok_or_else(|| A::Error::missing_field("otherData"))?,
            events: events.ok_or_else(|| A::Error::missing_field("traceEvents"))?,
        })
    }
}

impl<'de> Deserialize<'de> for Events {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(OfEvents)
    }
}

struct OfEvents;

impl<'de> Visitor<'de> for OfEvents {
    type Value = Events;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Events, A::Error> {
        let mut events = Events::default();
        while let Some(written) = sequence.next_element()? {
            events.add(written).map_err(A::Error::custom)?;
        }
        Ok(events)
    }
}
