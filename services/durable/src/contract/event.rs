//! Events: as they are appended, and as readers get them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::clock::Moment;

/// Maximum length of an event's id, in bytes.
const MOST_ID: usize = 64;

/// Place of an event in its log. Later events have higher positions; positions have gaps, and are
/// never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(pub u64);

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Id of an event, against repeats: an event whose id is known to the log is not stored again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(Arc<[u8]>);

impl EventId {
    /// Creates an id of 1 to 64 bytes; returns `None` for other lengths.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let fits = (1..=MOST_ID).contains(&bytes.len());
        fits.then(|| Self(bytes.into()))
    }

    /// Returns the bytes of the id.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Event that is to be appended to a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewEvent {
    /// Content, which stores do not look at.
    pub bytes: Bytes,
    /// Id against repeats. Without one, each append stores the event.
    pub id: Option<EventId>,
    /// Time after which the event is dropped instead of being delivered, from the append on. Default:
    /// never. Stores may drop the event up to a second later.
    pub lifetime: Option<Duration>,
    /// Priority, which readers get with the event. Stores keep the order of appends.
    pub priority: i16,
}

impl NewEvent {
    /// Creates an event without id and expiry, of priority 0.
    #[must_use]
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        Self {
            bytes: bytes.into(),
            ..Self::default()
        }
    }

    /// Sets the id against repeats.
    #[must_use]
    pub fn with_id(self, id: EventId) -> Self {
        Self {
            id: Some(id),
            ..self
        }
    }
}

/// Event as a reader gets it. It is delivered again, later, unless the reader acknowledges it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Place of the event in the log, by which it is acknowledged.
    pub position: Position,
    /// Content, as it was appended.
    pub bytes: Bytes,
    /// Id against repeats.
    pub id: Option<EventId>,
    /// Moment after which the event is not delivered.
    pub expires: Option<Moment>,
    /// Priority, as it was appended.
    pub priority: i16,
    /// True if the event is known to have been delivered to this reader before. An event whose
    /// delivery a killed process did not note is repeated without this mark.
    pub is_repeated: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_1_to_64_bytes() {
        assert_eq!(EventId::new(b"a").unwrap().as_bytes(), b"a");
        assert_eq!(EventId::new(&[]), None);
        assert!(EventId::new(&[1; 64]).is_some());
        assert_eq!(EventId::new(&[1; 65]), None);
    }
}
