//! Reports that are kept.

use parking_lot::Mutex;
use punctual_rtevent::{ConsumerId, Lost, Reason, Reports};
use std::sync::Arc;

/// Reports that a channel made.
#[derive(Default)]
pub(crate) struct Kept {
    lost: Mutex<Vec<(Lost, usize)>>,
    disconnected: Mutex<Vec<(ConsumerId, Reason)>>,
}

impl Kept {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Returns the number of events that were lost for a cause.
    pub(crate) fn lost(&self, cause: Lost) -> usize {
        let lost = self.lost.lock();
        let of_cause = lost.iter().filter(|(one, _)| *one == cause);
        of_cause.map(|(_, events)| events).sum()
    }

    /// Returns the disconnected consumers.
    pub(crate) fn disconnected(&self) -> Vec<(ConsumerId, Reason)> {
        self.disconnected.lock().clone()
    }
}

impl Reports for Kept {
    fn lost(&self, _: ConsumerId, cause: Lost, events: usize) {
        self.lost.lock().push((cause, events));
    }

    fn disconnected(&self, consumer: ConsumerId, reason: &Reason) {
        self.disconnected.lock().push((consumer, reason.clone()));
    }
}
