//! Values of properties.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use punctual::Any;

use crate::time_base::UtcT;

/// Value of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Short(i16),
    Long(i32),
    Flag(bool),
    /// Length of time in units of 100 ns.
    Time(u64),
    /// Time of day in units of 100 ns since 15 October 1582, UTC.
    Moment(u64),
}

/// Type of a property's values, and their range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Range {
    Short(i16, i16),
    Long(i32, i32),
    Flag(bool, bool),
    Time,
    Moment,
}

/// Time from 15 October 1582, when `TimeBase::TimeT` begins, to 1 January 1970, in 100 ns.
const TO_UNIX: u64 = 0x01b2_1dd2_1381_4000;

/// Returns the time of day in units of 100 ns since 15 October 1582.
pub(crate) fn since_1582() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    TO_UNIX.saturating_add(units(since))
}

/// Returns the length of a time in units of 100 ns.
pub(crate) const fn length(units: u64) -> Duration {
    let (seconds, rest) = (units / 10_000_000, units % 10_000_000);
    // Less than ten million units of 100 ns are less than 10^9 ns.
    Duration::new(seconds, (rest * 100) as u32)
}

/// Returns a length in units of 100 ns.
pub(crate) fn units(length: Duration) -> u64 {
    u64::try_from(length.as_nanos() / 100).unwrap_or(u64::MAX)
}

impl Value {
    /// Returns the value as it is sent.
    pub(crate) fn to_any(self) -> Any {
        let made = match self {
            Self::Short(value) => Any::new(&value),
            Self::Long(value) => Any::new(&value),
            Self::Flag(value) => Any::new(&value),
            Self::Time(value) => Any::new(&value),
            Self::Moment(time) => Any::new(&UtcT {
                time,
                ..UtcT::default()
            }),
        };
        made.unwrap_or_default()
    }
}

impl Range {
    /// Reads a value of this type, whatever its range; `None` is another type.
    pub(crate) fn read(self, any: &Any) -> Option<Value> {
        match self {
            Self::Short(..) => any.extract().ok().map(Value::Short),
            Self::Long(..) => any.extract().ok().map(Value::Long),
            Self::Flag(..) => any.extract().ok().map(Value::Flag),
            Self::Time => any.extract().ok().map(Value::Time),
            Self::Moment => {
                let moment: UtcT = any.extract().ok()?;
                Some(Value::Moment(moment.time))
            }
        }
    }

    /// Returns whether a value of this type is in the range.
    pub(crate) fn includes(self, value: Value) -> bool {
        match (self, value) {
            (Self::Short(low, high), Value::Short(value)) => (low..=high).contains(&value),
            (Self::Long(low, high), Value::Long(value)) => (low..=high).contains(&value),
            (Self::Flag(low, high), Value::Flag(value)) => (low..=high).contains(&value),
            (Self::Time, Value::Time(_)) | (Self::Moment, Value::Moment(_)) => true,
            _ => false,
        }
    }

    /// Returns the lowest and the highest value.
    pub(crate) const fn ends(self) -> (Value, Value) {
        match self {
            Self::Short(low, high) => (Value::Short(low), Value::Short(high)),
            Self::Long(low, high) => (Value::Long(low), Value::Long(high)),
            Self::Flag(low, high) => (Value::Flag(low), Value::Flag(high)),
            Self::Time => (Value::Time(0), Value::Time(u64::MAX)),
            Self::Moment => (Value::Moment(0), Value::Moment(u64::MAX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_pass_through_anys_and_other_types_are_refused() {
        let ranges = [
            (Range::Short(-5, 5), Value::Short(-5)),
            (Range::Long(0, 7), Value::Long(7)),
            (Range::Flag(false, true), Value::Flag(true)),
            (Range::Time, Value::Time(1)),
            (Range::Moment, Value::Moment(2)),
        ];
        for (at, (range, value)) in ranges.iter().enumerate() {
            assert_eq!(range.read(&value.to_any()), Some(*value));
            assert!(range.includes(*value));
            for (other, (range, _)) in ranges.iter().enumerate() {
                let read = range.read(&value.to_any());
                assert_eq!(read.is_some(), at == other, "{range:?} of {value:?}");
            }
        }
        assert!(!Range::Long(0, 7).includes(Value::Long(8)));
    }

    #[test]
    fn lengths_are_in_units_of_100_nanoseconds() {
        assert_eq!(length(15_000_001), Duration::new(1, 500_000_100));
        assert!(length(u64::MAX) > Duration::from_secs(1 << 40));
        assert_eq!(units(length(15_000_001)), 15_000_001);
    }
}
