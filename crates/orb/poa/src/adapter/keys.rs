//! Names of an adapter and its objects: ids and object keys.

use super::types::Adapter;
use crate::key::{self, Nonce};
use crate::object_id::ObjectId;
use crate::object_map::EntryId;
use std::sync::atomic::Ordering;

impl Adapter {
    /// Returns the names of the adapters from the root down to this one, each ended by a NUL.
    pub(super) fn path(&self) -> &[u8] {
        &self.naming.path
    }

    /// Returns whether the object map assigns the ids, from its entries. It does not for persistent
    /// objects, whose ids have to stay unique after a restart.
    pub(crate) fn map_assigns_ids(&self) -> bool {
        self.policies.has_system_ids() && self.policies.retains() && !self.policies.is_persistent()
    }

    /// Returns an id that no other object has, or had before a restart.
    pub(crate) fn assign_id(&self) -> ObjectId {
        let number = self.naming.assigned.fetch_add(1, Ordering::Relaxed);
        let id = [self.naming.id.nonce.octets(), number.to_be_bytes()];
        id.as_flattened().into()
    }

    /// Returns whether this adapter may have assigned the id. For a persistent adapter this cannot
    /// be known exactly, as the id may be from before a restart.
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

    /// Returns the object key of the object at an entry of the map.
    pub(crate) fn key_of(&self, entry_id: EntryId, id: Option<&[u8]>) -> Vec<u8> {
        match id {
            None if self.naming.ids_are_entries => {
                key::of_entry(self.naming.id.nonce, self.naming.id.name, entry_id)
            }
            None => self.key(&entry_id.octets(), Some(entry_id)),
            Some(id) => self.key(id, Some(entry_id)),
        }
    }

    /// Returns the object key of an object with this id, with its map entry if it has one.
    pub(crate) fn key(&self, id: &[u8], entry_id: Option<EntryId>) -> Vec<u8> {
        if self.policies.is_persistent() {
            return match &self.common.repository {
                Some(repository) => key::of_server(repository.server_id(), self.path(), id),
                None => key::persistent(self.path(), id),
            };
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
