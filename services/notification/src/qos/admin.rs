//! Administrative properties of a channel (formal/04-10-13, 2.5.7).

use super::settings::{MOST_PROPERTIES, error_of};
use super::value::{Range, Value};
use crate::cos_notification::{
    self as notification, PropertyError, PropertyRange, QoSErrorCode as Code,
};

/// Administrative properties; 0 is no limit but the service's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AdminSettings {
    /// Most events that the channel holds.
    pub(crate) queue_length: i32,
    /// Most proxies for consumers.
    pub(crate) consumers: i32,
    /// Most proxies for suppliers.
    pub(crate) suppliers: i32,
    /// States that a full channel refuses events.
    pub(crate) rejects: bool,
}

impl AdminSettings {
    /// Returns the properties as they are sent.
    pub(crate) fn to_properties(self) -> Vec<notification::Property> {
        [
            (
                notification::MAX_QUEUE_LENGTH,
                Value::Long(self.queue_length),
            ),
            (notification::MAX_CONSUMERS, Value::Long(self.consumers)),
            (notification::MAX_SUPPLIERS, Value::Long(self.suppliers)),
            (notification::REJECT_NEW_EVENTS, Value::Flag(self.rejects)),
        ]
        .into_iter()
        .map(|(name, value)| notification::Property {
            name: name.to_owned(),
            value: value.to_any(),
        })
        .collect()
    }

    /// Returns the properties with changes applied, all or none.
    ///
    /// # Errors
    /// All properties that are wrong.
    pub(crate) fn changed(
        mut self,
        properties: &[notification::Property],
    ) -> Result<Self, Vec<PropertyError>> {
        let taken = properties.iter().take(MOST_PROPERTIES);
        let mut errors: Vec<_> = taken.filter_map(|given| self.set(given).err()).collect();
        if let Some(excess) = properties.get(MOST_PROPERTIES) {
            errors.push(error_of(&excess.name, Code::BadProperty, None));
        }
        if errors.is_empty() {
            Ok(self)
        } else {
            Err(errors)
        }
    }

    fn set(&mut self, given: &notification::Property) -> Result<(), PropertyError> {
        let count = match given.name.as_str() {
            notification::MAX_QUEUE_LENGTH => &mut self.queue_length,
            notification::MAX_CONSUMERS => &mut self.consumers,
            notification::MAX_SUPPLIERS => &mut self.suppliers,
            notification::REJECT_NEW_EVENTS => {
                if let Value::Flag(rejects) = read(given, Range::Flag(false, true))? {
                    self.rejects = rejects;
                }
                return Ok(());
            }
            other => return Err(error_of(other, Code::BadProperty, None)),
        };
        if let Value::Long(value) = read(given, Range::Long(0, i32::MAX))? {
            *count = value;
        }
        Ok(())
    }
}

fn read(given: &notification::Property, range: Range) -> Result<Value, PropertyError> {
    let (low, high) = range.ends();
    let wrong = |code| {
        let range = PropertyRange {
            low_val: low.to_any(),
            high_val: high.to_any(),
        };
        error_of(&given.name, code, Some(range))
    };
    let value = range
        .read(&given.value)
        .ok_or_else(|| wrong(Code::BadType))?;
    if range.includes(value) {
        Ok(value)
    } else {
        Err(wrong(Code::BadValue))
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::tests::property;
    use super::*;

    #[test]
    fn what_is_set_is_what_is_got() {
        let set = AdminSettings {
            queue_length: 10,
            consumers: 2,
            suppliers: 3,
            rejects: true,
        };
        let changed = AdminSettings::default().changed(&set.to_properties());
        assert_eq!(changed.unwrap(), set);
    }

    #[test]
    fn each_mistake_has_its_code() {
        for (given, code) in [
            (property("MaxQueue", Value::Long(1)), Code::BadProperty),
            (property("MaxConsumers", Value::Long(-1)), Code::BadValue),
            (property("MaxSuppliers", Value::Short(1)), Code::BadType),
            (property("RejectNewEvents", Value::Long(1)), Code::BadType),
        ] {
            let errors = AdminSettings::default().changed(&[given]).unwrap_err();
            assert_eq!(errors[0].code, code);
        }
    }
}
