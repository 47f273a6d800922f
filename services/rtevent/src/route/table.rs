//! Table: all subscriptions, and the routes that are kept.

use super::hash::NumberMap;
use super::subscribed::Subscribed;
use super::target::Route;
use crate::event::{Header, Payload};
use crate::filter::{Interest, Subject};
use crate::peer::ConsumerId;
use parking_lot::RwLock;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Subscriptions by the types that they accept, and routes. An event sees the subscriptions before or after a
/// change, never a mixture; a change removes only the routes of types that it concerns.
pub(crate) struct Table<P> {
    state: RwLock<State<P>>,
    most_routes: usize,
}

struct State<P> {
    all: Subscriptions<P>,
    /// Subscriptions that accept a few types only.
    by_kind: NumberMap<Subscriptions<P>>,
    /// Subscriptions that accept events of any type.
    of_all_kinds: Subscriptions<P>,
    routes: Routes<P>,
    /// Number of changes.
    version: u64,
    is_closed: bool,
}

type Subscriptions<P> = BTreeMap<ConsumerId, Arc<Subscribed<P>>>;

/// Routes by type and source.
struct Routes<P> {
    by_kind: NumberMap<NumberMap<Arc<Route<P>>>>,
    /// Keys in the order in which they came, and some that are gone.
    order: VecDeque<(i32, i32)>,
    count: usize,
    weight: usize,
}

/// Maximum number of targets in all cached routes together, as a multiple of the maximum number of routes.
const WEIGHT: usize = 64;

/// Refusal of a subscription.
pub(crate) enum Refused {
    /// The table is closed.
    Closed,
    /// The table has its maximum number of subscriptions.
    Full,
    /// The subscription that is to be replaced is not there.
    NotThere,
}

impl<P: Payload> Table<P> {
    pub(crate) fn new(most_routes: usize) -> Self {
        let state = State {
            all: BTreeMap::new(),
            by_kind: NumberMap::default(),
            of_all_kinds: BTreeMap::new(),
            routes: Routes::new(),
            version: 0,
            is_closed: false,
        };
        Self {
            state: RwLock::new(state),
            most_routes,
        }
    }

    /// Adds a subscription.
    pub(crate) fn add(&self, new: Arc<Subscribed<P>>, most: usize) -> Result<(), Refused> {
        let mut state = self.state.write();
        if state.is_closed {
            return Err(Refused::Closed);
        }
        if state.all.len() >= most {
            return Err(Refused::Full);
        }
        let removed = state.routes.remove(&new.interest);
        state.insert(new);
        drop(state);
        // Outside of the lock, as the last owner of a consumer drops it.
        drop(removed);
        Ok(())
    }

    /// Replaces a consumer's subscription; returns the one before.
    pub(crate) fn replace(&self, new: Arc<Subscribed<P>>) -> Result<Arc<Subscribed<P>>, Refused> {
        let mut state = self.state.write();
        let Some(old) = state.take(new.id()) else {
            return Err(Refused::NotThere);
        };
        let removed = (
            state.routes.remove(&old.interest),
            state.routes.remove(&new.interest),
        );
        state.insert(new);
        drop(state);
        drop(removed);
        Ok(old)
    }

    /// Removes a consumer's subscription.
    pub(crate) fn remove(&self, id: ConsumerId) -> Option<Arc<Subscribed<P>>> {
        let mut state = self.state.write();
        let old = state.take(id)?;
        let removed = state.routes.remove(&old.interest);
        drop(state);
        drop(removed);
        Some(old)
    }

    /// Closes the table for further subscriptions, and returns the consumers of the present ones.
    pub(crate) fn close(&self) -> Vec<ConsumerId> {
        let mut state = self.state.write();
        state.is_closed = true;
        state.all.keys().copied().collect()
    }

    /// Returns all subscriptions by the time of their connection.
    pub(crate) fn all(&self) -> Vec<Arc<Subscribed<P>>> {
        self.state.read().all.values().cloned().collect()
    }

    pub(crate) fn get(&self, id: ConsumerId) -> Option<Arc<Subscribed<P>>> {
        self.state.read().all.get(&id).cloned()
    }

    /// Returns the number of routes that are kept.
    pub(crate) fn routes(&self) -> usize {
        self.state.read().routes.count
    }

    /// Returns the route of an event: one lookup, if it is kept. Otherwise it is made from the subscriptions to its
    /// type.
    #[inline]
    pub(super) fn route(&self, header: &Header) -> Arc<Route<P>> {
        let state = self.state.read();
        match state.routes.get(header.kind, header.source) {
            Some(route) => route.clone(),
            None => {
                let (route, version) = (Arc::new(state.make(header)), state.version);
                drop(state);
                self.keep(header, &route, version);
                route
            }
        }
    }

    #[cold]
    fn keep(&self, header: &Header, route: &Arc<Route<P>>, version: u64) {
        let weight = route.weight();
        let most = self.most_routes.saturating_mul(WEIGHT);
        if self.most_routes == 0 || weight > most {
            return;
        }
        let mut removed = Vec::new();
        let mut state = self.state.write();
        if state.version == version {
            let routes = &mut state.routes;
            while routes.count >= self.most_routes || routes.weight + weight > most {
                let Some(oldest) = routes.remove_oldest() else {
                    break;
                };
                removed.push(oldest);
            }
            routes.insert(header.kind, header.source, route.clone(), weight);
        }
        drop(state);
        drop(removed);
    }
}

impl<P: Payload> State<P> {
    fn insert(&mut self, new: Arc<Subscribed<P>>) {
        self.version += 1;
        let id = new.id();
        match &new.interest {
            Interest::All => {
                self.of_all_kinds.insert(id, new.clone());
            }
            Interest::Kinds(kinds) => {
                for kind in kinds {
                    let same = self.by_kind.entry(*kind).or_default();
                    same.insert(id, new.clone());
                }
            }
        }
        self.all.insert(id, new);
    }

    fn take(&mut self, id: ConsumerId) -> Option<Arc<Subscribed<P>>> {
        let old = self.all.remove(&id)?;
        self.version += 1;
        match &old.interest {
            Interest::All => {
                self.of_all_kinds.remove(&id);
            }
            Interest::Kinds(kinds) => {
                for kind in kinds {
                    if let Some(same) = self.by_kind.get_mut(kind) {
                        same.remove(&id);
                        if same.is_empty() {
                            self.by_kind.remove(kind);
                        }
                    }
                }
            }
        }
        Some(old)
    }

    fn make(&self, header: &Header) -> Route<P> {
        let of_kind = self.by_kind.get(&header.kind).into_iter().flatten();
        let all = of_kind.chain(&self.of_all_kinds).map(|(_, one)| one);
        Route::new(
            all,
            Subject::Event {
                kind: header.kind,
                source: header.source,
            },
        )
    }
}

impl<P: Payload> Routes<P> {
    fn new() -> Self {
        Self {
            by_kind: NumberMap::default(),
            order: VecDeque::new(),
            count: 0,
            weight: 0,
        }
    }

    #[inline]
    fn get(&self, kind: i32, source: i32) -> Option<&Arc<Route<P>>> {
        self.by_kind.get(&kind)?.get(&source)
    }

    fn insert(&mut self, kind: i32, source: i32, route: Arc<Route<P>>, weight: usize) {
        let routes = self.by_kind.entry(kind).or_default();
        if let Some(before) = routes.insert(source, route) {
            // Another thread was first.
            self.weight -= before.weight();
            self.weight += weight;
            return;
        }
        self.count += 1;
        self.weight += weight;
        self.order.push_back((kind, source));
        if self.order.len() > 2 * self.count + 64 {
            let kept = |&(kind, source): &(i32, i32)| {
                let routes = self.by_kind.get(&kind);
                routes.is_some_and(|routes| routes.contains_key(&source))
            };
            self.order.retain(kept);
        }
    }

    fn remove_oldest(&mut self) -> Option<Arc<Route<P>>> {
        while let Some((kind, source)) = self.order.pop_front() {
            let Some(routes) = self.by_kind.get_mut(&kind) else {
                continue;
            };
            if let Some(route) = routes.remove(&source) {
                if routes.is_empty() {
                    self.by_kind.remove(&kind);
                }
                self.count -= 1;
                self.weight -= route.weight();
                return Some(route);
            }
        }
        None
    }

    /// Removes the routes of all types that an interest names.
    fn remove(&mut self, interest: &Interest) -> Vec<NumberMap<Arc<Route<P>>>> {
        let removed: Vec<_> = match interest {
            Interest::All => {
                self.order.clear();
                self.by_kind.drain().map(|(_, routes)| routes).collect()
            }
            Interest::Kinds(kinds) => {
                let remove = |kind| self.by_kind.remove(kind);
                kinds.iter().filter_map(remove).collect()
            }
        };
        for route in removed.iter().flat_map(NumberMap::values) {
            self.count -= 1;
            self.weight -= route.weight();
        }
        removed
    }
}
