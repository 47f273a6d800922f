//! Thread that runs the log's requests on the member's servant, one at a time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use punctual::{
    CompletionStatus, Interface, ObjectRef, SystemException, SystemExceptionKind as Kind,
};
use punctual_durable::{Delivery, DurableError, EventLog, Most, Position, Reader};
use punctual_groups_client::ft::Checkpointable;
use punctual_groups_client::punctual_groups::Administration;
use punctual_groups_client::{Guard, Membership};
use punctual_groups_requests::requests::Request;
use punctual_groups_requests::{Outcome, Runner};

use crate::appender::{event, is_away};
use crate::digest::Taken;
use crate::front::Shared;
use crate::member::ActiveOptions;
use crate::records::{Content, Entry, State, StoredState};
use crate::runs::Runs;
use crate::start::Stored;

/// Longest wait for entries, after which the member looks whether it is to end.
const PATIENCE: Duration = Duration::from_millis(50);
/// Pause after an error of a log that is away.
pub(crate) const PAUSE: Duration = Duration::from_millis(200);
/// Longest pause between two attempts to store a state.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// Time between two questions up to where a state is stored, and whether the member is primary.
const QUESTIONS_FOR_STATES: Duration = Duration::from_secs(1);
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
    pub(crate) manager: Administration,
    pub(crate) group: ObjectRef,
    pub(crate) group_id: u64,
    /// Object that clients call, and the one behind the log.
    pub(crate) front: ObjectRef,
    pub(crate) behind: ObjectRef,
    /// Guard of the membership, which knows its terms as primary.
    pub(crate) guard: Guard,
    pub(crate) membership: Option<Membership>,
    /// Runs requests on the servant, and has the replies to them.
    pub(crate) runner: Runner,
    pub(crate) runs: Runs,
    pub(crate) taken: Taken,
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
    /// Time at which the service was asked up to where a state is stored.
    pub(crate) asked_stored: Option<Instant>,
    /// Term as primary in which it is known that no later state is stored than this member's.
    pub(crate) term: Option<u64>,
    /// Time before which no state is stored, after an attempt has failed, and the pause after the next failure.
    pub(crate) again: Option<Instant>,
    pub(crate) pause: Duration,
    /// Time at which this member has begun, as a TimeT.
    pub(crate) begun: u64,
}

/// Reason why a member ends when another process is the member at its location.
pub(crate) fn replaced(location: &str) -> String {
    format!("another process has begun at the location {location}")
}

/// Exception for a request that is not run, as it came into the log behind a later one of its run. Its client was told already.
fn came_again() -> SystemException {
    let why = "the request came late into the group's log";
    SystemException::new(Kind::Transient, 0, CompletionStatus::Maybe).with_detail(why)
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
        // First of all: requests that come from now on are other members'. Then the member leaves.
        match stop {
            Stop::Failed(why) if !self.shared.is_ending() => {
                tracing::error!("{} leaves its active group: {why}", self.location);
                self.shared.end(why);
            }
            Stop::Asked | Stop::Failed(_) => self.shared.end("it was dropped".to_owned()),
        }
        self.membership = None;
    }

    /// Runs the entries that have come, and stores the state where that is due.
    fn step(&mut self) -> Result<(), Stop> {
        for delivery in self.fetch()? {
            let (position, entry) = self.read(&delivery)?;
            self.take(position, &entry)?;
        }
        if self
            .membership
            .as_ref()
            .is_some_and(Membership::is_replaced)
        {
            return Err(Stop::Failed(replaced(&self.location)));
        }
        let open = self.unacknowledged.len();
        let is_full = open > 0 && self.shared.is_log_full();
        let is_due = self.wanted.is_some() || is_full || open >= self.options.store_after;
        if is_due && self.is_primary() {
            self.store()?;
        } else if open >= 2 * self.options.store_after {
            self.ask_stored()?;
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
        let is_primary = membership.becomes_primary();
        self.asked = Some(Instant::now());
        is_primary
    }

    /// Asks the service up to where a state is stored: that it is may not have come by the log, which is full, for example.
    fn ask_stored(&mut self) -> Result<(), Stop> {
        let is_recent = |asked: &Instant| asked.elapsed() < QUESTIONS_FOR_STATES;
        if self.asked_stored.as_ref().is_some_and(is_recent) {
            return Ok(());
        }
        if let Stored::State(state) = self.stored()? {
            self.note_stored_with(state.position, state.digest)?;
        }
        self.asked_stored = Some(Instant::now());
        Ok(())
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
        if position <= self.done {
            // The log may hand out an entry again, but none that comes before one that was run.
            if position <= self.stored {
                self.reader.acknowledge(&[Position(position)]);
            } else if self.unacknowledged.binary_search(&position).is_err() {
                let why = format!(
                    "entry {position} of the log has come after entry {}",
                    self.done
                );
                return Err(Stop::Failed(why));
            }
            return Ok(());
        }
        match &entry.what {
            Content::TheRequest(request) => {
                let is_new = self.runs.note(entry.run, entry.number, position);
                let outcome = match is_new {
                    true => self.run_request(request)?,
                    false => Err(came_again()),
                };
                if entry.run == self.shared.run {
                    self.shared.answer(entry.number, outcome);
                }
            }
            Content::TheBeginning(_) if entry.run == self.shared.run => {}
            Content::TheBeginning(other) if other.location == self.location => {
                // That of a process before may come late.
                if other.time > self.begun {
                    return Err(Stop::Failed(replaced(&self.location)));
                }
            }
            Content::TheBeginning(_) => self.wanted = Some(position),
            Content::TheState(state) => {
                self.note_stored_with(state.position, state.digest)?;
            }
        }
        self.taken.add(position, entry);
        self.done = position;
        // A later state may be stored than this member's.
        match position <= self.stored {
            true => self.reader.acknowledge(&[Position(position)]),
            false => self.unacknowledged.push_back(position),
        }
        Ok(())
    }

    /// Runs a request, unless it is the repeat of one that was run. One that no member is to run is refused.
    fn run_request(&mut self, request: &Request) -> Result<Outcome, Stop> {
        if let Some(outcome) = self.runner.answered(request) {
            return Ok(outcome);
        }
        let shared = self.shared.clone();
        let ran = self.runner.run(request, &|| shared.is_ending());
        ran.map(Ok).map_err(Stop::Failed)
    }

    /// Notes that a state is stored, unless it has other entries than this member.
    fn note_stored_with(&mut self, stored: u64, digest: u64) -> Result<(), Stop> {
        if self.taken.differs(stored, digest) {
            let why = "the log has lost an entry for this member, or for the primary";
            return Err(Stop::Failed(why.to_owned()));
        }
        self.note_stored(stored);
        Ok(())
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
        self.taken.forget_to(stored);
        let count = self.unacknowledged.partition_point(|one| *one <= stored);
        let done: Vec<Position> = self.unacknowledged.drain(..count).map(Position).collect();
        self.reader.acknowledge(&done);
    }

    /// Stores the state at the service, and says so in the log. It is tried again, later and later, if it fails.
    fn store(&mut self) -> Result<(), Stop> {
        if self.again.is_some_and(|again| Instant::now() < again) {
            return Ok(());
        }
        let stored = match self.follows_stored()? {
            true => self.try_store(self.done),
            false => Err("a later one is stored, or it is not known which".to_owned()),
        };
        if let Err(why) = stored {
            tracing::warn!("the state of an active group is not stored: {why}");
            self.again = Some(Instant::now() + self.pause);
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        } else {
            self.again = None;
            self.pause = PAUSE;
        }
        Ok(())
    }

    /// Returns whether this member's state is not older than the stored one. In a term as primary no other member stores one.
    fn follows_stored(&mut self) -> Result<bool, Stop> {
        let term = self.guard.term();
        if term.is_some() && term == self.term {
            return Ok(true);
        }
        let stored = match self.stored()? {
            Stored::State(state) => state.position,
            Stored::Nothing => 0,
            Stored::Unknown => return Ok(false),
        };
        let follows = stored <= self.done;
        if follows {
            self.term = term;
        }
        Ok(follows)
    }

    /// Stores the state as of a position.
    pub(crate) fn try_store(&mut self, position: u64) -> Result<(), String> {
        let membership = self.membership.as_ref().ok_or("it is no member")?;
        let servant = Checkpointable::from_object(self.behind.clone());
        let state = State {
            position,
            digest: self.taken.digest(),
            time: self.runner.time(),
            servant: servant.get_state().map_err(|error| error.to_string())?,
            known: self.runner.known(),
            the_runs: self.runs.to_records(),
        };
        let digest = state.digest;
        let bytes = state.to_bytes().ok_or("it is too long")?;
        let stored = membership.store_state(&bytes);
        stored.map_err(|error| error.to_string())?;
        self.note_stored(position);
        self.shared.set_log_full(false);
        // Where this is lost, the others keep their entries until the next state.
        if let Err(error) = self.append(Content::TheState(StoredState { position, digest })) {
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
