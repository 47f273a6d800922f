//! Text form of times: a number and a unit, as in `200us` or `1.5ms`. IDL has it in `@rt`, models of
//! schedules in their values.

use std::fmt;

/// Units and their nanoseconds, the largest last.
pub const UNITS: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Longest time that is accepted, in nanoseconds: a day.
pub const LONGEST: u64 = 86_400_000_000_000;

/// Reason why a text cannot be parsed as a time.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeError {
    /// The text is a number without a unit of time.
    NoUnit(String),
    /// The text is neither a number nor a number with a unit.
    NoTime(String),
    /// The text has a fraction of a nanosecond.
    Fraction(String),
    /// The time is longer than [`LONGEST`].
    TooLong(String),
}

/// Parses a number and a unit, and returns the nanoseconds: `200us`, `1.5ms`, `2 s`. A time is
/// exact: `0.1ms` are 100,000 ns.
///
/// # Errors
/// The text is no time, has no unit, is no whole number of nanoseconds, or is longer than a day.
pub fn nanoseconds(text: &str) -> Result<u64, TimeError> {
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
    total.filter(|total| *total <= LONGEST).ok_or_else(too_long)
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

impl fmt::Display for TimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoUnit(text) => write!(
                f,
                "`{text}` has no unit: `{text}us` are microseconds, `{text}ms` milliseconds"
            ),
            Self::NoTime(text) => write!(
                f,
                "`{text}` is not a time: write a number and one of the units ns, us, ms, s, min, h, as in 200us or 1.5ms"
            ),
            Self::Fraction(text) => write!(f, "`{text}` is not a whole number of nanoseconds"),
            Self::TooLong(text) => write!(
                f,
                "`{text}` is longer than a day, the longest time of a schedule"
            ),
        }
    }
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for TimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for TimeError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_exact() {
        for (text, nanos) in [
            ("200us", 200_000),
            ("0.2ms", 200_000),
            (" 1.5 ms ", 1_500_000),
            ("1.000001s", 1_000_001_000),
            ("24h", LONGEST),
            ("0s", 0),
        ] {
            assert_eq!(nanoseconds(text), Ok(nanos), "{text}");
        }
    }
}
