//! What the names of an adapter and its objects are made of.

use crate::key::Nonce;
use crate::policy::{Demultiplexing, Policies};
use std::sync::atomic::AtomicU64;

/// What an adapter makes names of.
pub(super) struct Naming {
    pub(super) nonce: Nonce,
    /// The names from the root down, each ended by a NUL.
    pub(super) path: Box<[u8]>,
    /// Whether an object's entry in the map is all of its id.
    pub(super) ids_are_entries: bool,
    /// Ids that were assigned and are no entries.
    pub(super) assigned: AtomicU64,
}

impl Naming {
    /// Of an adapter of this name below the one with a path.
    pub(super) fn new(nonce: Nonce, above: Option<&[u8]>, name: &str, policies: &Policies) -> Self {
        let path = match above {
            Some(above) => [above, name.as_bytes(), &[0]].concat().into(),
            None => Box::default(),
        };
        Self {
            nonce,
            path,
            ids_are_entries: policies.retains()
                && policies.demultiplexing == Demultiplexing::Active
                && policies.has_system_ids()
                && !policies.is_persistent(),
            assigned: AtomicU64::new(0),
        }
    }
}
