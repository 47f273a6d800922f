//! Filters of the service, by reference, and the `FilterFactory` that makes them.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};
use punctual::{Any, Implements, Interface, SystemException};
use punctual_constraint::Grammar;
use punctual_events::bytes_of;
use punctual_events::watch::Watched;

use super::external::EventFilter;
use super::forwarding::Forwarding;
use super::mapping::Mapping;
use super::removal::Removal;
use crate::common::Common;
use crate::cos_notify_filter::{
    Filter, FilterFactoryCreateFilterError, FilterFactoryCreateMappingFilterError,
    FilterFactoryServant, InvalidGrammar, MappingFilter,
};
use crate::refusal::Refusal;
use crate::storage::Change;

/// Filters, by the ids of their objects.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    filters: RwLock<HashMap<Vec<u8>, Made>>,
    /// Filters that were destroyed while they were attached, by number. Their records stay until they are detached.
    destroyed: Mutex<HashMap<u64, Destroyed>>,
}

/// Filter that was destroyed while it was attached.
#[derive(Debug)]
enum Destroyed {
    Forwarding(Weak<Forwarding>),
    Mapping(Weak<Mapping>),
}

impl Destroyed {
    fn is_attached(&self) -> bool {
        match self {
            Self::Forwarding(filter) => filter.strong_count() > 0,
            Self::Mapping(filter) => filter.strong_count() > 0,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Made {
    Forwarding(Arc<Forwarding>),
    Mapping(Arc<Mapping>),
}

/// Owners of a filter that is not attached: the registry, and the servant.
const UNATTACHED: usize = 2;

impl Made {
    /// Makes the filter's record durable.
    fn keep(&self) -> Result<(), Refusal> {
        match self {
            Self::Forwarding(filter) => filter.constraints.keep(),
            Self::Mapping(filter) => filter.constraints.keep(),
        }
    }

    fn is_attached(&self) -> bool {
        match self {
            Self::Forwarding(filter) => Arc::strong_count(filter) > UNATTACHED,
            Self::Mapping(filter) => Arc::strong_count(filter) > UNATTACHED,
        }
    }

    /// Returns whether the filter is attached to nothing, and no client has used it for this time.
    fn is_left(&self, now: Instant, time: Duration) -> bool {
        let usage = match self {
            Self::Forwarding(filter) => &filter.constraints.usage,
            Self::Mapping(filter) => &filter.constraints.usage,
        };
        if self.is_attached() {
            usage.note();
        }
        usage.is_over(now, time)
    }

    /// Makes the end of the filter durable. No reference leads to it meanwhile, so that it is not being attached. Returns
    /// the filter if it is attached, with its record.
    fn destroy(&self) -> Result<Option<Destroyed>, Refusal> {
        match self {
            Self::Forwarding(filter) => {
                let is_attached = self.is_attached();
                filter.constraints.destroy(is_attached)?;
                Ok(is_attached.then(|| Destroyed::Forwarding(Arc::downgrade(filter))))
            }
            Self::Mapping(filter) => {
                let is_attached = self.is_attached();
                filter.constraints.destroy(is_attached)?;
                Ok(is_attached.then(|| Destroyed::Mapping(Arc::downgrade(filter))))
            }
        }
    }
}

impl Registry {
    /// Returns the filter of this service that a reference leads to; `None` if it leads to another server.
    ///
    /// # Errors
    /// The filter has been destroyed; the object is none.
    pub(crate) fn forwarding(
        &self,
        common: &Common,
        filter: &Filter,
    ) -> Result<Option<Arc<Forwarding>>, Refusal> {
        match self.find(common, filter)? {
            Some(Made::Forwarding(found)) => Ok(Some(found)),
            Some(Made::Mapping(_)) => Err(Refusal::OtherKind),
            None => Ok(None),
        }
    }

    /// Returns the mapping filter of this service that a reference leads to; `None` if it leads to another server.
    ///
    /// # Errors
    /// The filter has been destroyed; the object is none.
    pub(crate) fn mapping(
        &self,
        common: &Common,
        filter: &MappingFilter,
    ) -> Result<Option<Arc<Mapping>>, Refusal> {
        match self.find(common, filter)? {
            Some(Made::Mapping(found)) => Ok(Some(found)),
            Some(Made::Forwarding(_)) => Err(Refusal::OtherKind),
            None => Ok(None),
        }
    }

    fn find(&self, common: &Common, filter: &impl Interface) -> Result<Option<Made>, Refusal> {
        let Some(id) = common.objects.id_in(filter) else {
            return Ok(None);
        };
        let found = self.filters.read().get(&id).cloned();
        found.map(Some).ok_or(Refusal::Destroyed("filter"))
    }

    fn add(&self, common: &Common, number: u64, made: Made) -> Result<(), Refusal> {
        let mut filters = self.filters.write();
        let limit = common.limits.filters;
        if filters.len() >= limit {
            return Err(Refusal::Full {
                what: "filters",
                option: "most-filters",
                limit,
            });
        }
        filters.insert(common.objects.id_of(number), made);
        Ok(())
    }

    /// Adds a filter that was kept, whatever the limit.
    pub(super) fn restore(&self, common: &Common, number: u64, made: Made) {
        let id = common.objects.id_of(number);
        self.filters.write().insert(id, made);
    }

    /// Returns the number of filters that clients have not destroyed.
    pub(crate) fn len(&self) -> usize {
        self.filters.read().len()
    }

    /// Returns the filters that clients have left, to be removed: they are attached to nothing, and have not been used for the
    /// time after which unused proxies are removed.
    pub(crate) fn left(self: &Arc<Self>, common: &Arc<Common>, now: Instant) -> Vec<Left> {
        let Some(time) = common.limits.idle else {
            return Vec::new();
        };
        let filters = self.filters.read();
        let left = filters.iter().filter(|(_, made)| made.is_left(now, time));
        left.map(|(id, _)| Left {
            common: common.clone(),
            registry: self.clone(),
            id: id.clone(),
        })
        .collect()
    }

    /// Removes a filter and its object. Proxies and administrators that it is attached to keep it.
    ///
    /// # Errors
    /// It has been destroyed, or that cannot be stored.
    fn remove(&self, common: &Common, number: u64) -> Result<(), Refusal> {
        let id = common.objects.id_of(number);
        let (destroyed, removed) = {
            let mut filters = self.filters.write();
            let found = filters.get(&id).ok_or(Refusal::Destroyed("filter"))?;
            (found.destroy()?, filters.remove(&id))
        };
        common.objects.remove(&id);
        drop(removed);
        self.clean(common);
        if let Some(filter) = destroyed {
            self.destroyed.lock().insert(number, filter);
        }
        Ok(())
    }

    /// Removes the records of destroyed filters that nothing has attached any more.
    fn clean(&self, common: &Common) {
        self.destroyed.lock().retain(|number, filter| {
            let is_attached = filter.is_attached();
            if !is_attached {
                // After the records of connections that have just ended with the filter attached.
                common.forget(Change::Filter(*number, None));
            }
            is_attached
        });
    }

    /// Removes a filter that could not be made.
    fn cancel(&self, common: &Common, number: u64) {
        let removed = self.filters.write().remove(&common.objects.id_of(number));
        drop(removed);
    }
}

/// Filter that its client has left.
pub(crate) struct Left {
    common: Arc<Common>,
    registry: Arc<Registry>,
    id: Vec<u8>,
}

impl Left {
    /// Removes the filter, unless it has been attached meanwhile. Blocks.
    fn remove(&self) {
        let removed = {
            let mut filters = self.registry.filters.write();
            let Some(found) = filters.get(&self.id).filter(|made| !made.is_attached()) else {
                return;
            };
            if let Err(refusal) = found.destroy() {
                return tracing::warn!(
                    "a filter that its client has left is not removed: {refusal}"
                );
            }
            filters.remove(&self.id)
        };
        self.common.objects.remove(&self.id);
        if let Some(Made::Forwarding(filter)) = &removed {
            filter.callbacks.forget(&self.common);
        }
        tracing::info!("a filter is removed, as it is attached to nothing and unused");
    }
}

impl Watched for Left {
    fn is_abandoned(&self, _: Instant) -> bool {
        true
    }

    fn is_lost(&self) -> bool {
        false
    }

    fn end(&self) {
        let this = Self {
            common: self.common.clone(),
            registry: self.registry.clone(),
            id: self.id.clone(),
        };
        self.common.checks.run(move || this.remove());
    }
}

/// Servant of the filter factory.
#[derive(Clone, Debug)]
pub(crate) struct Factory {
    pub(crate) common: Arc<Common>,
    pub(crate) registry: Arc<Registry>,
}

impl Factory {
    fn removal(&self, number: u64) -> Removal {
        // The registry has the filter, which must not own it.
        let (common, registry) = (self.common.clone(), Arc::downgrade(&self.registry));
        Removal(Box::new(move || match registry.upgrade() {
            Some(registry) => registry.remove(&common, number),
            None => Ok(()),
        }))
    }

    /// Makes a filter with a number.
    pub(super) fn forwarding(&self, number: u64, grammar: Grammar) -> Arc<Forwarding> {
        let (common, removal) = (self.common.clone(), self.removal(number));
        Arc::new(Forwarding::new(common, removal, number, grammar))
    }

    /// Makes a mapping filter with a number, if the constraints of all filters have no more than so many bytes then.
    ///
    /// # Errors
    /// They would have more.
    pub(super) fn mapping(
        &self,
        number: u64,
        of: (Grammar, &Any),
        most: usize,
    ) -> Result<Arc<Mapping>, Refusal> {
        let taken = self.common.constraints.take(bytes_of(of.1), most)?;
        let removal = self.removal(number);
        Ok(Arc::new(Mapping::new(
            &self.common,
            removal,
            number,
            of,
            taken,
        )))
    }

    /// Returns the filter that a reference leads to, for another service.
    ///
    /// # Errors
    /// As of [`Registry::forwarding`]; it is a filter of another server.
    pub(crate) fn external(&self, filter: &Filter) -> Result<EventFilter, Refusal> {
        let found = self.registry.forwarding(&self.common, filter)?;
        let found = found.ok_or(Refusal::FilterBeforeLog)?;
        Ok(EventFilter::new(filter.clone(), found))
    }

    /// Adds the object of a filter.
    pub(super) fn serve<I, S>(&self, number: u64, servant: S) -> Result<I, Refusal>
    where
        I: Interface + Implements<S>,
    {
        let id = self.common.objects.id_of(number);
        Ok(self.common.objects.add(&id, I::servant(servant))?)
    }

    /// Adds a new filter to the registry and the store.
    fn add(&self, number: u64, made: Made) -> Result<(), Refusal> {
        self.registry.add(&self.common, number, made.clone())?;
        let kept = made.keep();
        kept.inspect_err(|_| self.registry.cancel(&self.common, number))
    }

    fn create(&self, grammar: Grammar) -> Result<Filter, Refusal> {
        let number = self.common.objects.number();
        let filter = self.forwarding(number, grammar);
        self.add(number, Made::Forwarding(filter.clone()))?;
        self.serve(number, filter)
    }

    fn create_mapping(&self, of: (Grammar, &Any)) -> Result<MappingFilter, Refusal> {
        let number = self.common.objects.number();
        let filter = self.mapping(number, of, self.common.limits.constraint_bytes)?;
        self.add(number, Made::Mapping(filter.clone()))?;
        self.serve(number, filter)
    }
}

impl FilterFactoryServant for Factory {
    fn create_filter(
        &self,
        constraint_grammar: &str,
    ) -> Result<Option<Filter>, FilterFactoryCreateFilterError> {
        let grammar = Grammar::named(constraint_grammar).ok_or(InvalidGrammar)?;
        let filter = self.create(grammar).map_err(SystemException::from)?;
        Ok(Some(filter))
    }

    fn create_mapping_filter(
        &self,
        constraint_grammar: &str,
        default_value: &Any,
    ) -> Result<Option<MappingFilter>, FilterFactoryCreateMappingFilterError> {
        let grammar = Grammar::named(constraint_grammar).ok_or(InvalidGrammar)?;
        let filter = self.create_mapping((grammar, default_value));
        Ok(Some(filter.map_err(SystemException::from)?))
    }
}

#[cfg(test)]
pub(super) mod tests;
