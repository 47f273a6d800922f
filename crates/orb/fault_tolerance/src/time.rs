//! Times of the standard (TimeBase::TimeT): hundreds of nanoseconds since 15 October 1582.

use punctual_sys::time_of_day;
use std::time::Duration;

/// The beginning of 1970 as a TimeT.
const OF_1970: u64 = 0x01b2_1dd2_1381_4000;
/// Length of a unit in nanoseconds.
const UNIT: u64 = 100;

/// Returns the time of day, as of the last tick of its clock.
#[inline]
pub(crate) fn now() -> u64 {
    OF_1970 + time_of_day::coarse_nanos() / UNIT
}

/// Returns a duration in units of a TimeT; the longest one if it is longer.
pub(crate) fn units(duration: Duration) -> u64 {
    let units = duration.as_nanos() / u128::from(UNIT);
    u64::try_from(units).unwrap_or(u64::MAX)
}

/// Returns the duration of this many units.
pub(crate) fn duration(units: u64) -> Duration {
    let (seconds, rest) = (units / 10_000_000, units % 10_000_000);
    Duration::new(seconds, u32::try_from(rest * UNIT).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn now_is_the_time_of_day() {
        let of_system = || {
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            OF_1970 + units(since.unwrap())
        };
        // The coarse clock is a tick behind; generous, as the machine may be busy.
        let (now, other) = (now(), of_system());
        assert!(now.abs_diff(other) < units(Duration::from_secs(60)));
    }

    #[test]
    fn durations_are_converted_there_and_back() {
        let second_and_a_bit = Duration::new(1, 200);
        assert_eq!(units(second_and_a_bit), 10_000_002);
        assert_eq!(duration(10_000_002), second_and_a_bit);
        assert_eq!(units(Duration::MAX), u64::MAX);
    }
}
