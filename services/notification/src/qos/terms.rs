//! Meaning of settings for queues and delivery.

use std::time::Duration;

use super::property::Property;
use super::settings::Settings;
use super::value::{Value, length};
use crate::cos_notification as notification;

/// Order in which a queue is emptied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    /// Order of arrival; also that of AnyOrder.
    #[default]
    Fifo,
    /// Highest priority first.
    Priority,
    /// Earliest end of life first.
    Deadline,
}

/// Events that a full queue gives up, the new one included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Discard {
    /// The oldest; also that of AnyOrder.
    #[default]
    Fifo,
    /// The newest.
    Lifo,
    /// The lowest priority.
    Priority,
    /// The earliest end of life.
    Deadline,
}

/// Settings of a proxy as its queue and its delivery use them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) order: Order,
    pub(crate) discard: Discard,
    /// Most events in the queue; 0 is the service's limit.
    pub(crate) most_events: usize,
    /// Most events in one batch.
    pub(crate) batch: usize,
    /// Time for which a batch that is not full waits for more events.
    pub(crate) pacing: Duration,
    /// Priority of events that state none.
    pub(crate) priority: i16,
    /// Life of events that state none; zero has no end.
    pub(crate) timeout: Duration,
    pub(crate) has_start_times: bool,
    pub(crate) has_stop_times: bool,
}

impl Terms {
    /// Returns the meaning of settings. What is not set is at its default.
    pub(crate) fn of(settings: &Settings) -> Self {
        let short = |property| match settings.get(property) {
            Some(Value::Short(value)) => value,
            _ => 0,
        };
        let count = |property| match settings.get(property) {
            Some(Value::Long(value)) => usize::try_from(value).unwrap_or_default(),
            _ => 0,
        };
        let time = |property| match settings.get(property) {
            Some(Value::Time(units)) => length(units),
            _ => Duration::ZERO,
        };
        let flag = |property| settings.get(property) != Some(Value::Flag(false));
        Self {
            order: order(short(Property::OrderPolicy)),
            discard: discard(short(Property::DiscardPolicy)),
            most_events: count(Property::MaxEventsPerConsumer),
            batch: count(Property::MaximumBatchSize).max(1),
            pacing: time(Property::PacingInterval),
            priority: short(Property::Priority),
            timeout: time(Property::Timeout),
            has_start_times: flag(Property::StartTimeSupported),
            has_stop_times: flag(Property::StopTimeSupported),
        }
    }
}

const fn order(policy: i16) -> Order {
    match policy {
        notification::PRIORITY_ORDER => Order::Priority,
        notification::DEADLINE_ORDER => Order::Deadline,
        _ => Order::Fifo,
    }
}

const fn discard(policy: i16) -> Discard {
    match policy {
        notification::PRIORITY_ORDER => Discard::Priority,
        notification::DEADLINE_ORDER => Discard::Deadline,
        notification::LIFO_ORDER => Discard::Lifo,
        _ => Discard::Fifo,
    }
}

#[cfg(test)]
mod tests {
    use super::super::property::Level;
    use super::super::settings::tests::{ABILITIES, property};
    use super::*;

    #[test]
    fn a_channel_of_its_own_orders_by_priority_and_limits_nothing() {
        let terms = Terms::of(&Settings::of_channel());
        let usual = Terms {
            order: Order::Priority,
            batch: 1,
            has_start_times: true,
            has_stop_times: true,
            ..Terms::default()
        };
        assert_eq!(terms, usual);
    }

    #[test]
    fn settings_have_their_meaning() {
        let given = [
            property("OrderPolicy", Value::Short(3)),
            property("DiscardPolicy", Value::Short(4)),
            property("MaxEventsPerConsumer", Value::Long(9)),
            property("MaximumBatchSize", Value::Long(5)),
            property("PacingInterval", Value::Time(20_000)),
            property("Timeout", Value::Time(10_000_000)),
            property("StartTimeSupported", Value::Flag(false)),
        ];
        let settings = Settings::default().changed(&given, Level::Proxy, ABILITIES);
        let terms = Terms::of(&settings.unwrap());
        let wanted = Terms {
            order: Order::Deadline,
            discard: Discard::Lifo,
            most_events: 9,
            batch: 5,
            pacing: Duration::from_millis(2),
            priority: 0,
            timeout: Duration::from_secs(1),
            has_start_times: false,
            has_stop_times: true,
        };
        assert_eq!(terms, wanted);
    }
}
