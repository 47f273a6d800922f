//! How much waits for a consumer, and for how long.

use std::time::{Duration, Instant};

use super::core::Outlet;

/// Events in the queue of a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Backlog {
    pub(crate) queued: usize,
    pub(crate) bytes: usize,
    /// Time that the next event has been in the channel.
    pub(crate) lag: Duration,
}

impl Outlet {
    /// Returns what waits for the consumer.
    pub(crate) fn backlog(&self, now: Instant) -> Backlog {
        let line = self.line.size();
        let delivery = self.delivery.lock();
        let next = delivery.queue.first();
        Backlog {
            queued: delivery.queue.len() + line.events,
            bytes: delivery.queue.bytes() + line.bytes,
            lag: next
                .map(|event| now.saturating_duration_since(event.received()))
                .unwrap_or_default(),
        }
    }
}
