//! Interface between the service and its store.

use std::fmt::Debug;

use super::StoreError;
use super::change::{Change, Loading};
use super::shared::SharedStore;

/// Persistent store for the contexts and bindings of a naming service.
pub trait Store: Debug + Send + Sync {
    /// Returns the number that distinguishes this store from all others: it is part of the
    /// references to its contexts.
    fn identity(&self) -> u64;

    /// Returns true if a commit waits for a disk or another machine, so that other requests are to be served meanwhile.
    fn blocks(&self) -> bool {
        true
    }

    /// Returns the length of the store in bytes, if it is a file of this machine.
    fn bytes(&self) -> Option<u64> {
        None
    }

    /// Returns the interface of stores that other servers change, too, if this is one.
    /// [`Store::commit`] is not called then.
    fn shared(&self) -> Option<&dyn SharedStore> {
        None
    }

    /// Passes on all records; called once, before any commit.
    ///
    /// # Errors
    /// The records cannot be read.
    fn load(&self, loading: &mut dyn Loading) -> Result<(), StoreError>;

    /// Stores changes, all or nothing, and returns when they are durable. Called by one thread at a
    /// time.
    ///
    /// # Errors
    /// The changes are not stored, and will not be visible after any later commit.
    fn commit(&self, changes: &[Change]) -> Result<(), StoreError>;
}
