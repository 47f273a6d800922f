//! Clients that hear of the types that a filter's constraints ask for (formal/04-10-13, 3.2.1.12).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use punctual::SystemException;
use punctual_events::peer::bounded;

use crate::common::Common;
use crate::cos_notify_comm::{NotifySubscribe, NotifySubscribeSubscriptionChangeError};
use crate::cos_notify_filter::{CallbackId, ConstraintExp};
use crate::refusal::Refusal;
use crate::types::{self, Pattern};

/// Callbacks of a filter, by id.
#[derive(Debug, Default)]
pub(super) struct Callbacks(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: CallbackId,
    callbacks: BTreeMap<CallbackId, NotifySubscribe>,
}

impl Callbacks {
    /// Adds a callback; returns its id.
    ///
    /// # Errors
    /// There are `most` already.
    pub(super) fn attach(
        &self,
        callback: &NotifySubscribe,
        most: usize,
    ) -> Result<CallbackId, Refusal> {
        let mut state = self.0.lock();
        if state.callbacks.len() >= most {
            return Err(Refusal::Full {
                what: "callbacks of the filter",
                option: "most-filters",
                limit: most,
            });
        }
        state.last = state.last.wrapping_add(1).max(1);
        let id = state.last;
        state.callbacks.insert(id, callback.clone());
        Ok(id)
    }

    /// Removes a callback; returns whether it was there.
    pub(super) fn detach(&self, id: CallbackId) -> bool {
        self.0.lock().callbacks.remove(&id).is_some()
    }

    /// Returns all ids.
    pub(super) fn ids(&self) -> Vec<CallbackId> {
        self.0.lock().callbacks.keys().copied().collect()
    }

    /// Tells all callbacks, on another thread, which types were added and removed.
    pub(super) fn tell(
        &self,
        common: &Arc<Common>,
        before: &BTreeSet<Pattern>,
        after: &BTreeSet<Pattern>,
    ) {
        let types = |patterns: &mut dyn Iterator<Item = &Pattern>| -> Vec<_> {
            patterns.map(types::event_type).collect()
        };
        let added = types(&mut after.difference(before));
        let removed = types(&mut before.difference(after));
        if added.is_empty() && removed.is_empty() {
            return;
        }
        for callback in self.0.lock().callbacks.values() {
            let callback = bounded(callback, common.limits.call_timeout);
            let (added, removed) = (added.clone(), removed.clone());
            common.checks.run(move || {
                let done = |outcome: Result<(), NotifySubscribeSubscriptionChangeError>| {
                    if let Err(error) = outcome {
                        tracing::debug!("a filter's callback has failed: {error}");
                    }
                };
                callback.sendc_subscription_change(done, &added, &removed);
            });
        }
    }
}

/// Returns the types that constraints ask for.
pub(super) fn types_of<'a>(
    expressions: impl Iterator<Item = &'a ConstraintExp>,
) -> BTreeSet<Pattern> {
    let mut patterns = BTreeSet::new();
    for expression in expressions {
        for one in &expression.event_types {
            patterns.insert((one.domain_name.clone(), one.type_name.clone()));
        }
        if expression.event_types.is_empty() {
            let all = types::all();
            patterns.insert((all.domain_name, all.type_name));
        }
    }
    patterns
}

/// Returns a callback that is an object.
///
/// # Errors
/// It is nil.
pub(super) fn not_nil(
    callback: Option<&NotifySubscribe>,
) -> Result<&NotifySubscribe, SystemException> {
    callback.ok_or_else(|| Refusal::Nil("callback").into())
}
