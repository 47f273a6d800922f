//! Wishes of a consumer, and offers of a supplier.

use crate::event::Header;
use crate::filter::Filter;
use crate::level::Level;
use crate::peer::Selector;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Function that computes the level of a delivery from an event's header.
pub type LevelFunction = Arc<dyn Fn(&Header) -> Level + Send + Sync>;

/// Subscription of a consumer: the events that it wants, their urgency, and its queue.
#[derive(Clone)]
pub struct Subscription {
    /// Filter of events.
    pub filter: Filter,
    /// Level of deliveries, unless an entry of the filter has an `rt_info` that the channel's
    /// [`Schedule`](crate::Schedule) knows.
    pub level: Level,
    /// Function that computes the level of each delivery instead; of a set, from its last event.
    pub level_of: Option<LevelFunction>,
    /// Queue of the consumer, for each of its levels. Reactive dispatching has no queues.
    pub queue: QueueOptions,
    /// Mark of a gateway to another channel, whose subscriptions observers do not see.
    pub is_gateway: bool,
}

impl Subscription {
    /// Makes a subscription at the default level, with the default queue.
    #[must_use]
    pub fn new(filter: Filter) -> Self {
        Self {
            filter,
            level: Level::default(),
            level_of: None,
            queue: QueueOptions::default(),
            is_gateway: false,
        }
    }

    /// Sets the level of deliveries.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Sets a function by which the level of each delivery is computed from the event's header.
    #[must_use]
    pub fn level_of(mut self, level: impl Fn(&Header) -> Level + Send + Sync + 'static) -> Self {
        self.level_of = Some(Arc::new(level));
        self
    }

    /// Sets the queue.
    #[must_use]
    pub fn queue(mut self, queue: QueueOptions) -> Self {
        self.queue = queue;
        self
    }

    /// Marks the consumer as a gateway.
    #[must_use]
    pub fn gateway(mut self) -> Self {
        self.is_gateway = true;
        self
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("filter", &self.filter)
            .field("level", &self.level)
            .field("has_level_of", &self.level_of.is_some())
            .field("queue", &self.queue)
            .field("is_gateway", &self.is_gateway)
            .finish()
    }
}

/// Bounds of a consumer's queue, and what happens when it is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueOptions {
    /// Largest number of events in the queue, at least 1. Default 16,384, as in TAO.
    pub events: usize,
    /// Largest sum of the sizes of their data in bytes. An event larger than this is taken by an empty
    /// queue. Default 64 MiB.
    pub bytes: usize,
    /// Largest number of events in one push, at least 1. Sets of a conjunction are pushed alone and
    /// whole. Default 64.
    pub batch: usize,
    /// Consequence of an event for which there is no room. Default: the oldest ones are dropped.
    pub overflow: Overflow,
}

impl Default for QueueOptions {
    fn default() -> Self {
        Self {
            events: 16_384,
            bytes: 64 << 20,
            batch: 64,
            overflow: Overflow::DropOldest,
        }
    }
}

/// Consequence of an event for which a queue has no room. Every event that is lost is counted and
/// reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// The oldest events are dropped until there is room.
    DropOldest,
    /// The event is dropped.
    DropNewest,
    /// An event always replaces a queued one of its type and source, in its place, whether the queue is full or
    /// not. If there is none and no room, the oldest events are dropped.
    LatestOfSource,
    /// The supplier waits for room, at most this long; then the event is dropped. A consumer that pushes to its own full
    /// queue waits for itself, so that only the time ends it.
    Block(Duration),
    /// The consumer is disconnected.
    Disconnect,
}

/// Offers of a supplier. They inform observers, and limit nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Publications {
    /// Types and sources of the events that the supplier will push.
    pub selectors: Vec<Selector>,
    /// Mark of a gateway to another channel, whose publications observers do not see.
    pub is_gateway: bool,
}

impl Publications {
    /// Makes the publications of a supplier.
    #[must_use]
    pub fn new(selectors: impl IntoIterator<Item = Selector>) -> Self {
        Self {
            selectors: selectors.into_iter().collect(),
            is_gateway: false,
        }
    }

    /// Marks the supplier as a gateway.
    #[must_use]
    pub fn gateway(mut self) -> Self {
        self.is_gateway = true;
        self
    }
}
