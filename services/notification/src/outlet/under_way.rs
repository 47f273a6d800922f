//! Events of a push that has not returned.

use std::sync::Arc;
use std::time::Instant;

use crate::event::Event;
use crate::queue::Numbered;

/// Events of a call that has not returned.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnderWay {
    pub(super) events: usize,
    pub(super) bytes: usize,
    /// Time at which the channel received the first one.
    pub(super) received: Instant,
}

impl UnderWay {
    /// Returns those of a call; `None` for a call without events.
    pub(super) fn of(events: &[Numbered<Arc<Event>>]) -> Option<Self> {
        let first = events.first()?;
        Some(Self {
            events: events.len(),
            bytes: events.iter().map(|one| one.entry.bytes).sum(),
            received: first.entry.event.received(),
        })
    }
}
