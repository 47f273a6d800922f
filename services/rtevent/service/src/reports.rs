//! Log of what goes wrong in a channel.

use crate::Data;
use parking_lot::Mutex;
use punctual_rtevent::{
    ConnectionState, ConsumerHandle, ConsumerId, Lost, Reason, Reports, SupplierId,
};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writer of a channel's reports to the log: each disconnection, and the losses of a consumer at each power of two. It
/// counts what was lost, and passes all on.
#[derive(Default)]
pub(crate) struct Log {
    total: AtomicU64,
    lost: Mutex<HashMap<ConsumerId, u64>>,
    /// Addresses of consumers elsewhere.
    peers: Mutex<HashMap<ConsumerId, String>>,
    next: Option<Arc<dyn Reports>>,
}

impl Log {
    /// Makes a log that passes reports on.
    pub(crate) fn before(next: Option<Arc<dyn Reports>>) -> Self {
        Self {
            next,
            ..Self::default()
        }
    }

    /// Returns the number of events that consumers have lost, including consumers that are disconnected by now.
    pub(crate) fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// Keeps the address of a consumer elsewhere, until it is disconnected.
    pub(crate) fn set_peer(&self, consumer: &ConsumerHandle<Data>, address: String) {
        self.peers.lock().insert(consumer.id(), address);
        if consumer.state() == ConnectionState::Disconnected {
            self.peers.lock().remove(&consumer.id());
        }
    }

    /// Returns the address of a consumer elsewhere; empty for one of this process.
    pub(crate) fn peer(&self, consumer: ConsumerId) -> String {
        self.peers
            .lock()
            .get(&consumer)
            .cloned()
            .unwrap_or_default()
    }

    /// Counts losses of a consumer, and returns its total if that has reached another power of two.
    fn count(&self, consumer: ConsumerId, events: usize) -> Option<u64> {
        self.total.fetch_add(events as u64, Ordering::Relaxed);
        let mut lost = self.lost.lock();
        let total = lost.entry(consumer).or_default();
        let before = *total;
        *total = total.saturating_add(events as u64);
        (before.checked_ilog2() != total.checked_ilog2()).then_some(*total)
    }
}

impl Reports for Log {
    fn lost(&self, consumer: ConsumerId, cause: Lost, events: usize) {
        if let Some(total) = self.count(consumer, events) {
            tracing::warn!(
                "{consumer} has lost {total} events so far, the last ones for: {cause:?}"
            );
        }
        if let Some(next) = &self.next {
            next.lost(consumer, cause, events);
        }
    }

    fn disconnected(&self, consumer: ConsumerId, reason: &Reason) {
        self.lost.lock().remove(&consumer);
        self.peers.lock().remove(&consumer);
        match reason {
            Reason::Asked | Reason::Destroyed => {
                tracing::debug!("{consumer} is disconnected: {reason}");
            }
            _ => tracing::warn!("{consumer} is disconnected: {reason}"),
        }
        if let Some(next) = &self.next {
            next.disconnected(consumer, reason);
        }
    }

    fn supplier_disconnected(&self, supplier: SupplierId, reason: &Reason) {
        tracing::debug!("{supplier} is disconnected: {reason}");
        if let Some(next) = &self.next {
            next.supplier_disconnected(supplier, reason);
        }
    }
}
