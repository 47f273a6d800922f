//! Filters that a store has kept.

use std::collections::HashMap;

use punctual::{Interface, Orb};
use punctual_constraint::Grammar;

use super::attached::{AttachedFilter, Judge};
use super::exceptions::BadConstraints;
use super::external::EventFilter;
use super::foreign::{Foreign, Target};
use super::mappings::{AttachedMapping, Mapper};
use super::registry::{Factory, Made};
use crate::kept;
use crate::refusal::Refusal;

/// Filters that were kept, by number; also those that clients have destroyed.
#[derive(Debug)]
pub(crate) struct Restored {
    factory: Factory,
    orb: Orb,
    filters: HashMap<u64, Made>,
}

impl Restored {
    pub(crate) fn new(factory: Factory, orb: &Orb) -> Self {
        Self {
            factory,
            orb: orb.clone(),
            filters: HashMap::new(),
        }
    }

    /// Makes a filter that was kept, and serves it unless a client has destroyed it.
    ///
    /// # Errors
    /// Its grammar or a constraint is not known.
    pub(crate) fn add(&mut self, number: u64, filter: &kept::Filter) -> Result<(), Refusal> {
        let unknown = || Refusal::NoResources(format!("the grammar `{}`", filter.grammar));
        let grammar = Grammar::named(&filter.grammar).ok_or_else(unknown)?;
        let made = match filter.is_mapping {
            true => self.mapping(number, grammar, filter)?,
            false => self.forwarding(number, grammar, filter)?,
        };
        if !filter.is_destroyed {
            let (common, registry) = (&self.factory.common, &self.factory.registry);
            registry.restore(common, number, made.clone());
        }
        self.filters.insert(number, made);
        Ok(())
    }

    fn forwarding(
        &self,
        number: u64,
        grammar: Grammar,
        kept: &kept::Filter,
    ) -> Result<Made, Refusal> {
        let filter = self.factory.forwarding(number, grammar);
        filter.constraints.restore(kept).map_err(wrong)?;
        if !kept.is_destroyed {
            let _: crate::cos_notify_filter::Filter = self.factory.serve(number, filter.clone())?;
        }
        Ok(Made::Forwarding(filter))
    }

    fn mapping(&self, number: u64, grammar: Grammar, kept: &kept::Filter) -> Result<Made, Refusal> {
        let filter = self
            .factory
            .mapping(number, (grammar, &kept.default_value), usize::MAX)?;
        filter.constraints.restore(kept).map_err(wrong)?;
        if !kept.is_destroyed {
            let _: crate::cos_notify_filter::MappingFilter =
                self.factory.serve(number, filter.clone())?;
        }
        Ok(Made::Mapping(filter))
    }

    /// Makes a callback that was kept, of a filter that is there.
    ///
    /// # Errors
    /// Its reference is damaged.
    pub(crate) fn add_callback(&self, number: u64, kept: &kept::Callback) -> Result<(), Refusal> {
        match self.filters.get(&kept.filter) {
            Some(Made::Forwarding(filter)) => filter.callbacks.restore(&self.orb, number, kept),
            _ => Ok(()),
        }
    }

    /// Returns a filter for another service.
    ///
    /// # Errors
    /// It was not kept, or is a mapping filter.
    pub(crate) fn external(&self, number: u64) -> Result<EventFilter, Refusal> {
        match self.filters.get(&number) {
            Some(Made::Forwarding(filter)) => {
                Ok(EventFilter::new(self.reference(number)?, filter.clone()))
            }
            _ => Err(absent(number)),
        }
    }

    /// Returns a filter, to be attached.
    ///
    /// # Errors
    /// It was not kept, or is a mapping filter; the reference of a foreign one is damaged.
    pub(crate) fn attached(&self, kept: &kept::Attachment) -> Result<AttachedFilter, Refusal> {
        if !kept.reference.is_empty() {
            let place = (&self.orb, kept.reference.as_str());
            let (reference, foreign) =
                Foreign::restore(&self.factory.common, place, Target::Filter)?;
            return Ok((reference, Judge::Foreign(foreign)));
        }
        match self.filters.get(&kept.filter) {
            Some(Made::Forwarding(filter)) => {
                Ok((self.reference(kept.filter)?, Judge::Here(filter.clone())))
            }
            _ => Err(absent(kept.filter)),
        }
    }

    /// Returns a mapping filter of this service by its number, or a foreign one by its reference, to be attached; 0 without
    /// a reference is none.
    ///
    /// # Errors
    /// It was not kept, or is none that maps; the reference is damaged.
    pub(crate) fn mapped(&self, number: u64, reference: &str) -> Result<AttachedMapping, Refusal> {
        if !reference.is_empty() {
            let place = (&self.orb, reference);
            let (reference, foreign) =
                Foreign::restore(&self.factory.common, place, Target::Mapping)?;
            return Ok(Some((reference, Mapper::Foreign(foreign))));
        }
        match self.filters.get(&number) {
            _ if number == 0 => Ok(None),
            Some(Made::Mapping(filter)) => Ok(Some((
                self.reference(number)?,
                Mapper::Here(filter.clone()),
            ))),
            _ => Err(absent(number)),
        }
    }

    fn reference<I: Interface>(&self, number: u64) -> Result<I, Refusal> {
        let objects = &self.factory.common.objects;
        Ok(objects.reference(&objects.id_of(number))?)
    }
}

fn absent(number: u64) -> Refusal {
    Refusal::NoResources(format!("filter {number} was not kept"))
}

fn wrong(bad: BadConstraints) -> Refusal {
    Refusal::NoResources(format!("a constraint is not known: {bad:?}"))
}
