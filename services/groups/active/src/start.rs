//! How a member gets its state.
//!
//! It says in the log that it begins. The primary, which differs from the others only in this, stores a state as of there, or
//! later, at the service; the member takes it, and runs what follows it in the log. Entries that the member does not see, since
//! its reader of the log is younger, are in that state.
//!
//! A member whose reader the log has kept needs no new state: all that follows the stored one is there for it. So a group comes
//! back whose members have all ended.
//!
//! A group without a stored state has none yet: its primary stores the state with which its servant begins.

use std::collections::VecDeque;
use std::thread;
use std::time::Duration;

use punctual::Interface;
use punctual_groups_client::ft::Checkpointable;
use punctual_groups_client::punctual_groups::AdministrationStoredStateError;
use punctual_groups_client::{MemberOptions, Membership};

use crate::executor::{Executor, Stop};
use crate::records::{Content, Entry, State};

/// Pauses between two questions for the stored state, which grow.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// What a member that begins knows of the log.
struct Seen {
    /// Entries that have come, with their positions.
    entries: VecDeque<(u64, Entry)>,
    /// First position at which this member has said that it begins, in an earlier run that has not taken a state.
    earlier: Option<u64>,
    /// Position at which it has said so in this run.
    begun: Option<u64>,
}

impl Executor {
    /// Takes a state, and all that has come since.
    pub(crate) fn start(&mut self) -> Result<(), Stop> {
        self.announce()?;
        let mut seen = Seen {
            entries: VecDeque::new(),
            earlier: None,
            begun: None,
        };
        let mut pause = FIRST_PAUSE;
        loop {
            self.see(&mut seen)?;
            if let Some(begun) = seen.begun
                && self.takes_state(&seen, begun)?
            {
                break;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        // From now on the reader is to have all that follows the state, and no more.
        self.acknowledge_to(self.done);
        for (position, entry) in seen.entries {
            self.take(position, &entry)?;
        }
        self.shared.begin();
        self.join()
    }

    /// Says in the log that this member begins.
    fn announce(&self) -> Result<(), Stop> {
        loop {
            let Err(error) = self.append(Content::Location(self.location.clone())) else {
                return Ok(());
            };
            if !crate::appender::is_away(&error) {
                return Err(Stop::Failed(error.to_string()));
            }
            self.pause()?;
        }
    }

    fn pause(&self) -> Result<(), Stop> {
        thread::sleep(FIRST_PAUSE);
        match self.shared.is_ending() {
            true => Err(Stop::Asked),
            false => Ok(()),
        }
    }

    fn see(&self, seen: &mut Seen) -> Result<(), Stop> {
        for delivery in self.fetch()? {
            let (position, entry) = self.read(&delivery)?;
            if matches!(&entry.what, Content::Location(location) if *location == self.location) {
                match entry.run == self.shared.run {
                    true => seen.begun = seen.begun.or(Some(position)),
                    false => seen.earlier = seen.earlier.or(Some(position)),
                }
            }
            seen.entries.push_back((position, entry));
        }
        Ok(())
    }

    /// Takes the stored state if this member has all that follows it; founds the group if it has none and this member is
    /// primary. Returns whether the member has a state now.
    fn takes_state(&mut self, seen: &Seen, begun: u64) -> Result<bool, Stop> {
        // An announcement that was never acknowledged is of a reader that is as young as that.
        let needed = match (seen.earlier, self.had_reader) {
            (Some(earlier), _) => earlier,
            (None, true) => 0,
            (None, false) => begun,
        };
        match self.stored()? {
            Stored::Nothing => {
                self.join()?;
                self.founds(begun)
            }
            Stored::State(state) if state.position >= needed => {
                self.restore(state)?;
                Ok(true)
            }
            // A primary without a state could store none.
            Stored::State(_) => {
                self.membership = None;
                Ok(false)
            }
            Stored::Unknown => Ok(false),
        }
    }

    fn stored(&self) -> Result<Stored, Stop> {
        match self.manager.stored_state(self.group_id) {
            Ok(bytes) => {
                let state = State::read(&bytes);
                let strange = || Stop::Failed("the stored state cannot be read".to_owned());
                state.map(Stored::State).ok_or_else(strange)
            }
            Err(AdministrationStoredStateError::NoState(_)) => Ok(Stored::Nothing),
            Err(error @ AdministrationStoredStateError::ObjectGroupNotFound(_)) => {
                Err(Stop::Failed(error.to_string()))
            }
            Err(AdministrationStoredStateError::System(exception)) => {
                tracing::debug!("the stored state is not known: {exception}");
                Ok(Stored::Unknown)
            }
        }
    }

    /// Stores the state with which the servant begins, if this member is primary.
    fn founds(&mut self, begun: u64) -> Result<bool, Stop> {
        if !self
            .membership
            .as_ref()
            .is_some_and(Membership::becomes_primary)
        {
            return Ok(false);
        }
        match self.try_store(begun) {
            Ok(()) => {
                self.done = begun;
                Ok(true)
            }
            Err(why) => {
                tracing::warn!("the first state of an active group is not stored: {why}");
                Ok(false)
            }
        }
    }

    fn restore(&mut self, state: State) -> Result<(), Stop> {
        let servant = Checkpointable::from_object(self.behind.clone());
        let taken = servant.set_state(&state.servant);
        taken.map_err(|error| {
            Stop::Failed(format!("the servant does not take the state: {error}"))
        })?;
        self.replies.replace(state.time, state.known);
        self.done = state.position;
        Ok(())
    }

    /// Joins the group, unless it has joined.
    fn join(&mut self) -> Result<(), Stop> {
        if self.membership.is_some() {
            return Ok(());
        }
        let options = MemberOptions::with_lease(self.options.lease);
        let joined = Membership::begin(
            &self.manager,
            &self.group,
            &self.location,
            &self.front,
            options,
        );
        self.membership = Some(joined.map_err(|exception| Stop::Failed(exception.to_string()))?);
        Ok(())
    }
}

/// State at the service.
enum Stored {
    Nothing,
    State(State),
    /// The service does not answer.
    Unknown,
}
