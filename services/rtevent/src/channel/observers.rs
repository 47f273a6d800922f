//! Observers: what all consumers want, and all suppliers offer.

use crate::dispatch::caught;
use crate::peer::{Observer, Selector};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Identity of an observer in its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObserverId(u64);

/// Observers of a channel, and the subscriptions and publications that they were last given.
///
/// One thread at a time calls them, without a lock. A change that is made meanwhile, also by an observer, leads to another
/// call by that thread: the last call has the final state.
#[derive(Default)]
pub(super) struct Observers {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    observers: BTreeMap<ObserverId, Arc<dyn Observer>>,
    next: u64,
    subscriptions: Offers,
    publications: Offers,
    /// An observer has been added that was not called yet.
    has_new: bool,
    is_notifying: bool,
}

/// Selectors with the number of peers that have each. A number is below 0 for the moment in which a peer's selectors are
/// taken away on one thread before another has added them.
#[derive(Default)]
struct Offers {
    counts: BTreeMap<Selector, i64>,
    is_changed: bool,
}

/// Group of selectors that changes.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Consumers,
    Suppliers,
}

/// Calls that are to be made.
struct Round {
    observers: Vec<Arc<dyn Observer>>,
    subscriptions: Option<Vec<Selector>>,
    publications: Option<Vec<Selector>>,
}

impl Observers {
    /// Adds an observer, and calls it with the present state.
    pub(super) fn append(&self, observer: Arc<dyn Observer>) -> ObserverId {
        let id = {
            let mut state = self.state.lock();
            let id = ObserverId(state.next);
            state.next += 1;
            state.observers.insert(id, observer);
            state.has_new = true;
            id
        };
        self.notify();
        id
    }

    /// Removes an observer; returns `false` if it is not there.
    pub(super) fn remove(&self, id: ObserverId) -> bool {
        let removed = self.state.lock().observers.remove(&id);
        removed.is_some()
    }

    /// Removes all observers.
    pub(super) fn clear(&self) {
        let removed = std::mem::take(&mut self.state.lock().observers);
        drop(removed);
    }

    /// Replaces selectors of one peer by others, and calls observers if this changes the united state.
    pub(super) fn replace(&self, side: Side, old: &[Selector], new: &[Selector]) {
        {
            let mut state = self.state.lock();
            let offers = state.offers(side);
            new.iter().for_each(|selector| offers.add(*selector, 1));
            old.iter().for_each(|selector| offers.add(*selector, -1));
        }
        self.notify();
    }

    fn notify(&self) {
        let mut state = self.state.lock();
        if state.is_notifying {
            return;
        }
        state.is_notifying = true;
        while let Some(round) = state.round() {
            drop(state);
            round.call();
            state = self.state.lock();
        }
        state.is_notifying = false;
    }
}

impl State {
    fn offers(&mut self, side: Side) -> &mut Offers {
        match side {
            Side::Consumers => &mut self.subscriptions,
            Side::Suppliers => &mut self.publications,
        }
    }

    /// Returns the calls that are due, if there are any. After an observer was added, all are called with everything.
    fn round(&mut self) -> Option<Round> {
        let has_new = std::mem::take(&mut self.has_new);
        let due = |offers: &mut Offers| {
            let is_due = std::mem::take(&mut offers.is_changed) || has_new;
            is_due.then(|| offers.all())
        };
        let round = Round {
            subscriptions: due(&mut self.subscriptions),
            publications: due(&mut self.publications),
            observers: self.observers.values().cloned().collect(),
        };
        let is_due = round.subscriptions.is_some() || round.publications.is_some();
        (is_due && !round.observers.is_empty()).then_some(round)
    }
}

impl Offers {
    fn add(&mut self, selector: Selector, count: i64) {
        let now = self.counts.entry(selector).or_default();
        let was_there = *now > 0;
        *now += count;
        self.is_changed |= was_there != (*now > 0);
        if *now == 0 {
            self.counts.remove(&selector);
        }
    }

    fn all(&self) -> Vec<Selector> {
        let there = self.counts.iter().filter(|(_, count)| **count > 0);
        there.map(|(selector, _)| *selector).collect()
    }
}

impl Round {
    fn call(self) {
        for observer in &self.observers {
            if let Some(subscriptions) = &self.subscriptions {
                caught(|| observer.consumers_changed(subscriptions));
            }
            if let Some(publications) = &self.publications {
                caught(|| observer.suppliers_changed(publications));
            }
        }
    }
}
