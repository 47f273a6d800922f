//! Clients that hear of the types that a filter's constraints ask for (formal/04-10-13, 3.2.1.12).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use punctual::{Interface, Orb, SystemException};
use punctual_events::peer::bounded;

use crate::common::Common;
use crate::cos_notify_comm::{NotifySubscribe, NotifySubscribeSubscriptionChangeError};
use crate::cos_notify_filter::{CallbackId, ConstraintExp};
use crate::kept;
use crate::reference;
use crate::refusal::Refusal;
use crate::storage::Change;
use crate::types::{self, Pattern};

/// Callbacks of a filter, by id.
#[derive(Debug, Default)]
pub(super) struct Callbacks {
    state: Mutex<State>,
    /// Held while a callback is attached or detached.
    order: Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    last: CallbackId,
    /// Callbacks with the numbers of their records.
    callbacks: BTreeMap<CallbackId, (u64, NotifySubscribe)>,
}

impl Callbacks {
    /// Adds a callback to those of the filter with a number; returns its id. Blocks.
    ///
    /// # Errors
    /// There are as many as may be; it cannot be stored.
    pub(super) fn attach(
        &self,
        common: &Common,
        filter: u64,
        callback: &NotifySubscribe,
    ) -> Result<CallbackId, Refusal> {
        let _order = self.order.lock();
        let id = self.next_id(common.limits.filters)?;
        let number = common.objects.number();
        if common.is_stored {
            let record = kept::Callback {
                filter,
                id,
                reference: reference::to_text(callback)?,
            };
            common.keep(vec![Change::Callback(number, Some(record))])?;
        }
        self.insert(id, (number, callback.clone()));
        Ok(id)
    }

    fn next_id(&self, most: usize) -> Result<CallbackId, Refusal> {
        let state = self.state.lock();
        match state.callbacks.len() < most {
            true => Ok(state.last.wrapping_add(1).max(1)),
            false => Err(Refusal::Full {
                what: "callbacks of the filter",
                option: "most-filters",
                limit: most,
            }),
        }
    }

    fn insert(&self, id: CallbackId, callback: (u64, NotifySubscribe)) {
        let mut state = self.state.lock();
        state.last = state.last.max(id);
        state.callbacks.insert(id, callback);
    }

    /// Takes a callback over whose record has a number.
    ///
    /// # Errors
    /// Its reference is damaged.
    pub(super) fn restore(
        &self,
        orb: &Orb,
        number: u64,
        kept: &kept::Callback,
    ) -> Result<(), Refusal> {
        let object = reference::of_text(orb, &kept.reference)?;
        self.insert(kept.id, (number, NotifySubscribe::from_object(object)));
        Ok(())
    }

    /// Removes a callback; returns whether it was there. Blocks.
    ///
    /// # Errors
    /// The change cannot be stored.
    pub(super) fn detach(&self, common: &Common, id: CallbackId) -> Result<bool, Refusal> {
        let _order = self.order.lock();
        let number = self
            .state
            .lock()
            .callbacks
            .get(&id)
            .map(|(number, _)| *number);
        let Some(number) = number else {
            return Ok(false);
        };
        common.keep(vec![Change::Callback(number, None)])?;
        let removed = self.state.lock().callbacks.remove(&id);
        drop(removed);
        Ok(true)
    }

    /// Removes the records of all callbacks, on another thread, as the filter has been destroyed.
    pub(super) fn forget(&self, common: &Common) {
        for (number, _) in self.state.lock().callbacks.values() {
            common.forget(Change::Callback(*number, None));
        }
    }

    /// Returns all ids.
    pub(super) fn ids(&self) -> Vec<CallbackId> {
        self.state.lock().callbacks.keys().copied().collect()
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
        for (_, callback) in self.state.lock().callbacks.values() {
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
