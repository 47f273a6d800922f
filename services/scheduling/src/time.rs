//! Spans of time in whole nanoseconds, with a unit in their text form.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Mul, Sub};
use std::str::FromStr;

/// Span of time in nanoseconds. Sums and products saturate at [`Time::MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// Reason why a text cannot be parsed as a [`Time`].
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimeError {
    /// The text is a number without a unit of time.
    #[error("`{0}` has no unit: `{0}us` are microseconds, `{0}ms` milliseconds")]
    NoUnit(String),
    /// The text is neither a number nor a number with a unit.
    #[error(
        "`{0}` is not a time: write a number and one of the units ns, us, ms, s, min, h, as in 200us or 1.5ms"
    )]
    NoTime(String),
    /// The text has a fraction of a nanosecond.
    #[error("`{0}` is not a whole number of nanoseconds")]
    Fraction(String),
    /// The time is longer than [`Time::LONGEST`].
    #[error("`{0}` is longer than a day, the longest time of a schedule")]
    TooLong(String),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for TimeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Units and their nanoseconds, the largest last.
const UNITS: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Units of the text form: minutes and hours are written as seconds.
const SHOWN: usize = 4;

impl Time {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// Longest time that a model may contain: a day. Sums over 100,000 operations do not overflow.
    pub const LONGEST: Self = Self(86_400_000_000_000);
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
        let text = text.trim();
        let no_time = || TimeError::NoTime(text.to_owned());
        let at = text.find(|c: char| c.is_ascii_alphabetic());
        let (number, unit) = text.split_at(at.unwrap_or(text.len()));
        let number = number.trim_end();
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) || number.ends_with('.') {
            return Err(no_time());
        }
        if unit.is_empty() {
            return Err(TimeError::NoUnit(text.to_owned()));
        }
        let known = UNITS.iter().find(|(name, _)| *name == unit);
        let (_, nanos) = known.ok_or_else(no_time)?;
        let too_long = || TimeError::TooLong(text.to_owned());
        let whole: u64 = whole.parse().map_err(|_| too_long())?;
        let total = whole.checked_mul(*nanos).ok_or_else(too_long)?;
        let total = total.checked_add(part(fraction, *nanos, text)?);
        let time = Self(total.ok_or_else(too_long)?);
        if time > Self::LONGEST {
            return Err(too_long());
        }
        Ok(time)
    }
}

/// Returns the nanoseconds of the digits behind a decimal point.
fn part(digits: &str, nanos: u64, text: &str) -> Result<u64, TimeError> {
    let digits = digits.trim_end_matches('0');
    let fraction = || TimeError::Fraction(text.to_owned());
    if digits.len() > 18 {
        return Err(fraction());
    }
    let (mut value, mut scale) = (0, 1);
    for digit in digits.bytes() {
        value = value * 10 + u128::from(digit - b'0');
        scale *= 10;
    }
    let scaled = value * u128::from(nanos);
    if scaled % scale != 0 {
        return Err(fraction());
    }
    u64::try_from(scaled / scale).map_err(|_| fraction())
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
