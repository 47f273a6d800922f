//! States and updates that primaries leave: how they are stored.
//!
//! A group has its last state, and a log of the updates since. A state ends the log: both is one change of the store. An update
//! counts only on what its primary has stored last, and the log is bounded: otherwise the primary has to store its whole state.

use std::sync::Arc;
use std::time::Instant;

use punctual::{ObjectRef, SystemExceptionKind as Kind, about_to_block};
use punctual_groups_client::ft::{
    CheckpointableGetStateError, Updateable, UpdateableGetUpdateError,
};
use punctual_groups_client::punctual_groups::{NoState, NotPrimary};

use super::Engine;
use crate::bounded::bounded;
use crate::kept;
use crate::log::Stored;
use crate::names::Key;
use crate::refusal::{Refusal, Refused};
use crate::state::{Due, Live, State};
use crate::storage::{Kept, update_number};

/// Number of a state or an update, which its membership gave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbered {
    pub(crate) token: u64,
    pub(crate) number: u64,
}

/// Primary that is asked for a checkpoint.
struct Asked {
    key: Key,
    token: u64,
    reference: ObjectRef,
    /// Place of what was stored last.
    end: Option<u64>,
    /// True if its update since then can be stored.
    may_update: bool,
}

/// Answer of a primary that was asked for a checkpoint.
enum Checkpoint {
    State(Vec<u8>),
    Update(Vec<u8>),
    /// Nothing has changed since the last one.
    Same,
}

impl Engine {
    /// Stores the state of a group for its next primary, and ends the log of updates. Blocks.
    ///
    /// # Errors
    /// ObjectGroupNotFound, MemberNotFound; NotPrimary if the member is not primary, or its lease has ended; Refused if the
    /// state is too long, or not later than the last; PERSIST_STORE.
    pub(crate) fn store_state(
        &self,
        id: u64,
        key: &Key,
        numbered: Numbered,
        bytes: &[u8],
    ) -> Refused<()> {
        let _ = about_to_block();
        let in_order = self.0.changes.lock();
        self.with(|state| {
            check_primary(state, id, key, numbered.token)?;
            if !state.has_room(id, bytes.len()) {
                return Err(Refusal::refused(
                    "the state, or those of all groups, would be longer than the service's limit",
                ));
            }
            note_number(state, id, key, numbered.number)
        })?;
        self.keep_state(id, bytes)?;
        self.note_kept(id, key, numbered);
        drop(in_order);
        self.spread(id);
        Ok(())
    }

    /// Adds an update to the log of a group. Blocks.
    ///
    /// # Errors
    /// Those of [`store_state`](Self::store_state); StateNeeded if `after` is not what was stored last of this membership, if the
    /// group has no state, or if the log would be longer than its limit.
    pub(crate) fn store_update(
        &self,
        id: u64,
        key: &Key,
        numbered: Numbered,
        after: u64,
        bytes: &[u8],
    ) -> Refused<()> {
        let _ = about_to_block();
        let in_order = self.0.changes.lock();
        self.with(|state| {
            check_primary(state, id, key, numbered.token)?;
            note_number(state, id, key, numbered.number)?;
            let kept = state.live_mut(id, key).map_or(0, |live| live.kept);
            if kept != after {
                return Err(Refusal::state_needed(
                    "it is not known that the update follows what is stored",
                ));
            }
            match state.has_room_for_update(id, bytes.len()) {
                true => Ok(()),
                false => Err(Refusal::state_needed(
                    "there is no state yet, or the log of updates would be longer than the service's limit",
                )),
            }
        })?;
        self.keep_update(id, bytes)?;
        self.note_kept(id, key, numbered);
        drop(in_order);
        self.spread(id);
        Ok(())
    }

    fn note_kept(&self, id: u64, key: &Key, numbered: Numbered) {
        self.with(|state| {
            let live = state.live_mut(id, key);
            if let Some(live) = live.filter(|live| live.token == numbered.token) {
                live.kept = numbered.number;
            }
        });
    }

    /// Stores a state, under the lock of changes.
    fn keep_state(&self, id: u64, bytes: &[u8]) -> Refused<()> {
        let state: Arc<[u8]> = bytes.into();
        let next = self.with(|all| match all.states.get(&id) {
            Some(stored) => stored.replaced_by(state),
            None => Stored::at(1, state),
        });
        let mut changes = vec![Kept::State(id, Some(bytes.to_vec()))];
        if next.slots > 0 {
            changes.push(Kept::Log(id, Some(bounds(&next, next.end()))));
        }
        self.store(changes)?;
        self.with(|all| {
            all.set_stored(id, Some(next));
            all.counts.states += 1;
        });
        Ok(())
    }

    /// Stores an update of a group that has a state, under the lock of changes.
    fn keep_update(&self, id: u64, bytes: &[u8]) -> Refused<()> {
        let written = self.with(|all| {
            let stored = all.states.get_mut(&id)?;
            // Noted before it is stored: it may be stored although this is not known.
            let slot = stored.updates().len();
            stored.slots = stored.slots.max(slot + 1);
            let number = update_number(id, slot)?;
            let end = stored.end() + 1;
            Some((number, end, bounds(stored, end)))
        });
        let no_place = || Refusal::state_needed("the log has no place for the update");
        let (number, place, log) = written.ok_or_else(no_place)?;
        let update = kept::Update {
            place,
            content: bytes.to_vec(),
        };
        self.store(vec![
            Kept::Update(number, Some(update)),
            Kept::Log(id, Some(log)),
        ])?;
        self.with(|all| {
            all.add_update(id, bytes.into());
            all.counts.updates += 1;
        });
        Ok(())
    }

    /// Returns the stored state of a group, and the updates since.
    ///
    /// # Errors
    /// ObjectGroupNotFound, NoState.
    pub(crate) fn stored(&self, id: u64) -> Refused<(Vec<u8>, Vec<Vec<u8>>)> {
        self.group(id)?;
        let stored = self.with(|state| state.states.get(&id).cloned());
        let stored = stored.ok_or(Refusal::NoState(NoState))?;
        let updates = stored.updates().iter().map(|update| update.to_vec());
        Ok((stored.state().to_vec(), updates.collect()))
    }

    /// Takes a checkpoint that is due, and notes when the next one is.
    pub(super) fn checkpoint(&self, id: u64) {
        self.take_checkpoint(id);
        let next = self.with(|state| {
            let group = state.groups.get(&id);
            let interval =
                group.and_then(|group| group.settings.checkpoint.filter(|_| group.is_passive()));
            if interval.is_none() {
                state.checkpoints.remove(&id);
            }
            interval
        });
        if let Some(interval) = next {
            self.due_at(Instant::now() + interval, Due::Checkpoint(id));
        }
    }

    /// Asks the primary for its state, or for its update since the last checkpoint, and stores it.
    pub(super) fn take_checkpoint(&self, id: u64) {
        // One at a time: an update is given once.
        let mut state = self.0.state.lock();
        while !state.taking.insert(id) && !state.is_ending {
            self.0.changed.wait(&mut state);
        }
        drop(state);
        if let Some(asked) = self.to_ask(id)
            && let Some(taken) = self.ask_primary(id, &asked)
        {
            self.keep_checkpoint(id, &asked, taken);
        }
        self.with(|state| state.taking.remove(&id));
        self.0.changed.notify_all();
        self.spread(id);
    }

    fn to_ask(&self, id: u64) -> Option<Asked> {
        self.with(|state| {
            let group = state.groups.get(&id)?.clone();
            let key = group.primary.clone()?;
            let member = group.members.get(&key)?;
            let end = state.states.get(&id).map(Stored::end);
            let has_room = state.has_room_for_update(id, 0);
            let live = state.live_mut(id, &key)?;
            // Until its answer is stored, the next update does not follow what is stored.
            let taken = live.taken.take();
            let may_update = !live.has_no_updates && taken.is_some() && taken == end && has_room;
            Some(Asked {
                token: member.token,
                reference: member.reference.clone(),
                end,
                may_update,
                key,
            })
        })
    }

    /// Asks a primary for its update or its state; `None` if it gives neither.
    fn ask_primary(&self, id: u64, asked: &Asked) -> Option<Checkpoint> {
        let key = &asked.key;
        let call = self.with(|state| state.limits.call);
        let primary: Updateable = bounded(&asked.reference, call);
        if asked.may_update {
            match primary.get_update() {
                Ok(update) if update.is_empty() => return Some(Checkpoint::Same),
                Ok(update) if self.with(|state| state.has_room_for_update(id, update.len())) => {
                    return Some(Checkpoint::Update(update));
                }
                Ok(_) | Err(UpdateableGetUpdateError::NoUpdateAvailable(_)) => {}
                Err(UpdateableGetUpdateError::System(exception))
                    if matches!(exception.kind(), Kind::BadOperation | Kind::NoImplement) =>
                {
                    self.with(|state| {
                        let live = state.live_mut(id, key);
                        if let Some(live) = live.filter(|live| live.token == asked.token) {
                            live.has_no_updates = true;
                        }
                    });
                }
                Err(error) => {
                    tracing::warn!("group {id}: no update of {key}: {error}");
                    return None;
                }
            }
        }
        match primary.get_state() {
            Ok(taken) if self.with(|state| state.has_room(id, taken.len())) => {
                return Some(Checkpoint::State(taken));
            }
            Ok(_) => tracing::warn!("group {id}: the state of {key} is longer than the limit"),
            Err(CheckpointableGetStateError::NoStateAvailable(_)) => {}
            Err(error) => tracing::warn!("group {id}: no state of {key}: {error}"),
        }
        None
    }

    /// Stores the answer of a primary, unless that has stored something itself meanwhile.
    fn keep_checkpoint(&self, id: u64, asked: &Asked, taken: Checkpoint) {
        let key = &asked.key;
        let _in_order = self.0.changes.lock();
        let counts = self.with(|state| {
            let is_same = state.states.get(&id).map(Stored::end) == asked.end;
            is_same && check_primary(state, id, key, asked.token).is_ok()
        });
        if !counts {
            return;
        }
        let kept = match taken {
            Checkpoint::State(state) => self.keep_state(id, &state),
            Checkpoint::Update(update) => self.keep_update(id, &update),
            Checkpoint::Same => Ok(()),
        };
        if let Err(error) = kept {
            return tracing::error!("group {id}: the state cannot be stored: {error:?}");
        }
        self.with(|state| {
            let end = state.states.get(&id).map(Stored::end);
            let is_it = |live: &&mut Live| live.token == asked.token;
            if let Some(live) = state.live_mut(id, key).filter(is_it) {
                live.taken = end;
            }
        });
    }
}

/// Checks that a member is the primary of its group, and has its lease.
fn check_primary(state: &State, id: u64, key: &Key, token: u64) -> Refused<()> {
    let group = state.groups.get(&id).ok_or_else(Refusal::no_group)?;
    let member = group
        .members
        .get(key)
        .filter(|member| member.token == token);
    member.ok_or_else(Refusal::no_member)?;
    let is_primary = group.has_primary() && group.primary.as_ref() == Some(key);
    match is_primary && state.lives(id, key, Instant::now()) {
        true => Ok(()),
        false => Err(Refusal::NotPrimary(NotPrimary)),
    }
}

/// Notes the number of a state or an update, before it is stored: a later one may be stored although this one has failed.
fn note_number(state: &mut State, id: u64, key: &Key, number: u64) -> Refused<()> {
    match state.live_mut(id, key) {
        Some(live) if number > live.stored => {
            live.stored = number;
            Ok(())
        }
        _ => Err(Refusal::refused(
            "the state is older than one that is stored",
        )),
    }
}

/// Returns the bounds of a log that ends at a place.
fn bounds(stored: &Stored, end: u64) -> kept::Log {
    kept::Log {
        state: stored.place(),
        end,
    }
}
