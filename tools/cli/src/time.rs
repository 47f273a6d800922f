//! Times on the command line: a number and its unit, `200ms` or `2s`.

use punctual::config::parse_duration;
use std::time::Duration;

/// Parses a time above zero. A number without a unit is refused, as it could mean any.
pub(crate) fn with_unit(text: &str) -> Result<Duration, String> {
    let time = parse_duration(text).map_err(|error| error.to_string())?;
    match time.is_zero() {
        true => Err("expected a time above zero, e.g. 200ms or 2s".to_owned()),
        false => Ok(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit() {
        assert_eq!(with_unit("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(with_unit("2s"), Ok(Duration::from_secs(2)));
        let refused = with_unit("2").unwrap_err();
        assert!(refused.contains("`2s` are seconds"), "{refused}");
    }

    #[test]
    fn no_time_at_all_is_refused() {
        for text in ["0s", "0ms", "-1s", "soon", "nan", "inf"] {
            assert!(with_unit(text).is_err(), "{text}");
        }
    }
}
