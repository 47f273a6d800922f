//! From ids to places.

mod hash;
mod perfect;
mod shortcuts;

use super::entry::Entry;
use super::slots::Slots;
use hash::HashIndex;
use perfect::PerfectIndex;

pub(super) use shortcuts::Shortcuts;

/// How objects are found by their ids.
#[derive(Clone, Debug)]
pub(crate) enum Strategy {
    /// By the place that is in the key; an id that comes without one is hashed.
    Active,
    /// By a search through all places.
    Linear,
    /// By a hash of the id.
    DynamicHash,
    /// By a hash without collisions, of ids that are known beforehand. No others can be activated.
    PerfectHash(Vec<Box<[u8]>>),
    /// By one hash of the id and the operation.
    DeLayered,
}

/// Two of the ids for a perfect hash are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DuplicateId;

/// Places by id. What is changed is changed under the map's mutex; what is looked for is found without.
pub(super) enum Index {
    Hash(Box<HashIndex>),
    Perfect(Box<PerfectIndex>),
    /// There is none: all places are asked.
    Linear,
}

impl Index {
    pub(super) fn new(strategy: &Strategy) -> Result<Self, DuplicateId> {
        Ok(match strategy {
            Strategy::Active | Strategy::DynamicHash | Strategy::DeLayered => {
                Self::Hash(Box::new(HashIndex::new()))
            }
            Strategy::PerfectHash(ids) => Self::Perfect(Box::new(PerfectIndex::new(ids)?)),
            Strategy::Linear => Self::Linear,
        })
    }

    /// Asks `is` about places whose id may be this, until it gives something.
    pub(super) fn find<R>(
        &self,
        slots: &Slots<Entry>,
        id: &[u8],
        mut is: impl FnMut(u32) -> Option<R>,
    ) -> Option<R> {
        match self {
            Self::Hash(hash) => hash.find(slots, id, is),
            Self::Perfect(perfect) => perfect.find(id, is),
            Self::Linear => (0..slots.count()).find_map(&mut is),
        }
    }

    /// Whether there can be such an id.
    pub(super) fn may_have(&self, id: &[u8]) -> bool {
        match self {
            Self::Perfect(perfect) => perfect.has(id),
            Self::Hash(_) | Self::Linear => true,
        }
    }

    /// Whether there can be no other ids than those it was made with.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self, Self::Perfect(_))
    }

    /// Makes a place be found by its id.
    pub(super) fn insert(&self, slots: &Slots<Entry>, id: &[u8], index: u32) {
        match self {
            Self::Hash(hash) => hash.insert(slots, id, index),
            Self::Perfect(perfect) => perfect.insert(id, index),
            Self::Linear => {}
        }
    }

    /// Makes a place be found no more.
    pub(super) fn remove(&self, slots: &Slots<Entry>, id: &[u8], index: u32) {
        match self {
            Self::Hash(hash) => hash.remove(slots, id, index),
            Self::Perfect(perfect) => perfect.remove(id),
            Self::Linear => {}
        }
    }
}
