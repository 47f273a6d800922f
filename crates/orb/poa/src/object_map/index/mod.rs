//! Index from ids to entries: by a hash, which each map has, and for comparison in other ways.

mod hash;
mod perfect;
mod shortcuts;

use super::entry::Entry;
use super::slots::Slots;
use perfect::PerfectIndex;

pub(super) use hash::HashIndex;
pub(crate) use perfect::DuplicateId;
use shortcuts::Shortcuts;

/// Strategy by which requests find objects. All but the first are for comparison.
#[derive(Clone, Debug)]
pub(crate) enum Strategy {
    /// Use of the entry in the key; an id without one is hashed.
    Active,
    /// Search through all entries.
    Linear,
    /// Hash of the id.
    DynamicHash,
    /// Hash without collisions, of ids that are known beforehand. No others can be activated.
    PerfectHash(Vec<Box<[u8]>>),
    /// One hash of the id and the operation.
    DeLayered,
}

/// Data of a strategy for comparison, beside the hash of ids that each map has. Changes are made
/// under the map's mutex; searches take no lock.
pub(super) enum Comparison {
    /// No data: all entries are compared.
    Linear,
    /// Search in the hash, whatever entry a request names.
    DynamicHash,
    Perfect(Box<PerfectIndex>),
    /// Cache of objects and operations; others are searched in the hash.
    DeLayered(Box<Shortcuts>),
}

impl Comparison {
    /// Makes the data of a strategy; `None` for the one that is not for comparison.
    pub(super) fn new(strategy: &Strategy) -> Result<Option<Self>, DuplicateId> {
        Ok(Some(match strategy {
            Strategy::Active => return Ok(None),
            Strategy::Linear => Self::Linear,
            Strategy::DynamicHash => Self::DynamicHash,
            Strategy::PerfectHash(ids) => Self::Perfect(Box::new(PerfectIndex::new(ids)?)),
            Strategy::DeLayered => Self::DeLayered(Box::new(Shortcuts::new())),
        }))
    }

    /// Calls `is` for entries whose id may be this one, until it returns a value.
    pub(super) fn find<R>(
        &self,
        (slots, hash): (&Slots<Entry>, &HashIndex),
        id: &[u8],
        mut is: impl FnMut(u32) -> Option<R>,
    ) -> Option<R> {
        match self {
            Self::Linear => (0..slots.count()).find_map(&mut is),
            Self::Perfect(perfect) => perfect.find(id, is),
            Self::DynamicHash | Self::DeLayered(_) => hash.find(slots, id, is),
        }
    }

    /// Returns whether there can be such an id.
    pub(super) fn may_have(&self, id: &[u8]) -> bool {
        match self {
            Self::Perfect(perfect) => perfect.has(id),
            _ => true,
        }
    }

    /// Returns whether there can be no other ids than those given at the start.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self, Self::Perfect(_))
    }

    /// Makes an entry be found by its id; `objects` are active then.
    pub(super) fn insert(&self, id: &[u8], index: u32, objects: usize) {
        match self {
            Self::Perfect(perfect) => perfect.insert(id, index),
            Self::DeLayered(shortcuts) => shortcuts.reserve(objects),
            Self::Linear | Self::DynamicHash => {}
        }
    }

    /// Removes an entry from the index.
    pub(super) fn remove(&self, id: &[u8]) {
        if let Self::Perfect(perfect) = self {
            perfect.remove(id);
        }
    }

    pub(super) fn shortcuts(&self) -> Option<&Shortcuts> {
        match self {
            Self::DeLayered(shortcuts) => Some(shortcuts),
            _ => None,
        }
    }
}
