//! Names of channels and administrators, by the numbers of their objects. The standard knows ids alone, which a service
//! gives; a name stays the same from one service to the next.

use std::collections::HashMap;

use parking_lot::{Mutex, MutexGuard};

/// Names by number.
#[derive(Debug, Default)]
pub(crate) struct Names {
    names: Mutex<HashMap<u64, String>>,
    /// Held while an object is named, one at a time.
    order: Mutex<()>,
}

impl Names {
    /// Takes over the names that a store has kept.
    pub(crate) fn restore(&self, kept: &[(u64, String)]) {
        self.names.lock().extend(kept.iter().cloned());
    }

    /// Returns the name of an object; empty without one.
    pub(crate) fn of(&self, number: u64) -> String {
        self.names.lock().get(&number).cloned().unwrap_or_default()
    }

    /// Keeps others from naming an object until the guard is dropped.
    pub(crate) fn order(&self) -> MutexGuard<'_, ()> {
        self.order.lock()
    }

    /// Returns whether one of the objects has the name.
    pub(crate) fn is_taken(&self, name: &str, mut by: impl Iterator<Item = u64>) -> bool {
        let names = self.names.lock();
        by.any(|number| names.get(&number).is_some_and(|taken| taken == name))
    }

    /// Names an object.
    pub(crate) fn set(&self, number: u64, name: String) {
        self.names.lock().insert(number, name);
    }

    /// Takes the name of an object away; returns whether it had one.
    pub(crate) fn remove(&self, number: u64) -> bool {
        self.names.lock().remove(&number).is_some()
    }
}
