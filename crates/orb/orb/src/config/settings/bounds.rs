//! Bounds and unit of a numeric setting.

use std::fmt;
use std::time::Duration;

/// Unit in which a numeric setting is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// No unit, or the thing that is counted, such as `threads`; empty if the key says it.
    Count(&'static str),
    Bytes,
    Microseconds,
    Milliseconds,
    Seconds,
}

/// Smallest and largest number that a setting may have, and its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) least: u64,
    pub(super) most: u64,
    /// True if 0 is allowed although it is below the minimum.
    pub(super) or_zero: bool,
    pub(super) unit: Unit,
}

impl Bounds {
    /// Bounds that allow any number.
    pub(super) const ANY: Self = Self {
        least: 0,
        most: u64::MAX,
        or_zero: false,
        unit: Unit::Count(""),
    };

    /// Returns whether the number is within the bounds of the setting.
    pub(super) fn contain(self, number: u64) -> bool {
        (self.least..=self.most).contains(&number) || (self.or_zero && number == 0)
    }
}

impl Unit {
    /// Returns whether the unit is a unit of time.
    pub(super) fn is_of_time(self) -> bool {
        matches!(
            self,
            Self::Microseconds | Self::Milliseconds | Self::Seconds
        )
    }

    /// Returns the duration of `number` units; a unit that is not one of time counts as a
    /// millisecond.
    pub(super) fn time(self, number: u64) -> Duration {
        match self {
            Self::Seconds => Duration::from_secs(number),
            Self::Microseconds => Duration::from_micros(number),
            Self::Milliseconds | Self::Bytes | Self::Count(_) => Duration::from_millis(number),
        }
    }

    /// Returns the number of units in a time, rounded up, as system calls do.
    pub(super) fn number(self, time: Duration) -> u64 {
        let unit = self.time(1).as_nanos();
        u64::try_from(time.as_nanos().div_ceil(unit)).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Count(name) => name,
            Self::Bytes => "bytes",
            Self::Microseconds => "microseconds",
            Self::Milliseconds => "milliseconds",
            Self::Seconds => "seconds",
        })
    }
}

/// Shows the valid range: `1 to 127`, `at least 64 bytes`, `0, or at least 1024 bytes`.
impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.or_zero {
            f.write_str("0, or ")?;
        }
        match (self.least, self.most) {
            (0, u64::MAX) => f.write_str("a number")?,
            (least, u64::MAX) => write!(f, "at least {least}")?,
            (least, most) => write!(f, "{least} to {most}")?,
        }
        match (self.unit, self.least, self.most) {
            (Unit::Count(""), ..) => Ok(()),
            (unit, 0, u64::MAX) => write!(f, " of {unit}"),
            (unit, ..) => write!(f, " {unit}"),
        }
    }
}
