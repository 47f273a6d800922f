//! Events of a time line's file (Trace Event Format), and the jobs that they are of.

use super::timeline::{RecordedJob, RecordedOperation};
use crate::model::MOST_OPERATIONS;
use crate::time::Time;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// Maximum number of events: twice as many as 64 threads record by default.
const MOST: usize = 1 << 23;

/// Events of a file that tell of jobs: other kinds are not kept.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// Numbers of the operations by name.
    names: BTreeMap<String, u32>,
    all: Vec<Event>,
}

/// Record of a request that has reached a stage.
#[derive(Clone, Copy, Debug)]
struct Event {
    at: u64,
    stage: Stage,
    request: Request,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Read,
    /// Begin of the upcall; number of its operation, if the operation has a name.
    Upcall(Option<u32>),
    UpcallEnd,
}

/// Identifier of a request, unique among those in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Deserialize)]
struct Request {
    lane: u32,
    connection: u32,
    request: u32,
}

/// Event in the form of the file.
#[derive(serde::Deserialize)]
struct Written<'e> {
    #[serde(borrow)]
    ph: Cow<'e, str>,
    #[serde(borrow)]
    name: Cow<'e, str>,
    /// Microseconds.
    #[serde(default)]
    ts: f64,
    #[serde(borrow, default)]
    args: Arguments<'e>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Arguments<'e> {
    lane: u32,
    connection: u32,
    request: u32,
    #[serde(borrow)]
    operation: Option<Cow<'e, str>>,
}

/// Request in progress, with the operation of its upcall.
struct Open {
    read: u64,
    begun: Option<(u64, Option<u32>)>,
}

impl Events {
    /// Returns the jobs of each operation, by name.
    pub(super) fn into_operations(mut self) -> Vec<RecordedOperation> {
        // The events of one thread are in order.
        self.all.sort_by_key(|event| event.at);
        let mut open: HashMap<Request, Open> = HashMap::new();
        let mut jobs: Vec<Vec<RecordedJob>> = vec![Vec::new(); self.names.len()];
        for event in &self.all {
            if let Some((operation, job)) = advance(&mut open, event)
                && let Some(jobs) = jobs.get_mut(operation as usize)
            {
                jobs.push(job);
            }
        }
        let operations = self.names.into_iter().filter_map(|(name, number)| {
            let mut jobs = std::mem::take(jobs.get_mut(number as usize)?);
            jobs.sort_unstable();
            (!jobs.is_empty()).then_some(RecordedOperation { name, jobs })
        });
        operations.collect()
    }

    /// Keeps an event of a job; ignores other events. Fails if there are too many.
    fn add(&mut self, written: Written<'_>) -> Result<(), &'static str> {
        let stage = match (&*written.ph, &*written.name) {
            ("i", "read") => Stage::Read,
            ("B", _) => Stage::Upcall(match written.args.operation {
                Some(name) => Some(self.number(name)?),
                None => None,
            }),
            ("E", _) => Stage::UpcallEnd,
            _ => return Ok(()),
        };
        if self.all.len() >= MOST {
            return Err("more than 8,388,608 events; record for a shorter time");
        }
        self.all.push(Event {
            at: nanos(written.ts),
            stage,
            request: Request {
                lane: written.args.lane,
                connection: written.args.connection,
                request: written.args.request,
            },
        });
        Ok(())
    }

    fn number(&mut self, name: Cow<'_, str>) -> Result<u32, &'static str> {
        if let Some(number) = self.names.get(&*name) {
            return Ok(*number);
        }
        let number = u32::try_from(self.names.len());
        let number = number.ok().filter(|_| self.names.len() < MOST_OPERATIONS);
        let number = number.ok_or("more than 100,000 operations")?;
        self.names.insert(name.into_owned(), number);
        Ok(number)
    }
}

/// Adds an event to its request. Returns the job, with the number of its operation, if its upcall ends.
///
/// Requests that were in progress when the recording began or ended are no jobs.
fn advance(open: &mut HashMap<Request, Open>, event: &Event) -> Option<(u32, RecordedJob)> {
    match event.stage {
        Stage::Read => {
            let read = event.at;
            open.insert(event.request, Open { read, begun: None });
            None
        }
        Stage::Upcall(operation) => {
            open.get_mut(&event.request)?.begun = Some((event.at, operation));
            None
        }
        Stage::UpcallEnd => {
            let Open { read, begun } = open.remove(&event.request)?;
            let (begin, operation) = begun?;
            let job = RecordedJob {
                read: Time::from_nanos(read),
                begin: Time::from_nanos(begin),
                end: Time::from_nanos(event.at),
            };
            Some((operation?, job))
        }
    }
}

/// Returns the nanoseconds of a time in microseconds: exact for the first 104 days of a machine's clock.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates"
)]
fn nanos(micros: f64) -> u64 {
    (micros * 1000.0).round() as u64
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
