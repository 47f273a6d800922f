//! A log that is open: its state, and those who wait for events.

use std::fmt;

use parking_lot::{Condvar, Mutex};

use super::state::State;
use crate::contract::Name;

/// Log of the store.
pub(super) struct Log {
    pub(super) name: Name,
    /// Number of the log, part of the keys of its records.
    pub(super) number: u64,
    pub(super) state: Mutex<State>,
    /// Signalled when events were appended or given back, or readers removed.
    pub(super) changed: Condvar,
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "log {}", self.name)
    }
}

impl Log {
    pub(super) fn new(name: Name, number: u64, state: State) -> Self {
        Self {
            name,
            number,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Wakes the readers that wait for events. The log must not be locked.
    pub(super) fn wake_all(&self) {
        self.changed.notify_all();
        let wakes = self.state.lock().take_wakes();
        wakes.iter().for_each(|wake| wake());
    }
}
