//! How a member gets its state.
//!
//! It says in the log that it begins. The primary, which differs from the others only in this, stores a state as of there, or
//! later, at the service. The member takes the stored state once its reader of the log has all that follows it, and runs that.
//!
//! A reader that is young lacks what came before it was added. One that the log has kept has all that follows a state which was
//! stored before: so a group comes back whose members have all ended.
//!
//! A group without a stored state has none yet: its primary stores the state with which its servant begins.

use std::collections::VecDeque;
use std::thread;
use std::time::Duration;

use punctual::{Interface, SystemExceptionKind as Kind};
use punctual_groups_client::ft::{Checkpointable, PullMonitorable};
use punctual_groups_client::portable_group::{
    ObjectGroupManager, ObjectGroupManagerGetMemberRefError,
};
use punctual_groups_client::punctual_groups::AdministrationStoredStateError;
use punctual_groups_client::{MemberOptions, Membership};

use punctual_naming_client::from_text;

use crate::appender::is_away;
use crate::executor::{Executor, PAUSE, Stop};
use crate::records::{Beginning, Content, Entry, State};

/// Time within which the member at this location answers if it is there.
const OF_OTHER: Duration = Duration::from_secs(1);
/// Pauses between two questions for the stored state, which grow.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

impl Executor {
    /// Takes a state, from which on the log's entries can be run.
    pub(crate) fn start(&mut self) -> Result<(), Stop> {
        self.check_alone()?;
        let floor = self.patiently(|member| member.reader.floor())?;
        let begins = Content::TheBeginning(Beginning {
            location: self.location.clone(),
            time: self.begun,
        });
        self.patiently(|member| member.append(begins.clone()))?;
        let mut seen = VecDeque::new();
        let floor = match floor {
            Some(floor) => floor.0,
            // The reader has acknowledged nothing: it has all from the first beginning of this member on.
            None => self.see_beginning(&mut seen)?,
        };
        let mut pause = FIRST_PAUSE;
        while !self.takes_state(floor)? {
            self.pause(pause)?;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        // From now on the reader is to have all that follows the state, and no more.
        self.acknowledge_to(self.done);
        for (position, entry) in seen {
            self.take(position, &entry)?;
        }
        self.shared.begin();
        self.join()
    }

    /// Refuses to begin while another process is the member at this location, and answers. One that does not is a member until its
    /// lease ends.
    fn check_alone(&self) -> Result<(), Stop> {
        let Ok(location) = from_text(&self.location) else {
            return Ok(());
        };
        let groups = ObjectGroupManager::from_object(self.manager.as_object().clone());
        loop {
            match groups.get_member_ref(Some(&self.group), &location) {
                Ok(Some(there)) if !there.is_equivalent(&self.front) => {
                    let other = PullMonitorable::from_object(there.with_timeout(OF_OTHER));
                    match other.is_alive() {
                        Ok(_) => {
                            let location = &self.location;
                            let why =
                                format!("another process is the member at the location {location}");
                            return Err(Stop::Failed(why));
                        }
                        Err(exception) if exception.kind() != Kind::Timeout => return Ok(()),
                        Err(_) => self.pause(LONGEST_PAUSE)?,
                    }
                }
                Err(ObjectGroupManagerGetMemberRefError::System(exception)) => {
                    tracing::debug!("the member at this location is not known: {exception}");
                    self.pause(PAUSE)?;
                }
                Ok(_) | Err(_) => return Ok(()),
            }
        }
    }

    /// Reads entries until one says that this member begins, and returns its position.
    fn see_beginning(&self, seen: &mut VecDeque<(u64, Entry)>) -> Result<u64, Stop> {
        let mut begun = None;
        while begun.is_none() {
            for delivery in self.fetch()? {
                let (position, entry) = self.read(&delivery)?;
                if matches!(&entry.what, Content::TheBeginning(other) if other.location == self.location)
                {
                    begun = begun.or(Some(position));
                }
                seen.push_back((position, entry));
            }
        }
        Ok(begun.unwrap_or_default())
    }

    /// Calls the log until it is not away.
    fn patiently<R>(
        &self,
        call: impl Fn(&Self) -> Result<R, punctual_durable::DurableError>,
    ) -> Result<R, Stop> {
        loop {
            match call(self) {
                Ok(result) => return Ok(result),
                Err(error) if is_away(&error) => self.pause(FIRST_PAUSE)?,
                Err(error) => return Err(Stop::Failed(error.to_string())),
            }
        }
    }

    fn pause(&self, pause: Duration) -> Result<(), Stop> {
        thread::sleep(pause);
        match self.shared.is_ending() {
            true => Err(Stop::Asked),
            false => Ok(()),
        }
    }

    /// Takes the stored state if the reader has all that comes after a position; founds the group if it has none and this member
    /// is primary. Returns whether the member has a state now.
    fn takes_state(&mut self, floor: u64) -> Result<bool, Stop> {
        match self.stored()? {
            Stored::Nothing => {
                self.join()?;
                self.founds(floor)
            }
            Stored::State(state) if state.position >= floor => {
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

    pub(crate) fn stored(&self) -> Result<Stored, Stop> {
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
    fn founds(&mut self, floor: u64) -> Result<bool, Stop> {
        let is_primary = |membership: &Membership| membership.becomes_primary();
        if !self.membership.as_ref().is_some_and(is_primary) {
            return Ok(false);
        }
        // The primary before may have founded it meanwhile.
        if !matches!(self.stored()?, Stored::Nothing) {
            return Ok(false);
        }
        self.term = self.guard.term();
        match self.try_store(floor) {
            Ok(()) => {
                self.done = floor;
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
        self.runner.replace(state.time, state.known);
        self.runs.replace(state.the_runs);
        self.taken.begin(state.digest);
        self.done = state.position;
        Ok(())
    }

    /// Joins the group, unless it has joined.
    fn join(&mut self) -> Result<(), Stop> {
        if self.membership.is_some() {
            return Ok(());
        }
        let options = MemberOptions::with_lease(self.options.lease).guard(&self.guard);
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
pub(crate) enum Stored {
    Nothing,
    State(State),
    /// The service does not answer.
    Unknown,
}
