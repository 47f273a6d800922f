//! Events: a header that the channel reads, and data that it does not.

use std::sync::Arc;

/// Header of an event, as `RtecEventComm::EventHeader`. Times are in 100 ns (TimeBase::TimeT).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Header {
    /// Type of the event; those of users begin with [`codes::FIRST_OF_USERS`](crate::codes::FIRST_OF_USERS).
    pub kind: i32,
    /// Source of the event.
    pub source: i32,
    /// Number of gateways that the event may still cross. The channel neither reads nor changes it.
    pub ttl: i32,
    /// Time at which the event was made.
    pub created: u64,
    /// Time at which a channel received the event. Set by the user of this library.
    pub received: u64,
    /// Time at which a channel sent the event. Set by the user of this library.
    pub sent: u64,
}

impl Header {
    /// Makes the header of an event of a type and a source, with all else 0.
    #[must_use]
    pub const fn new(kind: i32, source: i32) -> Self {
        Self {
            kind,
            source,
            ttl: 0,
            created: 0,
            received: 0,
            sent: 0,
        }
    }
}

/// Event: a header and data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event<P> {
    /// Header, by which the event is filtered.
    pub header: Header,
    /// Data, which the channel passes on.
    pub data: P,
}

impl<P> Event<P> {
    /// Makes an event.
    #[must_use]
    pub const fn new(header: Header, data: P) -> Self {
        Self { header, data }
    }
}

/// Data of events. Each consumer's queue has a clone of it, so data of more than a few bytes are best
/// behind an [`Arc`].
pub trait Payload: Clone + Send + Sync + 'static {
    /// Returns the number of bytes that the data count for in queues bounded by bytes.
    fn size(&self) -> usize;

    /// Returns the data of the events of timers. Called once for each channel, which clones it.
    fn empty() -> Self;
}

impl Payload for () {
    fn size(&self) -> usize {
        0
    }

    fn empty() -> Self {}
}

impl Payload for u64 {
    fn size(&self) -> usize {
        size_of::<Self>()
    }

    fn empty() -> Self {
        0
    }
}

impl Payload for Vec<u8> {
    fn size(&self) -> usize {
        self.len()
    }

    fn empty() -> Self {
        Self::new()
    }
}

impl Payload for Arc<[u8]> {
    fn size(&self) -> usize {
        self.len()
    }

    fn empty() -> Self {
        Arc::new([])
    }
}

impl<P: Payload> Payload for Arc<P> {
    fn size(&self) -> usize {
        P::size(self)
    }

    fn empty() -> Self {
        Self::new(P::empty())
    }
}
