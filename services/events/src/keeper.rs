//! The store of a service while it is served.

use std::sync::Arc;

use parking_lot::RwLock;
use punctual_exec::SpawnError;
use punctual_host::store::{Change, ChangeStore, StoreError};

use crate::workers::Workers;

/// Store of a service, if it has one, until the service stops; and a thread that removes records.
#[derive(Debug)]
pub struct Keeper<C> {
    /// Locked while changes are made, so that it is not given up meanwhile.
    store: RwLock<Option<Arc<ChangeStore<C>>>>,
    removals: Workers,
}

impl<C: Change + 'static> Keeper<C> {
    /// Makes the keeper of a store, with the name of its thread.
    ///
    /// # Errors
    /// The system starts no threads.
    pub fn start(
        thread: &'static str,
        store: Option<Arc<ChangeStore<C>>>,
    ) -> Result<Self, SpawnError> {
        Ok(Self {
            store: RwLock::new(store),
            removals: Workers::new(thread, 1)?,
        })
    }

    /// Makes changes durable, all or none, if the service has a store. Blocks.
    ///
    /// # Errors
    /// They cannot be written; then nothing has changed.
    pub fn keep(&self, changes: Vec<C>) -> Result<(), StoreError> {
        let store = self.store.read();
        let Some(store) = store.as_ref().filter(|_| !changes.is_empty()) else {
            return Ok(());
        };
        // Other requests of the same connection continue, so that they get into the same commit.
        punctual::about_to_block();
        store.change(changes)
    }

    /// Removes a record on another thread: that of a connection that has ended. One that is found after a crash ends again,
    /// as its peer does not exist.
    pub fn forget(&self, removal: C) {
        let Some(store) = self.store.read().clone() else {
            return;
        };
        self.removals.run(move || {
            // Reported where it is written.
            let _ = store.change(vec![removal]);
        });
    }

    /// Gives the store up, once all removals and changes in progress are durable. Changes to come are not kept.
    pub fn stop(&self) {
        self.removals.finish();
        let store = self.store.write().take();
        drop(store);
    }
}
