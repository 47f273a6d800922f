//! Filters that are attached to a proxy or an administrator, as `FilterAdmin` manages them.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;

use super::forwarding::Forwarding;
use super::registry::Registry;
use crate::common::Common;
use crate::cos_notify_filter::{Filter, FilterId};
use crate::event::Event;
use crate::refusal::Refusal;

/// Filters, by id.
#[derive(Debug)]
pub(crate) struct Attached {
    common: Arc<Common>,
    registry: Arc<Registry>,
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    last: FilterId,
    filters: BTreeMap<FilterId, (Filter, Arc<Forwarding>)>,
}

/// No filter of this id is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FilterNotFound;

impl Attached {
    pub(crate) fn new(common: Arc<Common>, registry: Arc<Registry>) -> Self {
        Self {
            common,
            registry,
            state: RwLock::default(),
        }
    }

    /// Returns the filters that an event is tried by: `None` without any, else whether one lets it through.
    pub(crate) fn verdict(&self, event: &Event) -> Option<bool> {
        let state = self.state.read();
        if state.filters.is_empty() {
            return None;
        }
        let mut filters = state.filters.values();
        Some(filters.any(|(_, filter)| filter.lets_through(event)))
    }

    /// Attaches a filter; returns its id.
    ///
    /// # Errors
    /// It is nil, is not of this service, or there are as many as may be.
    pub(crate) fn add(&self, filter: Option<&Filter>) -> Result<FilterId, Refusal> {
        let filter = filter.ok_or(Refusal::Nil("filter"))?;
        let found = self.registry.forwarding(&self.common, filter)?;
        let mut state = self.state.write();
        let limit = self.common.limits.filters;
        if state.filters.len() >= limit {
            return Err(Refusal::Full {
                what: "filters of the object",
                option: "most-filters",
                limit,
            });
        }
        state.last = state.last.wrapping_add(1).max(1);
        let id = state.last;
        state.filters.insert(id, (filter.clone(), found));
        Ok(id)
    }

    /// Detaches a filter.
    ///
    /// # Errors
    /// There is none of this id.
    pub(crate) fn remove(&self, id: FilterId) -> Result<(), FilterNotFound> {
        let removed = self.state.write().filters.remove(&id);
        removed.map(drop).ok_or(FilterNotFound)
    }

    /// Returns a filter.
    ///
    /// # Errors
    /// There is none of this id.
    pub(crate) fn get(&self, id: FilterId) -> Result<Filter, FilterNotFound> {
        let state = self.state.read();
        let found = state.filters.get(&id).map(|(filter, _)| filter.clone());
        found.ok_or(FilterNotFound)
    }

    /// Returns all ids.
    pub(crate) fn ids(&self) -> Vec<FilterId> {
        self.state.read().filters.keys().copied().collect()
    }

    /// Detaches all filters.
    pub(crate) fn clear(&self) {
        let removed = std::mem::take(&mut self.state.write().filters);
        drop(removed);
    }
}
