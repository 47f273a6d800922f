//! What an adapter is called, and what the names of its objects are made of.

use crate::key::AdapterId;
use crate::policy::Policies;
use std::sync::atomic::AtomicU64;

/// An adapter's names, and what it makes names of.
pub(super) struct Naming {
    /// Of those below the same parent.
    pub(super) name: String,
    /// In keys of transient objects.
    pub(super) id: AdapterId,
    /// The names from the root down, each ended by a NUL.
    pub(super) path: Box<[u8]>,
    /// Whether an object's entry in the map is all of its id.
    pub(super) ids_are_entries: bool,
    /// Ids that were assigned and are no entries.
    pub(super) assigned: AtomicU64,
}

impl Naming {
    /// Of an adapter of this name below the one with a path.
    pub(super) fn new(
        id: AdapterId,
        above: Option<&[u8]>,
        name: String,
        policies: &Policies,
    ) -> Self {
        let path = match above {
            Some(above) => [above, name.as_bytes(), &[0]].concat().into(),
            None => Box::default(),
        };
        Self {
            name,
            id,
            path,
            ids_are_entries: policies.retains()
                && !policies.finds_objects_otherwise()
                && policies.has_system_ids()
                && !policies.is_persistent(),
            assigned: AtomicU64::new(0),
        }
    }
}
