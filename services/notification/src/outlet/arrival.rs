//! Arrival of an event at a consumer: its place in the log, and what foreign mapping filters give to it.

use punctual_durable::Position;

use crate::inquiry::Mapped;

/// Place from which an event comes, and what foreign mapping filters give to it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrival {
    /// Position in the channel's log, if the event comes from there.
    pub(super) position: Option<Position>,
    pub(super) mapped: Mapped,
}

impl Arrival {
    /// Returns the arrival of an event from the log.
    pub(super) fn logged(position: Position) -> Self {
        Self {
            position: Some(position),
            ..Self::default()
        }
    }
}
