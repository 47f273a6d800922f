//! Properties in the header of an event.

use std::time::Duration;

use super::property::{Abilities, Level, Property};
use super::value::{Value, length};
use crate::cos_notification as notification;

/// Properties that an event states. Those of a wrong type or value are as if they were not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EventTerms {
    pub(crate) priority: Option<i16>,
    pub(crate) reliability: Option<i16>,
    /// Time until the event may be delivered.
    pub(crate) start_in: Option<Duration>,
    /// Time from its receipt on after which the event is not to be delivered any more, by its StopTime.
    pub(crate) stop_in: Option<Duration>,
    /// Life from its receipt on, by its Timeout; zero has no end.
    pub(crate) timeout: Option<Duration>,
}

impl EventTerms {
    /// Reads a variable header at a time of day.
    pub(crate) fn of(header: &[notification::Property], now: u64) -> Self {
        let mut terms = Self::default();
        for given in header {
            let Some(property) = Property::named(&given.name).filter(|one| one.is_of(Level::Event))
            else {
                continue;
            };
            let range = property.range(Abilities::EVERY);
            if let Some(value) = range
                .read(&given.value)
                .filter(|value| range.includes(*value))
            {
                terms.note(property, value, now);
            }
        }
        terms
    }

    fn note(&mut self, property: Property, value: Value, now: u64) {
        let until = |moment: u64| length(moment.saturating_sub(now));
        match (property, value) {
            (Property::Priority, Value::Short(priority)) => self.priority = Some(priority),
            (Property::EventReliability, Value::Short(value)) => self.reliability = Some(value),
            (Property::StartTime, Value::Moment(moment)) => self.start_in = Some(until(moment)),
            (Property::StopTime, Value::Moment(moment)) => self.stop_in = Some(until(moment)),
            (Property::Timeout, Value::Time(units)) => self.timeout = Some(length(units)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::tests::property;
    use super::*;

    #[test]
    fn a_header_states_terms_and_what_is_wrong_counts_for_nothing() {
        let header = [
            property("Priority", Value::Short(7)),
            property("Timeout", Value::Time(20_000_000)),
            property("StartTime", Value::Moment(1_000 + 10_000_000)),
            property("StopTime", Value::Moment(10)),
            property("EventReliability", Value::Short(1)),
            property("EventReliability", Value::Short(2)),
            property("OrderPolicy", Value::Short(1)),
            property("Priority", Value::Long(8)),
            property("altitude", Value::Long(8)),
        ];
        let wanted = EventTerms {
            priority: Some(7),
            reliability: Some(1),
            start_in: Some(Duration::from_secs(1)),
            stop_in: Some(Duration::ZERO),
            timeout: Some(Duration::from_secs(2)),
        };
        assert_eq!(EventTerms::of(&header, 1_000), wanted);
    }
}
