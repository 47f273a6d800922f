//! Names of an adapter, and the parts of its objects' names.

use crate::key::AdapterId;
use crate::policy::Policies;
use std::sync::atomic::AtomicU64;

/// Names of an adapter, and the source of the ids that it assigns to objects.
pub(super) struct Naming {
    /// Name of the adapter among the children of its parent.
    pub(super) name: String,
    /// Id that names the adapter in the keys of transient objects.
    pub(super) id: AdapterId,
    /// Names of the adapters from the root down to this one, each ended by a NUL.
    pub(super) path: Box<[u8]>,
    /// Set if the objects' ids are their entries in the map.
    pub(super) ids_are_entries: bool,
    /// Number of ids assigned so far that are not map entries.
    pub(super) assigned: AtomicU64,
}

impl Naming {
    /// Makes the names of an adapter whose parent has path `above`.
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
