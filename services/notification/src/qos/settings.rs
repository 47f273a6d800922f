//! Properties that are set at one place, and the rules for setting them.

use super::property::{Abilities, Level, Property};
use super::value::Value;
use crate::cos_notification::{
    self as notification, BEST_EFFORT, NamedPropertyRange, PERSISTENT, PropertyError,
    PropertyRange, QoSErrorCode as Code,
};

/// Most properties that one operation takes.
pub(super) const MOST_PROPERTIES: usize = 256;

/// Properties that are set; at most one value each, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings(Vec<(Property, Value)>);

impl Settings {
    /// Returns the settings of a channel whose creator asks for nothing.
    pub(crate) fn of_channel() -> Self {
        Self(vec![
            (Property::EventReliability, Value::Short(BEST_EFFORT)),
            (Property::ConnectionReliability, Value::Short(BEST_EFFORT)),
            (
                Property::Priority,
                Value::Short(notification::DEFAULT_PRIORITY),
            ),
            (Property::Timeout, Value::Time(0)),
            (Property::StartTimeSupported, Value::Flag(true)),
            (Property::StopTimeSupported, Value::Flag(true)),
            (
                Property::OrderPolicy,
                Value::Short(notification::PRIORITY_ORDER),
            ),
            (
                Property::DiscardPolicy,
                Value::Short(notification::ANY_ORDER),
            ),
            (Property::MaxEventsPerConsumer, Value::Long(0)),
            (Property::MaximumBatchSize, Value::Long(1)),
            (Property::PacingInterval, Value::Time(0)),
        ])
    }

    /// Returns the settings that a child begins with: those of its level.
    pub(crate) fn inherited(&self, level: Level) -> Self {
        let own = self.0.iter().filter(|(property, _)| property.is_of(level));
        Self(own.copied().collect())
    }

    /// Returns the settings that a store has kept, which were checked when they were set.
    pub(crate) fn of_kept(properties: &[notification::Property]) -> Self {
        let mut settings = Self::default();
        for given in properties {
            let property = Property::named(&given.name);
            let value = property.and_then(|one| one.range(Abilities::EVERY).read(&given.value));
            if let Some((property, value)) = property.zip(value) {
                settings.set(property, value);
            }
        }
        settings
    }

    /// Returns whether connections are to be there again after a restart.
    pub(crate) fn has_persistent_connections(&self) -> bool {
        self.get(Property::ConnectionReliability) == Some(Value::Short(PERSISTENT))
    }

    /// Returns whether events that state nothing are to survive a crash.
    pub(crate) fn has_persistent_events(&self) -> bool {
        self.get(Property::EventReliability) == Some(Value::Short(PERSISTENT))
    }

    /// Returns the error of another reliability of a connection that has been made.
    pub(crate) fn fixed_connection(&self) -> PropertyError {
        let only = self.get(Property::ConnectionReliability);
        let only = only.unwrap_or(Value::Short(BEST_EFFORT)).to_any();
        let range = PropertyRange {
            low_val: only.clone(),
            high_val: only,
        };
        let name = Property::ConnectionReliability.name();
        error_of(name, Code::UnavailableValue, Some(range))
    }

    /// Returns the value of a property, if it is set.
    pub(crate) fn get(&self, property: Property) -> Option<Value> {
        let found = self.0.iter().find(|(set, _)| *set == property);
        found.map(|(_, value)| *value)
    }

    /// Returns all properties that are set, as they are sent.
    pub(crate) fn to_properties(&self) -> Vec<notification::Property> {
        let properties = self
            .0
            .iter()
            .map(|(property, value)| notification::Property {
                name: property.name().to_owned(),
                value: value.to_any(),
            });
        properties.collect()
    }

    /// Returns the settings with changes applied, all or none.
    ///
    /// # Errors
    /// All properties that are wrong, each with the values that it could have.
    pub(crate) fn changed(
        &self,
        properties: &[notification::Property],
        level: Level,
        abilities: Abilities,
    ) -> Result<Self, Vec<PropertyError>> {
        let mut changed = self.clone();
        let mut errors = Vec::new();
        for property in properties.iter().take(MOST_PROPERTIES) {
            match read(property, level, abilities) {
                Ok((property, value)) => changed.set(property, value),
                Err(error) => errors.push(error),
            }
        }
        if let Some(excess) = properties.get(MOST_PROPERTIES) {
            errors.push(error_of(&excess.name, Code::BadProperty, None));
        }
        if errors.is_empty() && level == Level::Channel {
            errors.extend(changed.contradiction());
        }
        if errors.is_empty() {
            Ok(changed)
        } else {
            Err(errors)
        }
    }

    /// Returns the properties that could be set in addition to those required, with their ranges.
    pub(crate) fn available(
        required: &[notification::Property],
        level: Level,
        abilities: Abilities,
    ) -> Vec<NamedPropertyRange> {
        let is_required =
            |property: &Property| required.iter().any(|one| one.name == property.name());
        let others = Property::ALL.into_iter().filter(|one| one.is_of(level));
        others
            .filter(|property| !is_required(property))
            .map(|property| NamedPropertyRange {
                name: property.name().to_owned(),
                range: range_of(property, abilities),
            })
            .collect()
    }

    fn set(&mut self, property: Property, value: Value) {
        match self.0.binary_search_by_key(&property, |(set, _)| *set) {
            Ok(at) => self.0[at].1 = value,
            Err(at) => self.0.insert(at, (property, value)),
        }
    }

    /// Returns the error of persistent events over connections that are not persistent, which mean nothing
    /// (formal/04-10-13, 2.5.5.1).
    fn contradiction(&self) -> Option<PropertyError> {
        let is_persistent = |property| self.get(property) == Some(Value::Short(PERSISTENT));
        let is_wrong = is_persistent(Property::EventReliability)
            && !is_persistent(Property::ConnectionReliability);
        let low_val = Value::Short(BEST_EFFORT).to_any();
        is_wrong.then(|| {
            let range = PropertyRange {
                high_val: low_val.clone(),
                low_val,
            };
            error_of(
                Property::EventReliability.name(),
                Code::UnavailableValue,
                Some(range),
            )
        })
    }
}

/// Reads one property.
///
/// # Errors
/// Its name, type, value or place is wrong.
fn read(
    given: &notification::Property,
    level: Level,
    abilities: Abilities,
) -> Result<(Property, Value), PropertyError> {
    let wrong = |code, range| error_of(&given.name, code, range);
    let property = Property::named(&given.name).ok_or_else(|| wrong(Code::BadProperty, None))?;
    if !property.is_of(level) {
        return Err(wrong(Code::UnsupportedProperty, None));
    }
    let range = property.range(abilities);
    let in_range = || Some(range_of(property, abilities));
    let value = range.read(&given.value);
    let value = value.ok_or_else(|| wrong(Code::BadType, in_range()))?;
    if range.includes(value) {
        return Ok((property, value));
    }
    let is_legal = property.range(Abilities::EVERY).includes(value);
    let code = if is_legal {
        Code::UnsupportedValue
    } else {
        Code::BadValue
    };
    Err(wrong(code, in_range()))
}

fn range_of(property: Property, abilities: Abilities) -> PropertyRange {
    let (low, high) = property.range(abilities).ends();
    PropertyRange {
        low_val: low.to_any(),
        high_val: high.to_any(),
    }
}

pub(super) fn error_of(name: &str, code: Code, range: Option<PropertyRange>) -> PropertyError {
    PropertyError {
        code,
        name: name.to_owned(),
        available_range: range.unwrap_or_default(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use punctual::Any;

    pub(crate) const ABILITIES: Abilities = Abilities {
        event_reliability: BEST_EFFORT,
        connection_reliability: BEST_EFFORT,
        queue_events: 1000,
        batch: 100,
    };

    pub(crate) fn property(name: &str, value: Value) -> notification::Property {
        notification::Property {
            name: name.to_owned(),
            value: value.to_any(),
        }
    }

    fn codes(level: Level, properties: &[notification::Property]) -> Vec<(Code, String)> {
        let errors = Settings::of_channel().changed(properties, level, ABILITIES);
        let codes = errors.unwrap_err().into_iter();
        codes.map(|error| (error.code, error.name)).collect()
    }

    #[test]
    fn each_mistake_has_its_code_and_changes_nothing() {
        let text = notification::Property {
            name: "Priority".to_owned(),
            value: Any::new("high").unwrap(),
        };
        for (level, given, code) in [
            (
                Level::Proxy,
                property("Colour", Value::Short(1)),
                Code::BadProperty,
            ),
            (
                Level::Proxy,
                property("StartTime", Value::Moment(1)),
                Code::UnsupportedProperty,
            ),
            (
                Level::Event,
                property("OrderPolicy", Value::Short(1)),
                Code::UnsupportedProperty,
            ),
            (
                Level::Admin,
                property("EventReliability", Value::Short(0)),
                Code::UnsupportedProperty,
            ),
            (Level::Channel, text, Code::BadType),
            (
                Level::Channel,
                property("Priority", Value::Short(i16::MIN)),
                Code::BadValue,
            ),
            (
                Level::Channel,
                property("OrderPolicy", Value::Short(4)),
                Code::BadValue,
            ),
            (
                Level::Channel,
                property("MaximumBatchSize", Value::Long(0)),
                Code::BadValue,
            ),
            (
                Level::Channel,
                property("EventReliability", Value::Short(1)),
                Code::UnsupportedValue,
            ),
            (
                Level::Channel,
                property("MaxEventsPerConsumer", Value::Long(1001)),
                Code::UnsupportedValue,
            ),
        ] {
            let good = property("Timeout", Value::Time(1));
            let name = given.name.clone();
            assert_eq!(codes(level, &[good, given]), [(code, name)]);
        }
    }

    #[test]
    fn values_that_are_not_supported_come_with_the_range_that_is() {
        let given = [property("MaximumBatchSize", Value::Long(101))];
        let errors = Settings::default().changed(&given, Level::Proxy, ABILITIES);
        let range = &errors.unwrap_err()[0].available_range;
        let ends: (i32, i32) = (
            range.low_val.extract().unwrap(),
            range.high_val.extract().unwrap(),
        );
        assert_eq!(ends, (1, 100));
    }

    #[test]
    fn persistent_events_need_persistent_connections() {
        let abilities = Abilities::EVERY;
        let event = property("EventReliability", Value::Short(PERSISTENT));
        let connection = property("ConnectionReliability", Value::Short(PERSISTENT));
        let set = |given: &[notification::Property]| {
            Settings::of_channel().changed(given, Level::Channel, abilities)
        };
        let error = set(std::slice::from_ref(&event)).unwrap_err();
        assert_eq!(error[0].code, Code::UnavailableValue);
        assert!(set(&[event, connection.clone()]).is_ok());
        assert!(set(&[connection]).is_ok());
        // An event has no connection of its own.
        let event = property("EventReliability", Value::Short(PERSISTENT));
        let of_event = Settings::default().changed(&[event], Level::Event, abilities);
        assert!(of_event.is_ok());
    }

    #[test]
    fn a_later_value_replaces_an_earlier_one_and_children_begin_with_their_parents() {
        let given = [
            property("Priority", Value::Short(3)),
            property("Priority", Value::Short(4)),
        ];
        let channel = Settings::of_channel().changed(&given, Level::Channel, ABILITIES);
        let channel = channel.unwrap();
        assert_eq!(channel.get(Property::Priority), Some(Value::Short(4)));
        let admin = channel.inherited(Level::Admin);
        assert_eq!(admin.get(Property::Priority), Some(Value::Short(4)));
        assert_eq!(admin.get(Property::EventReliability), None);
        assert_eq!(admin.to_properties().len(), 10);
    }

    #[test]
    fn what_is_kept_is_what_was_set() {
        let given = [
            property("ConnectionReliability", Value::Short(PERSISTENT)),
            property("MaximumBatchSize", Value::Long(1_000_000)),
        ];
        let set = Settings::of_channel().changed(&given, Level::Channel, Abilities::EVERY);
        let set = set.unwrap();
        assert!(set.has_persistent_connections());
        assert!(!Settings::of_channel().has_persistent_connections());
        assert_eq!(Settings::of_kept(&set.to_properties()), set);
    }

    #[test]
    fn all_other_properties_of_a_level_are_available() {
        let given = [property("Priority", Value::Short(3))];
        let names = |level| -> Vec<String> {
            let available = Settings::available(&given, level, ABILITIES);
            available.into_iter().map(|range| range.name).collect()
        };
        assert_eq!(
            names(Level::Event),
            ["EventReliability", "StartTime", "StopTime", "Timeout"]
        );
        assert_eq!(names(Level::Channel).len(), 10);
    }
}
