//! Strategies for finding objects, for comparison (Gokhale and Schmidt 1998), beside the hash of
//! ids that each map has.

mod perfect;
mod shortcuts;

use super::super::entry::Entry;
use super::super::slots::Slots;
use super::HashIndex;
use perfect::PerfectIndex;
use shortcuts::Shortcuts;

pub(crate) use perfect::DuplicateId;

/// Strategy by which requests find objects. All but the first are for comparison.
#[derive(Clone, Debug)]
pub(crate) enum Strategy {
    /// By the map entry in the object key; an id without an entry is hashed.
    Active,
    /// Finds an object by comparing its id with all entries of the map.
    Linear,
    /// Finds an object by a hash of its id.
    DynamicHash,
    /// By a perfect hash: no collisions, over ids that are known beforehand. No others can be
    /// activated.
    PerfectHash(Vec<Box<[u8]>>),
    /// By one hash of the id and the operation together.
    DeLayered,
}

/// Lookup structure of a strategy for comparison, beside the hash of ids that each map has. Changes
/// are made under the map's mutex; lookups take no lock.
pub(crate) enum Comparison {
    /// Linear search without a lookup structure: the id is compared with all entries.
    Linear,
    /// The map's hash of ids; the entry that the object key names is ignored.
    DynamicHash,
    Perfect(Box<PerfectIndex>),
    /// A cache of pairs of object and operation; the hash of ids on a miss.
    DeLayered(Box<Shortcuts>),
}

impl Comparison {
    /// Makes the lookup structure of a strategy; `None` for the strategy that is not for
    /// comparison.
    pub(crate) fn new(strategy: &Strategy) -> Result<Option<Self>, DuplicateId> {
        Ok(Some(match strategy {
            Strategy::Active => return Ok(None),
            Strategy::Linear => Self::Linear,
            Strategy::DynamicHash => Self::DynamicHash,
            Strategy::PerfectHash(ids) => Self::Perfect(Box::new(PerfectIndex::new(ids)?)),
            Strategy::DeLayered => Self::DeLayered(Box::new(Shortcuts::new())),
        }))
    }

    /// Calls `is` for the entries that may have this id, until it returns a value.
    pub(crate) fn find<R>(
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

    /// Returns whether an object with this id can be activated.
    pub(crate) fn may_have(&self, id: &[u8]) -> bool {
        match self {
            Self::Perfect(perfect) => perfect.has(id),
            _ => true,
        }
    }

    /// Returns whether only the ids given at construction can be activated.
    pub(crate) fn is_complete(&self) -> bool {
        matches!(self, Self::Perfect(_))
    }

    /// Adds an entry under its id. `objects` is the number of active objects after that.
    pub(crate) fn insert(&self, id: &[u8], index: u32, objects: usize) {
        match self {
            Self::Perfect(perfect) => perfect.insert(id, index),
            Self::DeLayered(shortcuts) => shortcuts.reserve(objects),
            Self::Linear | Self::DynamicHash => {}
        }
    }

    /// Removes the entry with this object id from the lookup structure.
    pub(crate) fn remove(&self, id: &[u8]) {
        if let Self::Perfect(perfect) = self {
            perfect.remove(id);
        }
    }

    pub(crate) fn shortcuts(&self) -> Option<&Shortcuts> {
        match self {
            Self::DeLayered(shortcuts) => Some(shortcuts),
            _ => None,
        }
    }
}
