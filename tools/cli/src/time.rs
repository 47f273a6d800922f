//! Times on the command line: a number and its unit, `200ms` or `2s`, wherever one is wanted.

use punctual::parse_duration;
use std::time::Duration;

/// A time above zero, for an option that has always wanted a unit.
pub(crate) fn with_unit(text: &str) -> Result<Duration, String> {
    above_zero(parse_duration(text).map_err(|error| error.to_string())?)
}

/// A time above zero, for an option that has taken seconds before: a number alone still is that.
pub(crate) fn unit_or_seconds(text: &str) -> Result<Duration, String> {
    match text.trim().parse() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds)
            .map_err(|error| error.to_string())
            .and_then(above_zero),
        Err(_) => with_unit(text),
    }
}

/// The same, or minutes or hours as `90m` and `24h`.
pub(crate) fn hours_too(text: &str) -> Result<Duration, String> {
    let of = |unit: char, seconds: u64| {
        let number: u64 = text.trim().strip_suffix(unit)?.parse().ok()?;
        Some(Duration::from_secs(number.saturating_mul(seconds)))
    };
    match of('h', 3600).or_else(|| of('m', 60)) {
        Some(time) => above_zero(time),
        None => unit_or_seconds(text),
    }
}

fn above_zero(time: Duration) -> Result<Duration, String> {
    match time.is_zero() {
        true => Err("a time above zero is wanted, e.g. 200ms or 2s".to_owned()),
        false => Ok(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_alone_is_seconds_where_it_has_always_been_and_refused_elsewhere() {
        assert_eq!(unit_or_seconds("2"), Ok(Duration::from_secs(2)));
        assert_eq!(unit_or_seconds("0.25"), Ok(Duration::from_millis(250)));
        assert_eq!(unit_or_seconds("250ms"), Ok(Duration::from_millis(250)));
        let refused = with_unit("2").unwrap_err();
        assert!(refused.contains("`2s` are seconds"), "{refused}");
    }

    #[test]
    fn minutes_and_hours_are_taken_where_times_are_long() {
        assert_eq!(hours_too("24h"), Ok(Duration::from_secs(86_400)));
        assert_eq!(hours_too("90m"), Ok(Duration::from_secs(5_400)));
        assert_eq!(hours_too("10ms"), Ok(Duration::from_millis(10)));
        for text in ["0h", "h", "1.5h", "-1m"] {
            assert!(hours_too(text).is_err(), "{text}");
        }
    }

    #[test]
    fn no_time_at_all_is_refused() {
        for text in ["0", "0s", "-1", "-1s", "soon", "nan", "inf"] {
            assert!(unit_or_seconds(text).is_err(), "{text}");
        }
    }
}
