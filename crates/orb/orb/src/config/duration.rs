//! Parser of times: a number and its unit.

use std::time::Duration;

/// Reason why a text cannot be parsed as a duration.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DurationError {
    /// The text is a number without a unit of time.
    #[error("`{0}` has no unit: `{0}s` are seconds, `{0}ms` milliseconds")]
    NoUnit(String),
    /// The text is neither a number nor a number with a unit.
    #[error(
        "`{0}` is no time: a number and one of the units ms, s, min, h are wanted, e.g. 200ms or 2s"
    )]
    NoTime(String),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for DurationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

const UNITS: [(&str, f64); 5] = [
    ("us", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("min", 60.0),
    ("h", 3600.0),
];

/// Parses a time: `200ms`, `2s`, `1.5s`, `3min`, `1h`, `50us`. A space may stand before the unit.
///
/// # Errors
/// [`DurationError`]: a number without a unit, which would be ambiguous; any other invalid time,
/// such as a negative one.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let text = text.trim();
    let no_time = || DurationError::NoTime(text.to_owned());
    let unit_at = text.find(|character: char| character.is_ascii_alphabetic());
    let (number, unit) = text.split_at(unit_at.unwrap_or(text.len()));
    let number: f64 = number.trim_end().parse().map_err(|_| no_time())?;
    if unit.is_empty() {
        return Err(DurationError::NoUnit(text.to_owned()));
    }
    let known = UNITS.iter().find(|(name, _)| *name == unit);
    let (_, seconds) = known.ok_or_else(no_time)?;
    // Whole nanoseconds, so that `0.2s` is what `200ms` is.
    let nanoseconds = (number * seconds * 1e9).round();
    let duration = Duration::try_from_secs_f64(nanoseconds / 1e9).map_err(|_| no_time())?;
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_a_unit_are_a_time() {
        let milliseconds = Duration::from_millis;
        for (text, time) in [
            ("200ms", milliseconds(200)),
            ("0.2s", milliseconds(200)),
            ("2s", milliseconds(2_000)),
            ("1.5 s", milliseconds(1_500)),
            (" 3min ", milliseconds(180_000)),
            ("1h", milliseconds(3_600_000)),
            ("50us", Duration::from_micros(50)),
            ("0ms", Duration::ZERO),
        ] {
            assert_eq!(parse_duration(text), Ok(time), "{text}");
        }
    }

    #[test]
    fn a_number_alone_is_refused_with_what_it_could_mean() {
        let refused = parse_duration("5").unwrap_err();
        assert_eq!(refused, DurationError::NoUnit("5".to_owned()));
        assert_eq!(
            refused.to_string(),
            "`5` has no unit: `5s` are seconds, `5ms` milliseconds"
        );
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "", "s", "ms", "soon", "2 weeks", "-1s", "1e30h", "nans", "infs", "2S", "1s5",
        ] {
            let refused = parse_duration(text).unwrap_err();
            assert!(
                matches!(refused, DurationError::NoTime(_)),
                "{text}: {refused}"
            );
        }
    }
}
