//! Log of what goes wrong in a channel.

use punctual_rtevent::{ConsumerId, Lost, Reason, Reports, SupplierId};

/// Writer of a channel's reports to the log: each disconnection, and the first loss of a consumer at each power of
/// two.
#[derive(Debug, Default)]
pub(crate) struct Log {
    lost: parking_lot::Mutex<std::collections::HashMap<ConsumerId, u64>>,
}

impl Reports for Log {
    fn lost(&self, consumer: ConsumerId, cause: Lost, events: usize) {
        let total = {
            let mut lost = self.lost.lock();
            let total = lost.entry(consumer).or_default();
            let before = *total;
            *total = total.saturating_add(events as u64);
            (before.checked_ilog2() != total.checked_ilog2()).then_some(*total)
        };
        if let Some(total) = total {
            tracing::warn!(
                "{consumer} has lost {total} events so far, the last ones for: {cause:?}"
            );
        }
    }

    fn disconnected(&self, consumer: ConsumerId, reason: &Reason) {
        self.lost.lock().remove(&consumer);
        match reason {
            Reason::Asked | Reason::Destroyed => {
                tracing::debug!("{consumer} is disconnected: {reason}")
            }
            _ => tracing::warn!("{consumer} is disconnected: {reason}"),
        }
    }

    fn supplier_disconnected(&self, supplier: SupplierId, reason: &Reason) {
        tracing::debug!("{supplier} is disconnected: {reason}");
    }
}
