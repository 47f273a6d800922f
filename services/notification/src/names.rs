//! Names of channels and administrators, by the numbers of their objects. The standard knows ids alone, which a service
//! gives; a name stays the same from one service to the next.

use std::collections::HashMap;

use parking_lot::{Mutex, MutexGuard};

/// Names by number.
#[derive(Debug, Default)]
pub(crate) struct Names(Mutex<HashMap<u64, String>>);

impl Names {
    /// Takes over the names that a store has kept.
    pub(crate) fn restore(&self, kept: &[(u64, String)]) {
        self.0.lock().extend(kept.iter().cloned());
    }

    /// Returns the name of an object; empty without one.
    pub(crate) fn of(&self, number: u64) -> String {
        self.0.lock().get(&number).cloned().unwrap_or_default()
    }

    /// Returns all names, so that none changes meanwhile.
    pub(crate) fn lock(&self) -> MutexGuard<'_, HashMap<u64, String>> {
        self.0.lock()
    }

    /// Takes the name of an object away; returns whether it had one.
    pub(crate) fn remove(&self, number: u64) -> bool {
        self.0.lock().remove(&number).is_some()
    }
}
