//! The contract between the service and its store.

use std::fmt::Debug;

use super::StoreError;
use super::change::{Change, Loading};
use super::shared::SharedStore;

/// Store of contexts and bindings.
pub trait Store: Debug + Send + Sync {
    /// A number that tells this store from all others: it is part of the references to its contexts.
    fn identity(&self) -> u64;

    /// Returns true if a commit waits for a disk or another machine, so that other requests are to be served meanwhile.
    fn blocks(&self) -> bool {
        true
    }

    /// Bytes that it takes, where it is a file of this machine.
    fn bytes(&self) -> Option<u64> {
        None
    }

    /// The store as one that other servers change, too, if it is one. [`Store::commit`] is not called then.
    fn shared(&self) -> Option<&dyn SharedStore> {
        None
    }

    /// Hands over all records; called once, before any commit.
    ///
    /// # Errors
    /// They cannot be read.
    fn load(&self, loading: &mut dyn Loading) -> Result<(), StoreError>;

    /// Keeps changes, all or nothing, and returns when they are durable. Called by one thread at a time.
    ///
    /// # Errors
    /// They are not kept, and are not seen after any later commit.
    fn commit(&self, changes: &[Change]) -> Result<(), StoreError>;
}
