//! How much waits for a consumer, and for how long.

use std::time::{Duration, Instant};

use super::core::Outlet;

/// Events that wait for a consumer: for foreign filters, for their StartTime, in the queue, and in a call that has not
/// returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Backlog {
    pub(crate) queued: usize,
    pub(crate) bytes: usize,
    /// Longest time that one of them has been in the channel, of those that are next: in the call, in the queue, and among
    /// those that wait for filters. One that waits for its StartTime does not lag.
    pub(crate) lag: Duration,
}

impl Outlet {
    /// Returns what waits for the consumer.
    pub(crate) fn backlog(&self, now: Instant) -> Backlog {
        let (line, first_in_line) = (self.line.size(), self.line.first_received());
        let delivery = self.delivery.lock();
        let (queue, held, under_way) = (&delivery.queue, delivery.held(), delivery.under_way);
        let (events, bytes) = under_way.map_or((0, 0), |call| (call.events, call.bytes));
        let first_in_queue = queue.first().map(|event| event.received());
        let first_under_way = under_way.map(|call| call.received);
        let next = [first_under_way, first_in_queue, first_in_line];
        Backlog {
            queued: queue.len() + line.events + held.events + events,
            bytes: queue.bytes() + line.bytes + held.bytes + bytes,
            lag: next
                .into_iter()
                .flatten()
                .map(|received| now.saturating_duration_since(received))
                .max()
                .unwrap_or_default(),
        }
    }
}
