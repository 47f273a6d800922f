//! What clients state at an administrator or a proxy, as a change is to make it, and as a store keeps it.

use crate::filter::{FilterList, Mappings, Restored, mappings, number};
use crate::kept;
use crate::qos::Settings;
use crate::refusal::Refusal;
use crate::types::{self, Types};

/// State as a change is to make it.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) settings: Settings,
    pub(crate) filters: FilterList,
    pub(crate) mappings: Mappings,
    pub(crate) types: Types,
    pub(crate) wants_updates: bool,
    pub(crate) is_suspended: bool,
}

impl Draft {
    /// Reads the state that a store has kept.
    ///
    /// # Errors
    /// A filter was not kept.
    pub(crate) fn of_kept(kept: &kept::State, restored: &Restored) -> Result<Self, Refusal> {
        let mut filters = FilterList::default();
        for one in &kept.filters {
            filters.insert(one.id, restored.attached(one)?);
        }
        Ok(Self {
            settings: Settings::of_kept(&kept.quality),
            filters,
            mappings: Mappings {
                priority: restored.mapped(kept.priority_filter, &kept.priority_reference)?,
                lifetime: restored.mapped(kept.lifetime_filter, &kept.lifetime_reference)?,
            },
            types: Types::of(kept.has_types.then_some(&kept.types)),
            wants_updates: kept.wants_updates,
            is_suspended: kept.is_suspended,
        })
    }

    pub(crate) fn to_kept(&self) -> kept::State {
        let types = match &self.types {
            Types::All => Vec::new(),
            Types::Only(patterns) => patterns.iter().map(types::event_type).collect(),
        };
        kept::State {
            quality: self.settings.to_properties(),
            has_types: self.types != Types::All,
            types,
            filters: self.filters.to_kept(),
            priority_filter: number(&self.mappings.priority),
            lifetime_filter: number(&self.mappings.lifetime),
            priority_reference: mappings::text(&self.mappings.priority),
            lifetime_reference: mappings::text(&self.mappings.lifetime),
            wants_updates: self.wants_updates,
            is_suspended: self.is_suspended,
        }
    }
}
