//! What an adapter and its objects are called: ids and object keys.

use super::types::Adapter;
use crate::key::{self, Nonce};
use crate::object_id::ObjectId;
use crate::object_map::EntryId;
use std::sync::atomic::Ordering;

impl Adapter {
    /// The names from the root down, each ended by a NUL.
    pub(super) fn path(&self) -> &[u8] {
        &self.naming.path
    }

    /// Whether the map assigns ids, by its entries: not where they are to hold after a restart.
    pub(crate) fn map_assigns_ids(&self) -> bool {
        self.policies.has_system_ids() && self.policies.retains() && !self.policies.is_persistent()
    }

    /// An id that no other object has, nor had before a restart.
    pub(crate) fn assign_id(&self) -> ObjectId {
        let number = self.naming.assigned.fetch_add(1, Ordering::Relaxed);
        let id = [self.naming.id.nonce.octets(), number.to_be_bytes()];
        id.as_flattened().into()
    }

    /// Whether this adapter may have assigned the id, as far as can be told: one of a persistent adapter's
    /// may be from before a restart.
    pub(crate) fn may_have_assigned(&self, id: &ObjectId) -> bool {
        let id = id.as_bytes();
        if self.map_assigns_ids()
            && let Some(map) = &self.dispatch.map
        {
            return EntryId::of(id).is_some_and(|entry_id| map.has_been(entry_id));
        }
        id.len() == 16
            && (self.policies.is_persistent() || id.starts_with(&self.naming.id.nonce.octets()))
    }

    /// The key of the object at an entry.
    pub(crate) fn key_of(&self, entry_id: EntryId, id: Option<&[u8]>) -> Vec<u8> {
        match id {
            None if self.naming.ids_are_entries => {
                key::of_entry(self.naming.id.nonce, self.naming.id.name, entry_id)
            }
            None => self.key(&entry_id.octets(), Some(entry_id)),
            Some(id) => self.key(id, Some(entry_id)),
        }
    }

    /// The key of an object by its id, and by the entry that it has, if it has one.
    pub(crate) fn key(&self, id: &[u8], entry_id: Option<EntryId>) -> Vec<u8> {
        if self.policies.is_persistent() {
            return key::persistent(&self.naming.path, id);
        }
        key::named(self.naming.id.nonce, self.naming.id.name, entry_id, id)
    }

    pub(crate) fn is_at(&self, path: &[u8]) -> bool {
        self.policies.is_persistent() && *self.naming.path == *path
    }

    pub(crate) fn nonce(&self) -> Nonce {
        self.naming.id.nonce
    }
}
