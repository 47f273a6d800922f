//! Interfaces that a channel calls: consumers, suppliers, observers, and reports.

use crate::event::Event;
use std::fmt;

/// Consumer of events.
///
/// A channel calls `push` of one consumer from one thread at a time for each queue; under reactive dispatching from
/// any supplier's thread. No lock of the channel is held, so that a consumer may call it. A panic counts as a failure.
pub trait Consumer<P>: Send + Sync {
    /// Receives events: one, a set that a conjunction collected, or several that waited.
    fn push(&self, events: &[Event<P>]) -> Pushed;

    /// Reports that the channel has disconnected the consumer. Not called for a disconnection that the
    /// consumer's handle asked for.
    fn disconnected(&self, reason: &Reason) {
        let _ = reason;
    }

    /// Returns whether the consumer is still there, within bounded time. Asked at intervals, if the
    /// channel's options say so.
    fn is_alive(&self) -> Alive {
        Alive::Yes
    }
}

/// Supplier of events, as called by its channel.
pub trait Supplier: Send + Sync {
    /// Reports that the channel has disconnected the supplier.
    fn disconnected(&self, reason: &Reason) {
        let _ = reason;
    }

    /// Returns whether the supplier is still there, within bounded time.
    fn is_alive(&self) -> Alive {
        Alive::Yes
    }
}

/// Observer of what consumers want and suppliers offer, such as a gateway.
///
/// An observer is called by one thread at a time. Several changes may be combined into one call; the last call
/// has the final state.
pub trait Observer: Send + Sync {
    /// Receives what all consumers but gateways subscribe to.
    fn consumers_changed(&self, subscriptions: &[Selector]);

    /// Receives what all suppliers but gateways publish.
    fn suppliers_changed(&self, publications: &[Selector]);
}

/// Outcome of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// The consumer has the events.
    Done,
    /// The consumer did not take the events; later ones it may. The text says why.
    Failed(String),
    /// The consumer does not exist any more and is disconnected. The text says why.
    Gone(String),
}

/// Answer to the question whether a peer is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alive {
    /// The peer answered.
    Yes,
    /// The peer did not answer in time; it may still exist. Repeated often enough, this counts as `No`.
    Unknown,
    /// The peer does not exist any more.
    No,
}

/// Reason of a disconnection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The program disconnected the peer by its handle.
    Asked,
    /// The channel was destroyed.
    Destroyed,
    /// A push said that the consumer does not exist any more.
    Gone(String),
    /// Several pushes in a row failed; the text is that of the last.
    Failed(String),
    /// The peer does not answer the question whether it is alive.
    NotAlive,
    /// The consumer's queue was full, and its [`Overflow`](crate::Overflow) is to disconnect it.
    QueueFull,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked => f.write_str("it asked for it"),
            Self::Destroyed => f.write_str("the channel was destroyed"),
            Self::Gone(text) => write!(f, "it does not exist any more: {text}"),
            Self::Failed(text) => {
                write!(f, "too many pushes in a row failed, the last one: {text}")
            }
            Self::NotAlive => f.write_str("it does not answer"),
            Self::QueueFull => f.write_str("its queue was full"),
        }
    }
}

/// Type and source of events that are published or subscribed to; 0 is all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Selector {
    /// Type.
    pub kind: i32,
    /// Source.
    pub source: i32,
}

impl Selector {
    /// Makes a selector of a type and a source.
    #[must_use]
    pub const fn new(kind: i32, source: i32) -> Self {
        Self { kind, source }
    }
}

/// Identity of a consumer's connection in its channel; rises with the time of connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConsumerId(pub(crate) u64);

impl ConsumerId {
    /// Returns the number of the connection.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ConsumerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "consumer {}", self.0)
    }
}

/// Identity of a supplier's connection in its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SupplierId(pub(crate) u64);

impl fmt::Display for SupplierId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "supplier {}", self.0)
    }
}

/// Cause for which events did not reach a consumer that accepted them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lost {
    /// Dropped as the oldest ones of a full queue.
    Oldest,
    /// Dropped as the newest ones, which a full queue did not take.
    Newest,
    /// Replaced by a later event of its type and source.
    Superseded,
    /// Dropped after the supplier had waited for room as long as it may.
    WaitedTooLong,
    /// Dropped as the consumer was disconnected: with its queue, or on the way to it.
    Disconnected,
    /// Collected by conjunctions that held more bytes than the consumer's queue may.
    Correlation,
    /// Arrived while the consumer was suspended.
    Suspended,
    /// The consumer did not take them: its push failed.
    Refused,
}

/// Receiver of reports on what goes wrong in a channel, such as a log. Called without locks, on the
/// threads of suppliers and dispatching; it should return soon.
pub trait Reports: Send + Sync {
    /// Reports events that a consumer will not receive.
    fn lost(&self, consumer: ConsumerId, cause: Lost, events: usize) {
        let _ = (consumer, cause, events);
    }

    /// Reports a disconnected consumer, for every reason.
    fn disconnected(&self, consumer: ConsumerId, reason: &Reason) {
        let _ = (consumer, reason);
    }

    /// Reports a disconnected supplier, for every reason.
    fn supplier_disconnected(&self, supplier: SupplierId, reason: &Reason) {
        let _ = (supplier, reason);
    }
}
