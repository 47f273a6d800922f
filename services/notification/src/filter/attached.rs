//! Filters that are attached to a proxy or an administrator, as `FilterAdmin` manages them.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;
use punctual_constraint::Constraint;

use super::constraints::budget;
use super::foreign::{Foreign, Opinion, Questions, Target};
use super::forwarding::Forwarding;
use super::registry::Registry;
use crate::common::Common;
use crate::cos_notify_filter::{Filter, FilterId, FilterNotFound};
use crate::event::Event;
use crate::kept;
use crate::limits::Limits;
use crate::punctual_notify::FilterState;
use crate::refusal::Refusal;

/// Filter with the reference by which it was attached.
pub(crate) type AttachedFilter = (Filter, Judge);

/// Place in which a filter judges events.
#[derive(Clone, Debug)]
pub(crate) enum Judge {
    /// This service.
    Here(Arc<Forwarding>),
    /// Another server.
    Foreign(Arc<Foreign>),
}

/// Filters of a proxy or administrator.
#[derive(Debug)]
pub(crate) struct Attached {
    common: Arc<Common>,
    registry: Arc<Registry>,
    /// States that events may wait for foreign filters: those of consumers may, and those of suppliers unless a push has to
    /// wait until they are stored.
    may_wait: bool,
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
    pub(crate) fn add(
        &mut self,
        one: AttachedFilter,
        limits: &Limits,
    ) -> Result<FilterId, Refusal> {
        let full = |what, option, limit| {
            Err(Refusal::Full {
                what,
                option,
                limit,
            })
        };
        if self.filters.len() >= limits.filters {
            return full("filters of the object", "most-filters", limits.filters);
        }
        let is_foreign = matches!(one.1, Judge::Foreign(_));
        let most = limits.foreign_per_object;
        if is_foreign && self.foreign().count() >= most {
            let what = "foreign filters of the object";
            return full(what, "foreign-filters-per-object", most);
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

    /// Returns the filters of this service.
    fn here(&self) -> impl Iterator<Item = &Arc<Forwarding>> {
        self.filters.values().filter_map(|(_, judge)| match judge {
            Judge::Here(filter) => Some(filter),
            Judge::Foreign(_) => None,
        })
    }

    fn foreign(&self) -> impl Iterator<Item = &Arc<Foreign>> {
        self.filters.values().filter_map(|(_, judge)| match judge {
            Judge::Here(_) => None,
            Judge::Foreign(filter) => Some(filter),
        })
    }

    /// Returns whether there are foreign filters.
    pub(crate) fn has_foreign(&self) -> bool {
        self.foreign().next().is_some()
    }

    /// Returns the filters of this service with their constraints, as tools see them.
    pub(crate) fn states(&self) -> Vec<FilterState> {
        self.here().map(|filter| filter.state()).collect()
    }

    /// Returns the verdict of this service's filters on an event: `None` without any filter.
    fn verdict(&self, event: &Event) -> Option<bool> {
        if self.filters.is_empty() {
            return None;
        }
        let mut budget = budget();
        Some(
            self.here()
                .any(|filter| filter.lets_through(event, &mut budget)),
        )
    }

    /// Returns the filters as they are kept.
    pub(crate) fn to_kept(&self) -> Vec<kept::Attachment> {
        let filters = self.filters.iter();
        filters
            .map(|(id, (_, judge))| match judge {
                Judge::Here(filter) => kept::Attachment {
                    id: *id,
                    filter: filter.number(),
                    reference: String::new(),
                },
                Judge::Foreign(filter) => kept::Attachment {
                    id: *id,
                    filter: 0,
                    reference: filter.text().to_owned(),
                },
            })
            .collect()
    }
}

impl Attached {
    pub(crate) fn new(common: Arc<Common>, registry: Arc<Registry>, may_wait: bool) -> Self {
        Self {
            common,
            registry,
            may_wait,
            list: RwLock::default(),
        }
    }

    /// Returns the verdict of the filters on an event: `None` without any, else whether one lets it through. What all
    /// filters together cost is bounded; those beyond that let nothing through, and neither do foreign ones.
    pub(crate) fn verdict(&self, event: &Event) -> Option<bool> {
        self.list.read().verdict(event)
    }

    /// Returns the verdict on an event, with the questions that foreign filters are to be asked if no other lets it through.
    pub(crate) fn opinion(&self, event: &Arc<Event>, questions: &mut Questions) -> Opinion {
        let list = self.list.read();
        let verdict = list.verdict(event);
        let foreign = list.foreign().filter(|_| verdict != Some(true));
        Opinion {
            verdict,
            open: foreign.map(|one| questions.of(one, event)).collect(),
        }
    }

    /// Returns whether there are foreign filters.
    pub(crate) fn has_foreign(&self) -> bool {
        self.list.read().has_foreign()
    }

    /// Returns constraints of which one has to be true for an event that a filter lets through; `None` without any filter,
    /// and with foreign ones.
    pub(crate) fn needs(&self) -> Option<Vec<Constraint>> {
        let list = self.list.read();
        let are_known = !list.filters.is_empty() && !list.has_foreign();
        are_known.then(|| list.here().flat_map(|filter| filter.needs()).collect())
    }

    /// Returns a filter, to be attached.
    ///
    /// # Errors
    /// It is nil, or a foreign one that is not attached here.
    pub(crate) fn find(&self, filter: Option<&Filter>) -> Result<AttachedFilter, Refusal> {
        let filter = filter.ok_or(Refusal::Nil("filter"))?;
        let judge = match self.registry.forwarding(&self.common, filter)? {
            Some(here) => Judge::Here(here),
            None => {
                let foreign = Foreign::attach(&self.common, Target::Filter(filter.clone()))?;
                if !self.may_wait {
                    return Err(Refusal::FilterBeforeLog);
                }
                Judge::Foreign(foreign)
            }
        };
        Ok((filter.clone(), judge))
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
