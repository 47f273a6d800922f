//! Subscribers by equalities that their filters need, so that an event is not tried on the filters of all others.
//!
//! It is made of a channel's index when nothing has changed for as many events as there are subscribers: making it costs
//! less than those events did, and each of them went the long way, which asks all. Any change ends it. Whom it finds is
//! asked in full, so that it decides nothing but who is not asked.

use std::sync::{Arc, Weak};

use parking_lot::RwLock;
use punctual_constraint::{Constraint, ConstraintSet};

use crate::event::Event;
use crate::generation::Generation;
use crate::hub::Subscriber;
use crate::index::Index;
use crate::types::Types;

/// Number of subscribers to patterns below which all are asked.
const FEW: usize = 16;

type Subscribers = RwLock<Index<Arc<dyn Subscriber>>>;

/// Selection of the subscribers of one channel.
#[derive(Default)]
pub(crate) struct Selection(RwLock<State>);

#[derive(Default)]
struct State {
    generation: u64,
    /// Events since the last change.
    events: usize,
    made: Option<Made>,
}

/// Subscribers to patterns, or to all.
#[derive(Default)]
struct Made {
    /// Those whose constraints all need an equality.
    by_need: ConstraintSet<Arc<Member>>,
    others: Vec<Arc<Member>>,
}

/// Subscriber with its types. One that has ended does not stay for this.
struct Member {
    number: u64,
    types: Types,
    subscriber: Weak<dyn Subscriber>,
}

impl Selection {
    /// Returns the subscribers that may take an event, each once.
    pub(crate) fn of(
        &self,
        index: &Subscribers,
        generation: &Generation,
        event: &Event,
    ) -> Vec<Arc<dyn Subscriber>> {
        let (domain, name) = event.type_names();
        // Before anything is read that it is the number of.
        let now = generation.now();
        let index = index.read();
        if index.wild().len() < FEW {
            return index.of(domain, name);
        }
        if let Some(state) = self.0.try_read()
            && state.generation == now
            && let Some(made) = &state.made
        {
            let mut found: Vec<_> = index.exact(domain, name).cloned().collect();
            found.extend(made.of(event));
            return found;
        }
        self.note(&index, now);
        index.of(domain, name)
    }

    /// Notes an event that went the long way, and makes the selection if it is time.
    fn note(&self, index: &Index<Arc<dyn Subscriber>>, now: u64) {
        // While another thread makes it, events go the long way.
        let Some(mut state) = self.0.try_write() else {
            return;
        };
        if state.generation != now {
            *state = State {
                generation: now,
                ..State::default()
            };
        }
        state.events += 1;
        if state.made.is_none() && state.events >= index.wild().len() {
            state.made = Some(Made::of_index(index));
        }
    }
}

impl Made {
    fn of_index(index: &Index<Arc<dyn Subscriber>>) -> Self {
        let mut made = Self::default();
        for (number, (types, subscriber)) in index.wild() {
            let member = Arc::new(Member {
                number: *number,
                types: types.clone(),
                subscriber: Arc::downgrade(subscriber),
            });
            let has_keys = |needs: &Vec<Constraint>| needs.iter().all(|one| !one.keys().is_empty());
            match subscriber.needs().filter(has_keys) {
                Some(needs) => {
                    for constraint in needs {
                        made.by_need.insert(constraint, member.clone());
                    }
                }
                None => made.others.push(member),
            }
        }
        made
    }

    /// Returns the subscribers that may take an event, each once, in the order of their numbers.
    fn of(&self, event: &Event) -> impl Iterator<Item = Arc<dyn Subscriber>> + use<> {
        let (domain, name) = event.type_names();
        let mut found: Vec<&Arc<Member>> = self.others.iter().collect();
        self.by_need
            .for_each_candidate(event, |_, _, member| found.push(member));
        found.retain(|member| member.types.include(domain, name));
        found.sort_unstable_by_key(|member| member.number);
        found.dedup_by_key(|member| member.number);
        let found: Vec<_> = found
            .into_iter()
            .filter_map(|member| member.subscriber.upgrade())
            .collect();
        found.into_iter()
    }
}

#[cfg(test)]
mod tests;
