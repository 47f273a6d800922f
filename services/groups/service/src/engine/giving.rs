//! States and updates as members get them: the next primary, and those of a warm passive group that wait.
//!
//! A member that waits gets the updates that it lacks, in their order. If it is not certain what it has, or it refuses one, it gets
//! the state and all updates. The next primary gets the state and all updates in any case, and one member gets one thing at a time.

use std::sync::Arc;

use punctual::{CompletionStatus, ObjectRef, SystemException, SystemExceptionKind as Kind};
use punctual_groups_client::ft::{
    CheckpointableSetStateError, Updateable, UpdateableSetUpdateError,
};

use super::Engine;
use crate::bounded::bounded;
use crate::log::{Lacking, Stored};
use crate::names::Key;
use crate::properties::Style;
use crate::state::{Group, Member};

/// Place up to which a member has what is stored; `None` if it needs no state, or there is none.
pub(super) type Given = Result<Option<u64>, NotGiven>;

/// Reason why a member has not taken a state or an update.
pub(super) struct NotGiven {
    reason: String,
    /// True if it may still take it.
    is_unsure: bool,
    /// True if it has refused an update: a state may help.
    is_refused_update: bool,
}

impl Engine {
    /// Waits until no other state is being given to a member, and lets none be given until the transfer ends.
    pub(super) fn begin_transfer(&self, id: u64, key: &Key) {
        let mut state = self.0.state.lock();
        while !state.transfers.insert((id, key.clone())) && !state.is_ending {
            self.0.changed.wait(&mut state);
        }
    }

    pub(super) fn end_transfer(&self, id: u64, key: &Key, token: u64, given: &Given) {
        let is_new = self.with(|state| {
            state.transfers.remove(&(id, key.clone()));
            let is_primary = |group: &Arc<Group>| group.primary.as_ref() == Some(key);
            let is_primary = state.groups.get(&id).is_some_and(is_primary);
            let live = state.live_mut(id, key)?;
            live.is_unsure |= matches!(given, Err(why) if why.is_unsure);
            if live.token == token {
                // A primary changes what it has by itself.
                let has = given.as_ref().ok().copied().flatten();
                live.has = has.filter(|_| !is_primary);
            }
            let failed = std::mem::replace(&mut live.takes_no_state, given.is_err());
            Some(failed != given.is_err())
        });
        // States follow one another quickly: only that it changes is of interest.
        match given {
            Err(why) if is_new == Some(true) => {
                tracing::warn!("group {id}: {key} does not take the state: {}", why.reason);
            }
            Ok(_) if is_new == Some(true) => {
                tracing::info!("group {id}: {key} takes the state again");
            }
            _ => {}
        }
        self.0.changed.notify_all();
    }

    /// Gives a member what is stored, during a transfer; what it lacks only, if that is known.
    pub(super) fn give(&self, id: u64, member: &ObjectRef, has: Option<u64>) -> Given {
        let (lacking, call) = self.with(|state| {
            // Read now: it may have been stored since.
            let stored = state.states.get(&id);
            let lacking = stored.map(|stored| stored.lacking(has));
            (lacking, state.limits.call)
        });
        let Some(lacking) = lacking else {
            return Ok(None);
        };
        let given = give(&bounded(member, call), &lacking);
        match given {
            Err(why) if why.is_refused_update && has.is_some() => self.give(id, member, None),
            given => given,
        }
    }

    /// Gives the members of a warm passive group that wait what they lack of what is stored.
    pub(super) fn spread(&self, id: u64) {
        let is_first = self.with(|state| {
            let is_warm = |group: &Arc<Group>| group.settings.style == Style::WarmPassive;
            let has_backups = |group: &Arc<Group>| group.members.len() > 1;
            let group = state.groups.get(&id);
            group.is_some_and(|group| is_warm(group) && has_backups(group))
                && state.dirty.insert(id)
        });
        if !is_first {
            return;
        }
        self.call(move |engine| {
            let group = engine.with(|state| {
                state.dirty.remove(&id);
                state.groups.get(&id).cloned()
            });
            let Some(group) = group else { return };
            for (key, member) in &group.members {
                engine.give_to_backup(id, key, member);
            }
        });
    }

    fn give_to_backup(&self, id: u64, key: &Key, member: &Member) {
        loop {
            let has = self.with(|state| {
                // A member that is primary, or is being elected, has a state of its own.
                let is_backup = |group: &Arc<Group>| group.primary.as_ref() != Some(key);
                let is_backup = state.groups.get(&id).is_some_and(is_backup);
                let end = state.states.get(&id).map(Stored::end)?;
                let live = state.live.get(&id)?.get(key);
                let live = live.filter(|live| live.token == member.token)?;
                let has = live.has;
                let lacks = is_backup && has != Some(end);
                (lacks && state.transfers.insert((id, key.clone()))).then_some(has)
            });
            let Some(has) = has else { return };
            let given = self.give(id, &member.reference, has);
            self.end_transfer(id, key, member.token, &given);
            if !matches!(given, Ok(Some(_))) {
                return;
            }
            // Something may have been stored meanwhile.
        }
    }
}

/// Gives a member a state, if it lacks that, and updates. One that does not know of states needs none.
fn give(member: &Updateable, lacking: &Lacking) -> Given {
    if let Some(state) = &lacking.state {
        match member.set_state(state) {
            Ok(()) => {}
            Err(CheckpointableSetStateError::System(exception))
                if matches!(exception.kind(), Kind::BadOperation | Kind::NoImplement) =>
            {
                return Ok(None);
            }
            Err(CheckpointableSetStateError::System(exception)) => {
                return Err(NotGiven::of(&exception));
            }
            Err(error @ CheckpointableSetStateError::InvalidState(_)) => {
                return Err(NotGiven {
                    reason: error.to_string(),
                    is_unsure: false,
                    is_refused_update: false,
                });
            }
        }
    }
    for update in &lacking.updates {
        let refused = |reason: String| NotGiven {
            reason,
            is_unsure: false,
            is_refused_update: true,
        };
        match member.set_update(update) {
            Ok(()) => {}
            // It has taken a state, and would be without what came after it.
            Err(UpdateableSetUpdateError::System(exception))
                if matches!(exception.kind(), Kind::BadOperation | Kind::NoImplement) =>
            {
                return Err(refused("it takes no updates (FT::Updateable)".to_owned()));
            }
            Err(UpdateableSetUpdateError::System(exception)) => {
                return Err(NotGiven::of(&exception));
            }
            Err(error @ UpdateableSetUpdateError::InvalidUpdate(_)) => {
                return Err(refused(error.to_string()));
            }
        }
    }
    Ok(Some(lacking.end))
}

impl NotGiven {
    fn of(exception: &SystemException) -> Self {
        Self {
            reason: exception.to_string(),
            is_unsure: match exception.kind() {
                Kind::CommFailure => false,
                _ => exception.completed() == CompletionStatus::Maybe,
            },
            is_refused_update: false,
        }
    }
}
