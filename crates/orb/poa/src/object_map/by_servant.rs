//! Index from servants to their entries. All access is under the map's mutex.

use super::entry::EntryId;
use super::sync::RandomState;
use crate::servant::Identity;
use hashbrown::HashTable;
use std::collections::HashMap;

use std::hash::BuildHasher;

/// Kind of index over servants that a map keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Servants {
    /// No index: a servant may be active under many ids, and no servant is looked up.
    NotIndexed,
    /// Servants, each active under at most one id, with their entries.
    Unique,
    /// Servants, each with the number of ids under which it is active.
    Counted,
}

/// Index from servants to their entries in the map.
pub(super) struct ByServant {
    hasher: RandomState,
    noted: Noted,
}

enum Noted {
    Nothing,
    /// Pairs of a servant's hash and its entry's index. The servant itself is compared in its slot,
    /// which saves two thirds of the memory.
    Unique(HashTable<(u32, u32)>),
    Counted(HashMap<Identity, u32>),
}

impl ByServant {
    pub(super) fn new(servants: Servants) -> Self {
        Self {
            hasher: RandomState::new(),
            noted: match servants {
                Servants::NotIndexed => Noted::Nothing,
                Servants::Unique => Noted::Unique(HashTable::new()),
                Servants::Counted => Noted::Counted(HashMap::new()),
            },
        }
    }

    /// Returns the index of the entry at which a servant is active. `is` returns whether the entry
    /// at an index has this servant.
    pub(super) fn index_of(&self, identity: Identity, is: impl Fn(u32) -> bool) -> Option<u32> {
        let Noted::Unique(table) = &self.noted else {
            return None;
        };
        let hash = self.hash(identity);
        let found = table.find(spread(hash), |&(other, index)| other == hash && is(index))?;
        Some(found.1)
    }

    /// Returns whether the servant incarnates any active object.
    pub(super) fn has(&self, identity: Identity, is: impl Fn(u32) -> bool) -> bool {
        match &self.noted {
            Noted::Counted(counts) => counts.contains_key(&identity),
            _ => self.index_of(identity, is).is_some(),
        }
    }

    /// Records that a servant is active at an entry.
    pub(super) fn note(&mut self, identity: Identity, entry_id: EntryId) {
        let hash = self.hash(identity);
        match &mut self.noted {
            Noted::Nothing => {}
            Noted::Unique(table) => {
                table.insert_unique(spread(hash), (hash, entry_id.index), |&(hash, _)| {
                    spread(hash)
                });
            }
            Noted::Counted(counts) => *counts.entry(identity).or_insert(0) += 1,
        }
    }

    /// Removes the record of a servant at an entry.
    pub(super) fn forget(&mut self, identity: Identity, entry_id: EntryId) {
        let hash = self.hash(identity);
        match &mut self.noted {
            Noted::Nothing => {}
            Noted::Unique(table) => {
                let noted = (hash, entry_id.index);
                if let Ok(found) = table.find_entry(spread(hash), |&other| other == noted) {
                    found.remove();
                }
            }
            Noted::Counted(counts) => {
                if let Some(count) = counts.get_mut(&identity) {
                    *count -= 1;
                    if *count == 0 {
                        counts.remove(&identity);
                    }
                }
            }
        }
    }

    fn hash(&self, identity: Identity) -> u32 {
        self.hasher.hash_one(identity) as u32
    }
}

/// Spreads a hash to 64 bits, as the table uses both ends of it.
fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}
