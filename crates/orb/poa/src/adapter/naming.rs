//! Names of an adapter, and the parts of its objects' names.

use crate::key::AdapterId;
use crate::policy::Policies;
use std::sync::atomic::AtomicU64;

/// Names of an adapter, and the source of its objects' ids.
pub(super) struct Naming {
    /// Name among the children of its parent.
    pub(super) name: String,
    /// Id in keys of transient objects.
    pub(super) id: AdapterId,
    /// Names from the root down, each ended by a NUL.
    pub(super) path: Box<[u8]>,
    /// Set if an object's entry in the map is its whole id.
    pub(super) ids_are_entries: bool,
    /// Number of assigned ids that are no entries.
    pub(super) assigned: AtomicU64,
}

impl Naming {
    /// Makes the names of an adapter below the one with path `above`.
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
