//! Spans of time in whole nanoseconds, with a unit in their text form.

use punctual_idl::time::{LONGEST, TimeError, UNITS, nanoseconds};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Mul, Sub};
use std::str::FromStr;
use std::time::Duration;

/// Span of time in nanoseconds. Sums and products saturate at [`Time::MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// Units of the text form: minutes and hours are written as seconds.
const SHOWN: usize = 4;

impl Time {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// Longest time that a model may contain: a day. Sums over 100,000 operations do not overflow.
    pub const LONGEST: Self = Self(LONGEST);
    /// Largest representable time; the value of sums that overflow.
    pub const MAX: Self = Self(u64::MAX);

    /// Makes a time of nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Makes a time of microseconds.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// Makes a time of milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Returns the time in nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns whether the span is empty.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Returns the difference, or zero if `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns this time as a fraction of `whole`; infinite for a `whole` of zero.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio for people, and for bounds with tolerance"
    )]
    pub fn ratio(self, whole: Self) -> f64 {
        self.0 as f64 / whole.0 as f64
    }
}

impl From<Duration> for Time {
    /// Saturates at [`Time::MAX`].
    fn from(time: Duration) -> Self {
        Self(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Time> for Duration {
    fn from(time: Time) -> Self {
        Self::from_nanos(time.0)
    }
}

impl Add for Time {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// Saturates at zero, as times are never negative.
impl Sub for Time {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

impl Mul<u64> for Time {
    type Output = Self;

    fn mul(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }
}

impl Sum for Time {
    fn sum<I: Iterator<Item = Self>>(times: I) -> Self {
        times.fold(Self::ZERO, Add::add)
    }
}

/// Formats the time in its largest unit that is at most the time, exactly: `1.5ms`, `33ms`, `0s`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.pad("0s");
        }
        let fits = |&&(_, nanos): &&(&str, u64)| nanos <= self.0;
        let (unit, nanos) = UNITS[..SHOWN].iter().rev().find(fits).unwrap_or(&UNITS[0]);
        let (whole, rest) = (self.0 / nanos, self.0 % nanos);
        if rest == 0 {
            return f.pad(&format!("{whole}{unit}"));
        }
        let digits = nanos.ilog10() as usize;
        let fraction = format!("{rest:0digits$}");
        f.pad(&format!("{whole}.{}{unit}", fraction.trim_end_matches('0')))
    }
}

/// Parses a number and a unit: `200us`, `1.5ms`, `2 s`. A time is exact: `0.1ms` are 100,000 ns.
impl FromStr for Time {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        nanoseconds(text).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_exact_in_both_directions() {
        for (text, nanos, shown) in [
            ("200us", 200_000, "200us"),
            ("0.2ms", 200_000, "200us"),
            ("1.5 ms", 1_500_000, "1.5ms"),
            (" 33ms ", 33_000_000, "33ms"),
            ("1min", 60_000_000_000, "60s"),
            ("1ns", 1, "1ns"),
            ("1.000001s", 1_000_001_000, "1.000001s"),
            ("24h", 86_400_000_000_000, "86400s"),
            ("0s", 0, "0s"),
        ] {
            let time: Time = text.parse().unwrap();
            assert_eq!(time.as_nanos(), nanos, "{text}");
            assert_eq!(time.to_string(), shown);
            assert_eq!(shown.parse(), Ok(time));
        }
    }

    #[test]
    fn what_is_no_time_is_refused_with_its_reason() {
        let refused = |text: &str| text.parse::<Time>().unwrap_err();
        for text in [
            "", "ms", "-1ms", "1e3ms", "nan s", "inf s", "1.ms", ".5ms", "1 week", "1ms2",
        ] {
            assert!(matches!(refused(text), TimeError::NoTime(_)), "{text}");
        }
        assert!(matches!(refused("5"), TimeError::NoUnit(_)));
        assert!(matches!(refused("1.5ns"), TimeError::Fraction(_)));
        assert!(matches!(refused("25h"), TimeError::TooLong(_)));
        assert!(matches!(
            refused("99999999999999999999s"),
            TimeError::TooLong(_)
        ));
    }
}
