//! Properties: their names and ranges, and where each may be set (formal/04-10-13, 2.5.5 and table 2-4).

use super::value::Range;
use crate::cos_notification as names;

/// Values that a service can meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Abilities {
    /// Highest reliability of events.
    pub(crate) event_reliability: i16,
    /// Highest reliability of connections.
    pub(crate) connection_reliability: i16,
    /// Most events in the queue of one consumer.
    pub(crate) queue_events: i32,
    /// Most events in one batch.
    pub(crate) batch: i32,
}

impl Abilities {
    /// All values that the standard knows.
    pub(super) const EVERY: Self = Self {
        event_reliability: names::PERSISTENT,
        connection_reliability: names::PERSISTENT,
        queue_events: i32::MAX,
        batch: i32::MAX,
    };
}

/// Property of quality of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Property {
    EventReliability,
    ConnectionReliability,
    Priority,
    StartTime,
    StopTime,
    Timeout,
    StartTimeSupported,
    StopTimeSupported,
    OrderPolicy,
    DiscardPolicy,
    MaxEventsPerConsumer,
    MaximumBatchSize,
    PacingInterval,
}

/// Place at which a property is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Channel,
    Admin,
    Proxy,
    Event,
}

impl Property {
    pub(crate) const ALL: [Self; 13] = [
        Self::EventReliability,
        Self::ConnectionReliability,
        Self::Priority,
        Self::StartTime,
        Self::StopTime,
        Self::Timeout,
        Self::StartTimeSupported,
        Self::StopTimeSupported,
        Self::OrderPolicy,
        Self::DiscardPolicy,
        Self::MaxEventsPerConsumer,
        Self::MaximumBatchSize,
        Self::PacingInterval,
    ];

    /// Returns the property with a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|property| property.name() == name)
    }

    /// Returns the name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::EventReliability => names::EVENT_RELIABILITY,
            Self::ConnectionReliability => names::CONNECTION_RELIABILITY,
            Self::Priority => names::PRIORITY,
            Self::StartTime => names::START_TIME,
            Self::StopTime => names::STOP_TIME,
            Self::Timeout => names::TIMEOUT,
            Self::StartTimeSupported => names::START_TIME_SUPPORTED,
            Self::StopTimeSupported => names::STOP_TIME_SUPPORTED,
            Self::OrderPolicy => names::ORDER_POLICY,
            Self::DiscardPolicy => names::DISCARD_POLICY,
            Self::MaxEventsPerConsumer => names::MAX_EVENTS_PER_CONSUMER,
            Self::MaximumBatchSize => names::MAXIMUM_BATCH_SIZE,
            Self::PacingInterval => names::PACING_INTERVAL,
        }
    }

    /// Returns whether the property may be set at a level.
    pub(crate) const fn is_of(self, level: Level) -> bool {
        match self {
            Self::EventReliability => matches!(level, Level::Event | Level::Channel),
            Self::StartTime | Self::StopTime => matches!(level, Level::Event),
            Self::Priority | Self::Timeout => true,
            _ => !matches!(level, Level::Event),
        }
    }

    /// Returns the values that the service can meet.
    pub(crate) const fn range(self, abilities: Abilities) -> Range {
        match self {
            Self::EventReliability => Range::Short(names::BEST_EFFORT, abilities.event_reliability),
            Self::ConnectionReliability => {
                Range::Short(names::BEST_EFFORT, abilities.connection_reliability)
            }
            Self::Priority => Range::Short(names::LOWEST_PRIORITY, names::HIGHEST_PRIORITY),
            Self::StartTime | Self::StopTime => Range::Moment,
            Self::Timeout | Self::PacingInterval => Range::Time,
            Self::StartTimeSupported | Self::StopTimeSupported => Range::Flag(false, true),
            Self::OrderPolicy => Range::Short(names::ANY_ORDER, names::DEADLINE_ORDER),
            Self::DiscardPolicy => Range::Short(names::ANY_ORDER, names::LIFO_ORDER),
            // 0 is the service's own limit.
            Self::MaxEventsPerConsumer => Range::Long(0, abilities.queue_events),
            Self::MaximumBatchSize => Range::Long(1, abilities.batch),
        }
    }
}
