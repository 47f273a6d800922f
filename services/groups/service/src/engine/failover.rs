//! Leases, and elections of primaries.
//!
//! A member is primary only while its lease lasts, which it counts from the time before it asked. The service lets another one
//! be primary when the lease that it has granted last, counted from the time of its answer, has ended: never two at a time,
//! whether a member is slow, stopped or cut off. A state is taken from the primary only, and the next one has it before it is
//! named.

use std::sync::Arc;
use std::time::{Duration, Instant};

use punctual::about_to_block;
use punctual_groups_client::cos_load_balancing::Load;
use punctual_groups_client::punctual_groups::Standing;

use super::{AGAIN, Engine};
use crate::forward::{self, Routes};
use crate::ft;
use crate::names::Key;
use crate::refusal::{Refusal, Refused};
use crate::state::{Due, Group};

impl Engine {
    /// Renews a lease. Loads that are none, or beyond a limit, are passed over.
    ///
    /// # Errors
    /// ObjectGroupNotFound; MemberNotFound if there is no such member, or its lease has ended.
    pub(crate) fn renew(
        &self,
        id: u64,
        key: &Key,
        token: u64,
        loads: &[Load],
    ) -> Refused<Standing> {
        self.check_right()?;
        let standing = self.with(|state| {
            let group = state
                .groups
                .get(&id)
                .cloned()
                .ok_or_else(Refusal::no_group)?;
            let member = group
                .members
                .get(key)
                .filter(|member| member.token == token);
            let member = member.ok_or_else(Refusal::no_member)?;
            let now = Instant::now();
            let live = state.live_mut(id, key).ok_or_else(Refusal::no_member)?;
            if live.token != token || live.until.is_some_and(|until| live.is_dead || until <= now) {
                return Err(Refusal::no_member());
            }
            live.until = member.lease.map(|lease| now + lease);
            state.counts.renewals += 1;
            Ok(Standing {
                version: group.version,
                is_primary: group.primary.as_ref() == Some(key),
                is_draining: member.is_draining,
            })
        })?;
        if !loads.is_empty()
            && let Err(refusal) = self.push_loads(key, loads)
        {
            // The lease is renewed all the same: the member may be primary.
            tracing::warn!("the loads of {key} are refused: {refusal:?}");
        }
        Ok(standing)
    }

    /// Removes a member whose lease has ended.
    pub(super) fn expire(&self, id: u64, key: &Key, token: u64) {
        let removed = self.change(id, |group| {
            let is_it = group.members.get(key).is_some_and(|one| one.token == token);
            match is_it {
                true => Ok(remove(group, key)),
                false => Err(Refusal::no_member()),
            }
        });
        match removed {
            Ok((was_primary, group)) => {
                tracing::info!("group {id}: the lease of {key} has ended; primary: {was_primary}");
                self.with(|state| state.note_death(id, key));
                self.notifier()
                    .crashed(self.domain(), id, &group.type_id, key);
                self.replenish(id);
            }
            Err(Refusal::System(error)) => {
                tracing::error!("group {id}: {key} cannot be removed: {error}");
                let engine = self.clone();
                let key = key.clone();
                // The lease stays ended, and is due again.
                engine.with(|state| {
                    // Another member may be there by now, with a lease of its own.
                    let live = state.live_mut(id, &key);
                    if let Some(live) = live.filter(|live| live.token == token) {
                        live.is_dead = false;
                        live.until = Some(Instant::now());
                    }
                });
                engine.due_at(Instant::now() + AGAIN, Due::Lease(id, key, token));
            }
            Err(_) => {}
        }
    }

    /// Makes a member the primary of a group that has none.
    pub(super) fn elect(&self, id: u64) {
        let elected = self.try_elect(id);
        let (waiting, again) = self.with(|state| {
            let vacancy = state.vacancies.get_mut(&id);
            let again = vacancy.map(|vacancy| {
                vacancy.is_electing = false;
                vacancy.preferred = None;
            });
            // The next member to come makes it due as well.
            let has_members = state
                .groups
                .get(&id)
                .is_some_and(|group| !group.members.is_empty());
            let again = again.filter(|()| has_members);
            let waiting = match &elected {
                Some(_) => state.waiting.remove(&id).unwrap_or_default(),
                None => Vec::new(),
            };
            (waiting, again.is_some() && !state.is_ending)
        });
        if again {
            // Members may come, or answer.
            self.due_at(Instant::now() + AGAIN, Due::Vacancy(id));
        }
        self.0.changed.notify_all();
        for pending in waiting {
            forward::answer(pending, self.route(id));
        }
    }

    fn try_elect(&self, id: u64) -> Option<Key> {
        let (candidates, group) = self.with(|state| {
            let group = state.groups.get(&id)?.clone();
            let now = Instant::now();
            let preferred = state
                .vacancies
                .get(&id)
                .and_then(|one| one.preferred.clone());
            let others = group
                .members
                .keys()
                .filter(|key| Some(*key) != preferred.as_ref());
            let (ready, draining): (Vec<Key>, Vec<Key>) = others
                .cloned()
                .partition(|key| !group.members.get(key).is_some_and(|one| one.is_draining));
            let mut candidates: Vec<Key> = preferred.iter().cloned().collect();
            candidates.extend(ready.into_iter().chain(draining));
            candidates.retain(|key| state.lives(id, key, now));
            // Last come those that may be taking a state, or may take one that they were given before.
            candidates.sort_by_key(|key| {
                let live = state.live.get(&id).and_then(|live| live.get(key));
                let is_unsure = live.is_some_and(|live| live.is_unsure);
                let is_taking = state.transfers.contains(&(id, key.clone()));
                is_unsure || is_taking && Some(key) != preferred.as_ref()
            });
            Some((candidates, group))
        })?;
        for key in candidates {
            let Some(member) = group.members.get(&key) else {
                continue;
            };
            self.begin_transfer(id, &key);
            // All of it: a process may have ended, and another one begun in its place, although that is not known here.
            let given = match group.is_passive() {
                true => self.give(id, &member.reference, None),
                // A member of an active group has the state by the group's log.
                false => Ok(None),
            };
            if given.is_err() {
                self.end_transfer(id, &key, member.token, &given);
                continue;
            }
            let changed = self.change(id, |group| {
                let is_there = group
                    .members
                    .get(&key)
                    .is_some_and(|one| one.token == member.token);
                if group.primary.is_some() || !is_there || !group.has_primary() {
                    return Err(Refusal::no_member());
                }
                group.primary = Some(key.clone());
                group.version = group.version.wrapping_add(1);
                Ok(())
            });
            self.end_transfer(id, &key, member.token, &given);
            match changed {
                Ok(_) => {
                    tracing::info!("group {id}: {key} is primary");
                    self.with(|state| state.counts.failovers += 1);
                    return Some(key);
                }
                Err(Refusal::System(error)) => {
                    tracing::error!("group {id}: the primary cannot be stored: {error}");
                    return None;
                }
                Err(_) => {}
            }
        }
        None
    }

    /// Makes a member the primary, when the one before has stopped. Blocks.
    ///
    /// # Errors
    /// ObjectGroupNotFound, MemberNotFound, BadReplicationStyle; PrimaryNotSet if the member does not take the state, or does
    /// not live.
    pub(crate) fn set_primary(&self, id: u64, key: &Key) -> Refused<Arc<Group>> {
        let _ = about_to_block();
        let group = self.group(id)?;
        if !group.has_primary() {
            return Err(Refusal::BadReplicationStyle(ft::BadReplicationStyle));
        }
        if !group.members.contains_key(key) {
            return Err(Refusal::no_member());
        }
        if group.primary.as_ref() != Some(key) {
            if !self.with(|state| state.lives(id, key, Instant::now())) {
                return Err(Refusal::PrimaryNotSet(ft::PrimaryNotSet));
            }
            if group.settings.checkpoint.is_some() && group.is_passive() {
                self.take_checkpoint(id);
            }
            self.hand_over(id, group.primary.as_ref(), Some(key.clone()))?;
            self.wait_for_primary(id);
        }
        let group = self.group(id)?;
        match group.primary.as_ref() == Some(key) {
            true => Ok(group),
            false => Err(Refusal::PrimaryNotSet(ft::PrimaryNotSet)),
        }
    }

    /// Takes the primary's part from a member; another one gets it when its lease has ended. If another member is primary by now,
    /// it stays.
    pub(super) fn hand_over(
        &self,
        id: u64,
        from: Option<&Key>,
        preferred: Option<Key>,
    ) -> Refused<()> {
        self.with(|state| {
            match &preferred {
                Some(key) => state.preferred.insert(id, key.clone()),
                None => state.preferred.remove(&id),
            };
        });
        let changed = self.change(id, |group| {
            if group.primary.as_ref() != from {
                return Ok(());
            }
            group.primary = None;
            group.version = group.version.wrapping_add(1);
            Ok(())
        });
        self.with(|state| state.preferred.remove(&id));
        changed.map(drop)
    }

    /// Waits until a group has a primary, or an election has failed.
    fn wait_for_primary(&self, id: u64) {
        let mut state = self.0.state.lock();
        let until = Instant::now() + state.limits.wait;
        loop {
            let is_vacant = state.vacancies.contains_key(&id);
            if !is_vacant
                || state.is_ending
                || self.0.changed.wait_until(&mut state, until).timed_out()
            {
                return;
            }
        }
    }
}

/// Removes a member; returns whether it was the primary.
pub(super) fn remove(group: &mut Group, key: &Key) -> bool {
    group.members.remove(key);
    group.version = group.version.wrapping_add(1);
    let was_primary = group.primary.as_ref() == Some(key);
    if was_primary {
        group.primary = None;
    }
    was_primary
}

/// Returns the lease of so many milliseconds; `None` for 0.
///
/// # Errors
/// Refused, if it is too short or too long.
pub(crate) fn lease(millis: u32, shortest: Duration) -> Refused<Option<Duration>> {
    let lease = Duration::from_millis(millis.into());
    match lease {
        Duration::ZERO => Ok(None),
        lease if lease < shortest => Err(Refusal::refused(format!(
            "a lease lasts {shortest:?} at least"
        ))),
        lease if lease > crate::limits::LONGEST_LEASE => {
            Err(Refusal::refused("a lease lasts 24 hours at most"))
        }
        lease => Ok(Some(lease)),
    }
}
