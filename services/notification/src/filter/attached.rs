//! Filters that are attached to a proxy or an administrator, as `FilterAdmin` manages them.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;
use punctual_constraint::Constraint;

use super::constraints::budget;
use super::forwarding::Forwarding;
use super::registry::Registry;
use crate::common::Common;
use crate::cos_notify_filter::{Filter, FilterId, FilterNotFound};
use crate::event::Event;
use crate::kept;
use crate::punctual_notify::FilterState;
use crate::refusal::Refusal;

/// Filter with the reference by which it was attached.
pub(crate) type AttachedFilter = (Filter, Arc<Forwarding>);

/// Filters of a proxy or administrator.
#[derive(Debug)]
pub(crate) struct Attached {
    common: Arc<Common>,
    registry: Arc<Registry>,
    list: RwLock<FilterList>,
}

/// Filters, by id.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilterList {
    last: FilterId,
    filters: BTreeMap<FilterId, AttachedFilter>,
}

impl FilterList {
    /// Adds a filter; returns its id.
    ///
    /// # Errors
    /// There are as many as may be.
    pub(crate) fn add(&mut self, one: AttachedFilter, limit: usize) -> Result<FilterId, Refusal> {
        if self.filters.len() >= limit {
            return Err(Refusal::Full {
                what: "filters of the object",
                option: "most-filters",
                limit,
            });
        }
        let id = self.last.wrapping_add(1).max(1);
        self.insert(id, one);
        Ok(id)
    }

    /// Adds a filter with an id.
    pub(crate) fn insert(&mut self, id: FilterId, one: AttachedFilter) {
        self.last = id;
        self.filters.insert(id, one);
    }

    /// Removes a filter.
    ///
    /// # Errors
    /// There is none of this id.
    pub(crate) fn remove(&mut self, id: FilterId) -> Result<(), FilterNotFound> {
        let removed = self.filters.remove(&id);
        removed.map(drop).ok_or(FilterNotFound)
    }

    /// Removes all filters.
    pub(crate) fn clear(&mut self) {
        self.filters.clear();
    }

    /// Returns the filters with their constraints, as tools see them.
    pub(crate) fn states(&self) -> Vec<FilterState> {
        let filters = self.filters.values();
        filters.map(|(_, filter)| filter.state()).collect()
    }

    /// Returns the filters as they are kept.
    pub(crate) fn to_kept(&self) -> Vec<kept::Attachment> {
        let filters = self.filters.iter();
        filters
            .map(|(id, (_, filter))| kept::Attachment {
                id: *id,
                filter: filter.number(),
            })
            .collect()
    }
}

impl Attached {
    pub(crate) fn new(common: Arc<Common>, registry: Arc<Registry>) -> Self {
        Self {
            common,
            registry,
            list: RwLock::default(),
        }
    }

    /// Returns the verdict of the filters on an event: `None` without any, else whether one lets it through. What all
    /// filters together cost is bounded; those beyond that let nothing through.
    pub(crate) fn verdict(&self, event: &Event) -> Option<bool> {
        let list = self.list.read();
        if list.filters.is_empty() {
            return None;
        }
        let mut filters = list.filters.values();
        let mut budget = budget();
        Some(filters.any(|(_, filter)| filter.lets_through(event, &mut budget)))
    }

    /// Returns constraints of which one has to be true for an event that a filter lets through; `None` without any filter.
    pub(crate) fn needs(&self) -> Option<Vec<Constraint>> {
        let list = self.list.read();
        let needs = list.filters.values().flat_map(|(_, filter)| filter.needs());
        (!list.filters.is_empty()).then(|| needs.collect())
    }

    /// Returns a filter of this service, to be attached.
    ///
    /// # Errors
    /// It is nil, or not of this service.
    pub(crate) fn find(&self, filter: Option<&Filter>) -> Result<AttachedFilter, Refusal> {
        let filter = filter.ok_or(Refusal::Nil("filter"))?;
        let found = self.registry.forwarding(&self.common, filter)?;
        Ok((filter.clone(), found))
    }

    /// Returns all filters.
    pub(crate) fn list(&self) -> FilterList {
        self.list.read().clone()
    }

    /// Attaches other filters in place of these.
    pub(crate) fn replace(&self, list: FilterList) {
        let has_any = !list.filters.is_empty();
        let before = std::mem::replace(&mut *self.list.write(), list);
        if has_any || !before.filters.is_empty() {
            self.common.selections.change();
        }
        // They are dropped without the lock.
        drop(before);
    }

    /// Returns a filter.
    ///
    /// # Errors
    /// There is none of this id.
    pub(crate) fn get(&self, id: FilterId) -> Result<Filter, FilterNotFound> {
        let list = self.list.read();
        let found = list.filters.get(&id).map(|(filter, _)| filter.clone());
        found.ok_or(FilterNotFound)
    }

    /// Returns all ids.
    pub(crate) fn ids(&self) -> Vec<FilterId> {
        self.list.read().filters.keys().copied().collect()
    }
}
