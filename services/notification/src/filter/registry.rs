//! Filters of the service, by reference, and the `FilterFactory` that makes them.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;
use punctual::{Any, Implements, Interface, SystemException};
use punctual_constraint::Grammar;

use super::constraints::Removal;
use super::forwarding::Forwarding;
use super::mapping::Mapping;
use crate::common::Common;
use crate::cos_notify_filter::{
    Filter, FilterFactoryCreateFilterError, FilterFactoryCreateMappingFilterError,
    FilterFactoryServant, InvalidGrammar, MappingFilter,
};
use crate::refusal::Refusal;

/// Filters, by the ids of their objects.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    filters: RwLock<HashMap<Vec<u8>, Made>>,
}

#[derive(Clone, Debug)]
enum Made {
    Forwarding(Arc<Forwarding>),
    Mapping(Arc<Mapping>),
}

impl Registry {
    /// Returns the filter that a reference leads to.
    ///
    /// # Errors
    /// It is not of this service, or has been destroyed.
    pub(crate) fn forwarding(
        &self,
        common: &Common,
        filter: &Filter,
    ) -> Result<Arc<Forwarding>, Refusal> {
        match self.find(common, filter)? {
            Made::Forwarding(found) => Ok(found),
            Made::Mapping(_) => Err(Refusal::FilterElsewhere),
        }
    }

    /// Returns the mapping filter that a reference leads to.
    ///
    /// # Errors
    /// It is not of this service, or has been destroyed.
    pub(crate) fn mapping(
        &self,
        common: &Common,
        filter: &MappingFilter,
    ) -> Result<Arc<Mapping>, Refusal> {
        match self.find(common, filter)? {
            Made::Mapping(found) => Ok(found),
            Made::Forwarding(_) => Err(Refusal::FilterElsewhere),
        }
    }

    fn find(&self, common: &Common, filter: &impl Interface) -> Result<Made, Refusal> {
        let id = common.objects.id_in(filter);
        let id = id.ok_or(Refusal::FilterElsewhere)?;
        self.filters
            .read()
            .get(&id)
            .cloned()
            .ok_or(Refusal::Destroyed)
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

    /// Removes a filter and its object. Proxies and administrators that it is attached to keep it.
    fn remove(&self, common: &Common, number: u64) {
        let id = common.objects.id_of(number);
        let removed = self.filters.write().remove(&id);
        common.objects.remove(&id);
        drop(removed);
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
        Removal(Box::new(move || {
            if let Some(registry) = registry.upgrade() {
                registry.remove(&common, number);
            }
        }))
    }

    fn filter(&self, grammar: Grammar) -> Result<Filter, Refusal> {
        let number = self.common.objects.number();
        let removal = self.removal(number);
        let filter = Arc::new(Forwarding::new(self.common.clone(), removal, grammar));
        self.registry
            .add(&self.common, number, Made::Forwarding(filter.clone()))?;
        let id = self.common.objects.id_of(number);
        let servant = <Filter as Implements<_>>::servant(filter);
        Ok(self.common.objects.add(&id, servant)?)
    }

    fn mapping(&self, of: (Grammar, &Any)) -> Result<MappingFilter, Refusal> {
        let number = self.common.objects.number();
        let filter = Arc::new(Mapping::new(&self.common, self.removal(number), of));
        self.registry
            .add(&self.common, number, Made::Mapping(filter.clone()))?;
        let id = self.common.objects.id_of(number);
        let servant = <MappingFilter as Implements<_>>::servant(filter);
        Ok(self.common.objects.add(&id, servant)?)
    }
}

impl FilterFactoryServant for Factory {
    fn create_filter(
        &self,
        constraint_grammar: &str,
    ) -> Result<Option<Filter>, FilterFactoryCreateFilterError> {
        let grammar = Grammar::named(constraint_grammar).ok_or(InvalidGrammar)?;
        let filter = self.filter(grammar).map_err(SystemException::from)?;
        Ok(Some(filter))
    }

    fn create_mapping_filter(
        &self,
        constraint_grammar: &str,
        default_value: &Any,
    ) -> Result<Option<MappingFilter>, FilterFactoryCreateMappingFilterError> {
        let grammar = Grammar::named(constraint_grammar).ok_or(InvalidGrammar)?;
        let filter = self.mapping((grammar, default_value));
        Ok(Some(filter.map_err(SystemException::from)?))
    }
}
