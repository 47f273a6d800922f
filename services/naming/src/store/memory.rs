//! Stand-in for a store: bindings end with the process.

use super::StoreError;
use super::change::{Change, Loading};
use super::contract::Store;

/// Naming store without persistence: bindings are lost when the process ends.
#[derive(Debug)]
pub struct MemoryStore {
    identity: u64,
}

impl MemoryStore {
    /// Returns an empty store. References to its contexts are invalid once the process has ended.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn new() -> Result<Self, StoreError> {
        let identity = getrandom::u64().map_err(StoreError::io)?;
        Ok(Self { identity })
    }
}

impl Store for MemoryStore {
    fn identity(&self) -> u64 {
        self.identity
    }

    fn blocks(&self) -> bool {
        false
    }

    fn load(&self, _: &mut dyn Loading) -> Result<(), StoreError> {
        Ok(())
    }

    fn commit(&self, _: &[Change]) -> Result<(), StoreError> {
        Ok(())
    }
}
