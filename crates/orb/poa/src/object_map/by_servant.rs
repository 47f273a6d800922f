//! From servants to their entries. All of it is under the map's mutex.

use super::entry::EntryId;
use super::sync::RandomState;
use crate::servant::Identity;
use hashbrown::HashTable;
use std::collections::HashMap;

use std::hash::BuildHasher;

/// What a map knows of its servants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Servants {
    /// Nothing: a servant may be active under many ids, and nobody asks.
    Unnoted,
    /// A servant is active under one id, and can be found by it.
    Unique,
    /// A servant may be active under many ids; how many is known.
    Counted,
}

/// Entries by servant.
pub(super) struct ByServant {
    hasher: RandomState,
    noted: Noted,
}

enum Noted {
    Nothing,
    /// Hash and index. Whether it is that servant says the slot: a third of the memory.
    Unique(HashTable<(u32, u32)>),
    Counted(HashMap<Identity, u32>),
}

impl ByServant {
    pub(super) fn new(servants: Servants) -> Self {
        Self {
            hasher: RandomState::new(),
            noted: match servants {
                Servants::Unnoted => Noted::Nothing,
                Servants::Unique => Noted::Unique(HashTable::new()),
                Servants::Counted => Noted::Counted(HashMap::new()),
            },
        }
    }

    /// The index of the entry that a servant is active at; `is` says whether the servant of an entry is this one.
    pub(super) fn index_of(&self, identity: Identity, is: impl Fn(u32) -> bool) -> Option<u32> {
        let Noted::Unique(table) = &self.noted else {
            return None;
        };
        let hash = self.hash(identity);
        let found = table.find(spread(hash), |&(other, index)| other == hash && is(index))?;
        Some(found.1)
    }

    /// Whether a servant is active anywhere.
    pub(super) fn has(&self, identity: Identity, is: impl Fn(u32) -> bool) -> bool {
        match &self.noted {
            Noted::Counted(counts) => counts.contains_key(&identity),
            _ => self.index_of(identity, is).is_some(),
        }
    }

    /// Notes that a servant is active at an entry.
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

    /// Forgets that a servant is active at an entry.
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

/// The table takes its bits from both ends of a hash.
fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}
