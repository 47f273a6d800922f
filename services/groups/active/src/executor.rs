//! Thread that runs the log's requests on the member's servant, one at a time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use punctual::{Interface, ObjectRef};
use punctual_durable::{Delivery, DurableError, EventLog, Most, Position, Reader};
use punctual_groups_client::Membership;
use punctual_groups_client::ft::Checkpointable;
use punctual_groups_client::punctual_groups::Administration;

use crate::appender::{event, is_away};
use crate::front::Shared;
use crate::member::ActiveOptions;
use crate::records::{Content, Entry, Reply, Request, State};
use crate::replies::Replies;

/// Longest wait for entries, after which the member looks whether it is to end.
const PATIENCE: Duration = Duration::from_millis(50);
/// Pause after an error of a log that is away.
const PAUSE: Duration = Duration::from_millis(200);
/// Time between two questions whether the member is primary.
const QUESTIONS: Duration = Duration::from_millis(500);
/// Entries that are read at once, at most.
const AT_ONCE: usize = 256;

/// Member, as its thread has it.
pub(crate) struct Executor {
    pub(crate) shared: Arc<Shared>,
    pub(crate) options: ActiveOptions,
    pub(crate) location: String,
    pub(crate) log: Arc<dyn EventLog>,
    pub(crate) reader: Arc<dyn Reader>,
    /// True if the log had the reader before: it has all entries that it has not acknowledged.
    pub(crate) had_reader: bool,
    pub(crate) manager: Administration,
    pub(crate) group: ObjectRef,
    pub(crate) group_id: u64,
    /// Object that clients call, and the one behind the log.
    pub(crate) front: ObjectRef,
    pub(crate) behind: ObjectRef,
    pub(crate) was_reached: Arc<AtomicBool>,
    pub(crate) membership: Option<Membership>,
    pub(crate) replies: Replies,
    /// Position of the last entry that the state has.
    pub(crate) done: u64,
    /// Position of the last entry that a stored state has.
    pub(crate) stored: u64,
    /// Entries that were run, and are not acknowledged, in their order.
    pub(crate) unacknowledged: VecDeque<u64>,
    /// Position at which the last member has begun that waits for a state as of there.
    pub(crate) wanted: Option<u64>,
    /// Time at which the service was asked whether the member is primary.
    pub(crate) asked: Option<Instant>,
    pub(crate) has_warned: bool,
}

/// Reason why a member ends.
#[derive(Debug, PartialEq)]
pub(crate) enum Stop {
    /// The member is dropped.
    Asked,
    /// Its state would not be the group's any more.
    Failed(String),
}

impl Executor {
    pub(crate) fn run(mut self) {
        let stop = match self.start() {
            Ok(()) => loop {
                if let Err(stop) = self.step() {
                    break stop;
                }
            },
            Err(stop) => stop,
        };
        // First of all: clients go to other members.
        self.membership = None;
        match stop {
            Stop::Failed(why) if !self.shared.is_ending() => {
                tracing::error!("{} has left its active group: {why}", self.location);
                self.shared.end(why);
            }
            Stop::Asked | Stop::Failed(_) => self.shared.end("it was dropped".to_owned()),
        }
    }

    /// Runs the entries that have come, and stores the state where that is due.
    fn step(&mut self) -> Result<(), Stop> {
        for delivery in self.fetch()? {
            let (position, entry) = self.read(&delivery)?;
            self.take(position, &entry)?;
        }
        let is_due = self.wanted.is_some() || self.unacknowledged.len() >= self.options.store_after;
        if is_due && self.is_primary() {
            self.store();
        }
        Ok(())
    }

    /// Returns whether the member is primary; asks the service from time to time, as its lease may be long.
    fn is_primary(&mut self) -> bool {
        let Some(membership) = &self.membership else {
            return false;
        };
        if self.asked.is_some_and(|asked| asked.elapsed() < QUESTIONS) {
            return membership.is_primary();
        }
        self.asked = Some(Instant::now());
        membership.becomes_primary()
    }

    /// Returns the next entries of the log; none if none come for a while.
    pub(crate) fn fetch(&self) -> Result<Vec<Delivery>, Stop> {
        if self.shared.is_ending() {
            return Err(Stop::Asked);
        }
        match self.reader.fetch(Most::events(AT_ONCE), PATIENCE) {
            Ok(deliveries) => Ok(deliveries),
            Err(error) if is_away(&error) => {
                tracing::debug!("the group's log cannot be read: {error}");
                thread::sleep(PAUSE);
                Ok(Vec::new())
            }
            Err(error) => Err(Stop::Failed(error.to_string())),
        }
    }

    pub(crate) fn read(&self, delivery: &Delivery) -> Result<(u64, Entry), Stop> {
        let position = delivery.position.0;
        let strange = || Stop::Failed(format!("entry {position} of the log cannot be read"));
        let entry = Entry::read(&delivery.bytes).ok_or_else(strange)?;
        Ok((position, entry))
    }

    /// Takes an entry, unless the state has it already.
    pub(crate) fn take(&mut self, position: u64, entry: &Entry) -> Result<(), Stop> {
        if position <= self.stored {
            self.reader.acknowledge(&[Position(position)]);
            return Ok(());
        }
        if position <= self.done {
            // The log may hand out an entry again, but none that comes before one that was run.
            return match self.unacknowledged.binary_search(&position) {
                Ok(_) => Ok(()),
                Err(_) => Err(Stop::Failed(format!(
                    "entry {position} of the log has come after entry {}",
                    self.done
                ))),
            };
        }
        self.unacknowledged.push_back(position);
        match &entry.what {
            Content::TheRequest(request) => {
                let reply = self.run_request(request)?;
                if entry.run == self.shared.run {
                    self.shared.answer(entry.number, &reply);
                }
            }
            Content::Location(_) if entry.run == self.shared.run => {}
            Content::Location(_) => self.wanted = Some(position),
            Content::Position(stored) => self.note_stored(*stored),
        }
        self.done = position;
        Ok(())
    }

    /// Runs a request, unless it is the repeat of one that was run.
    fn run_request(&mut self, request: &Request) -> Result<Reply, Stop> {
        self.replies.pass_time(request.time);
        let has_identity = !request.identity.is_empty();
        if has_identity && let Some(reply) = self.replies.find(&request.identity) {
            return Ok(reply.clone());
        }
        self.was_reached.store(false, Ordering::Release);
        let failed =
            |why: String| Stop::Failed(format!("`{}` was not run: {why}", request.operation));
        let passed = request.with(|request| self.behind.relay(request));
        let passed = passed.ok_or_else(|| failed("its record cannot be read".to_owned()))?;
        let reply = passed.map_err(|exception| failed(exception.to_string()))?;
        let reply = reply.ok_or_else(|| failed("no reply came".to_owned()))?;
        // An exception of the servant is a result, which is the same at all members. One of the ORB is not.
        if !self.was_reached.load(Ordering::Acquire) {
            let raised = reply.exception().map(ToString::to_string);
            return Err(failed(raised.unwrap_or_default()));
        }
        let reply = Reply::of(&reply).map_err(|exception| failed(exception.to_string()))?;
        if has_identity {
            self.replies
                .add(&request.identity, request.expires, reply.clone());
        }
        Ok(reply)
    }

    /// Notes that a state is stored: the entries that it has are not needed any more.
    pub(crate) fn note_stored(&mut self, stored: u64) {
        // A member may have come since then.
        self.wanted = self.wanted.filter(|wanted| *wanted > stored);
        self.acknowledge_to(stored);
    }

    /// Acknowledges all entries up to a position, which a stored state has.
    pub(crate) fn acknowledge_to(&mut self, stored: u64) {
        self.stored = self.stored.max(stored);
        let count = self.unacknowledged.partition_point(|one| *one <= stored);
        let done: Vec<Position> = self.unacknowledged.drain(..count).map(Position).collect();
        self.reader.acknowledge(&done);
    }

    /// Stores the state at the service, and says so in the log. It is tried again if it fails.
    fn store(&mut self) {
        match self.try_store(self.done) {
            Ok(()) => self.has_warned = false,
            Err(why) if self.has_warned => tracing::debug!("the state is not stored: {why}"),
            Err(why) => {
                self.has_warned = true;
                tracing::warn!("the state of an active group is not stored: {why}");
            }
        }
    }

    /// Stores the state as of a position.
    pub(crate) fn try_store(&mut self, position: u64) -> Result<(), String> {
        let membership = self.membership.as_ref().ok_or("it is no member")?;
        let servant = Checkpointable::from_object(self.behind.clone());
        let state = State {
            position,
            time: self.replies.time(),
            servant: servant.get_state().map_err(|error| error.to_string())?,
            known: self.replies.to_records(),
        };
        let bytes = state.to_bytes().ok_or("it is too long")?;
        let stored = membership.store_state(&bytes);
        stored.map_err(|error| error.to_string())?;
        self.note_stored(position);
        // Where this is lost, the others keep their entries until the next state.
        if let Err(error) = self.append(Content::Position(position)) {
            tracing::debug!("that a state is stored is not in the group's log: {error}");
        }
        Ok(())
    }

    /// Appends an entry that is no request.
    pub(crate) fn append(&self, what: Content) -> Result<(), DurableError> {
        let entry = self.shared.entry(what);
        let event =
            event(&entry).ok_or_else(|| DurableError::Invalid("a long entry".to_owned()))?;
        self.log.append(vec![event]).map(drop)
    }
}
