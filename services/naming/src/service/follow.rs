//! How the tree follows the group service.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Weak;
use std::time::{Duration, Instant};

use punctual_groups_client::punctual_groups::Changes;

use super::following::INTERVAL;
use super::state::State;
use crate::group_service::{GroupCalls, GroupService};
use crate::store::ContextId;

/// Time after which what was refused is tried again.
const PAUSE: Duration = Duration::from_secs(5);

/// How far the changes of the group service are known.
#[derive(Debug, Default)]
pub(super) struct Progress {
    epoch: u64,
    revision: u64,
    /// While all groups are asked for anew: those with copies from before that are not among them so far.
    missing: Option<BTreeSet<u64>>,
    /// Failure that was logged last.
    failure: Option<String>,
    /// Contexts of groups that were refused when they were to be adopted, until when, and why.
    refused: BTreeMap<ContextId, (Instant, String)>,
    /// Until when no group is removed after a removal has failed, and why.
    unremoved: Option<(Instant, String)>,
}

impl Progress {
    /// Follows all changes, and has groups adopted that are not known yet. Returns false if there is nothing to follow any more.
    pub(super) fn follow(&mut self, state: &Weak<State>) -> bool {
        let calls = |state: &State| Some(state.group_service.get()?.calls.clone());
        let calls = state.upgrade().and_then(|state| calls(&state));
        let Some(calls) = calls.filter(|calls| !calls.has_ended()) else {
            return false;
        };
        let failure = self.try_follow(state, &calls).err();
        match (&failure, &self.failure) {
            (Some(failure), before) if Some(failure) != before.as_ref() => {
                tracing::warn!("groups of names are not as in the group service: {failure}");
            }
            (None, Some(_)) => tracing::info!("groups of names are as in the group service again"),
            _ => {}
        }
        self.failure = failure;
        true
    }

    fn try_follow(&mut self, state: &Weak<State>, calls: &GroupCalls) -> Result<(), String> {
        loop {
            let known = state.upgrade().map(|state| copied(&state));
            // The service, and so its store, may be dropped during the call.
            let changes = calls.changes_since(self.epoch, self.revision);
            let changes = changes.map_err(|exception| exception.to_string())?;
            let Some(state) = state.upgrade() else {
                return Ok(());
            };
            let Some(groups) = state.group_service.get() else {
                return Ok(());
            };
            let has_more = changes.has_more;
            self.show(&state, groups, &known.unwrap_or_default(), changes);
            if !has_more {
                return self.catch_up(&state, groups, INTERVAL);
            }
        }
    }

    /// Has the tree show changes. `known` are the groups with copies when they were asked for.
    fn show(&mut self, state: &State, groups: &GroupService, known: &[u64], changes: Changes) {
        (self.epoch, self.revision) = (changes.epoch, changes.revision);
        if changes.is_anew {
            self.missing = Some(known.iter().copied().collect());
        }
        let mut gone = changes.removed;
        // Versions of another start of the group service may be other ones.
        let is_anew = self.missing.is_some();
        if let Some(missing) = &mut self.missing {
            for group in &changes.changed {
                missing.remove(&group.id);
            }
            if !changes.has_more {
                gone.extend(self.missing.take().into_iter().flatten());
            }
        }
        let gone = gone.into_iter().filter_map(|id| groups.copies.gone(id));
        let mut contexts: Vec<ContextId> = gone.collect();
        // After those that are gone: one may have been made again.
        contexts.extend(
            changes
                .changed
                .into_iter()
                .filter_map(|group| match is_anew {
                    true => groups.copies.renew(group),
                    false => groups.copies.update(group),
                }),
        );
        state.show_copies(&contexts);
    }

    /// Does what could not be done when it was asked for. Either part ends with the first group after so long, as the changes
    /// of others are not to wait longer.
    pub(super) fn catch_up(
        &mut self,
        state: &State,
        groups: &GroupService,
        within: Duration,
    ) -> Result<(), String> {
        let removed = self.remove_unbound(state, groups, within);
        let adopted = self.adopt_unknown(state, groups, within);
        removed.and(adopted)
    }

    /// Has groups removed whose names are unbound.
    fn remove_unbound(
        &mut self,
        state: &State,
        groups: &GroupService,
        within: Duration,
    ) -> Result<(), String> {
        if let Some((until, failure)) = &self.unremoved
            && Instant::now() < *until
        {
            return Err(failure.clone());
        }
        let begun = Instant::now();
        let unbound: Vec<ContextId> = groups.unbound.lock().iter().copied().collect();
        let mut removed = Ok(());
        for context in unbound {
            removed = state.remove_unbound(groups, context);
            if removed.is_err() || begun.elapsed() >= within {
                break;
            }
        }
        let removed = removed.map_err(|refusal| refusal.to_string());
        self.unremoved = removed.clone().err().map(paused);
        removed
    }

    /// Has groups adopted that are not known.
    fn adopt_unknown(
        &mut self,
        state: &State,
        groups: &GroupService,
        within: Duration,
    ) -> Result<(), String> {
        let begun = Instant::now();
        let contexts = state.tree.read().groups().clone();
        self.refused.retain(|context, _| contexts.contains(context));
        for context in contexts {
            let is_paused = |(until, _): &(Instant, String)| begun < *until;
            if groups.copies.has(context) || self.refused.get(&context).is_some_and(is_paused) {
                continue;
            }
            match state.adopted(groups, context) {
                Ok(()) => {
                    self.refused.remove(&context);
                }
                Err(refusal) => {
                    // The others are adopted all the same, in this round unless the group service is away.
                    let failure = paused(refusal.to_string());
                    self.refused.insert(context, failure);
                    if refusal.is_away() {
                        break;
                    }
                }
            }
            if begun.elapsed() >= within {
                break;
            }
        }
        let first = self.refused.values().next();
        first.map_or(Ok(()), |(_, failure)| Err(failure.clone()))
    }
}

/// Returns the numbers of all groups with copies that are not gone.
fn copied(state: &State) -> Vec<u64> {
    let groups = state.group_service.get();
    groups.map_or_else(Vec::new, |groups| groups.copies.ids())
}

/// Returns a failure with the time at which that is tried again which has failed.
fn paused(failure: String) -> (Instant, String) {
    (Instant::now() + PAUSE, failure)
}
