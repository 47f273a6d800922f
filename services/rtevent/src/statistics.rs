//! Counts of a channel and its consumers at one moment.

use crate::level::Level;
use crate::peer::ConsumerId;
use std::time::Duration;

/// Counts of a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelStatistics {
    /// Number of events that suppliers pushed.
    pub received: u64,
    /// Number of events of timers.
    pub timed: u64,
    /// Number of connected suppliers.
    pub suppliers: usize,
    /// Number of routes that are kept.
    pub routes: usize,
    /// Connected consumers, by the time of their connection.
    pub consumers: Vec<ConsumerStatistics>,
}

/// Counts of a consumer. Numbers are of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerStatistics {
    /// Identity.
    pub id: ConsumerId,
    /// Level of its subscription.
    pub level: Level,
    /// State of its connection.
    pub state: ConnectionState,
    /// Events that were pushed and taken.
    pub pushed: u64,
    /// Pushes in which they were, some of several events.
    pub pushes: u64,
    /// Events that a queue dropped by its [`Overflow`](crate::Overflow), or when the consumer was disconnected.
    pub dropped: u64,
    /// Events that arrived while the consumer was suspended.
    pub suspended: u64,
    /// Events whose push failed.
    pub failed: u64,
    /// Events in its queues.
    pub queued: usize,
    /// Bytes of data in its queues.
    pub queued_bytes: usize,
    /// Events that the conjunctions of its filter have collected.
    pub collected: usize,
    /// Bytes of data in them.
    pub collected_bytes: usize,
    /// Age of the oldest event in its queues, to the clock's tick.
    pub lag: Duration,
    /// Its last push blocked a thread of its level, so that it is served with other slow consumers.
    pub is_slow: bool,
}

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    /// Events are delivered.
    Connected,
    /// Events are dropped until the connection is resumed.
    Suspended,
    /// The connection has ended.
    Disconnected,
}
