//! Data of an event: an Any that all consumers share.

use punctual::Any;
use punctual_events::bytes_of;
use punctual_rtevent::Payload;

/// Bytes that an event counts for besides its value and its type.
const OVERHEAD: usize = 128;

/// Event: its data, and the number of bytes that it counts for in queues. Clones share the data.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventData {
    any: Any,
    bytes: usize,
}

impl EventData {
    /// Makes an event. Takes time in proportion to its type; the value is not read.
    pub(crate) fn new(any: Any) -> Self {
        let bytes = bytes_of(&any) + OVERHEAD;
        Self { any, bytes }
    }

    /// Returns the data of the event.
    pub(crate) fn any(&self) -> &Any {
        &self.any
    }

    /// Returns the number of bytes of the event, its type included.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Payload for EventData {
    fn size(&self) -> usize {
        self.bytes
    }

    fn empty() -> Self {
        Self::default()
    }
}
