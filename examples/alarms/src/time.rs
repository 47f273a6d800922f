//! Times of day: GeneralizedTime, as TMF 814 writes them, and `UtcT`, as 3GPP does.

use std::time::{SystemTime, UNIX_EPOCH};

use punctual_notification::time_base::UtcT;

/// Time from 15 October 1582, when `TimeBase::TimeT` begins, to 1 January 1970, in units of 100 ns.
const BEFORE_1970: u64 = 122_192_928_000_000_000;

/// Units of 100 ns in a millisecond.
const UNITS: u64 = 10_000;

const MILLIS_A_DAY: u64 = 86_400_000;

/// Returns the time of day, in milliseconds since 1970.
#[must_use]
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// Returns a time as GeneralizedTime in tenths of a second: `20261127225512.3Z`.
pub(crate) fn generalized(millis: u64) -> String {
    let (year, month, day) = date(millis / MILLIS_A_DAY);
    let tenths = millis % MILLIS_A_DAY / 100;
    let (hour, minute) = (tenths / 36_000, tenths / 600 % 60);
    let (second, tenth) = (tenths / 10 % 60, tenths % 10);
    format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}.{tenth}Z")
}

/// Returns a time as `UtcT`.
pub(crate) fn utc(millis: u64) -> UtcT {
    UtcT {
        time: millis * UNITS + BEFORE_1970,
        ..UtcT::default()
    }
}

/// Returns the milliseconds since 1970 of a `UtcT`; 0 for an earlier one.
pub(crate) fn millis(utc: &UtcT) -> u64 {
    utc.time.saturating_sub(BEFORE_1970) / UNITS
}

/// Returns year, month and day of a number of days since 1970, in the Gregorian calendar. Years are counted from
/// March on, so that the day of a leap year is their last.
fn date(days: u64) -> (u64, u64, u64) {
    const FOUR_CENTURIES: u64 = 146_097;
    let days = days + 719_468; // from 1 March of year 0 on
    let (era, day) = (days / FOUR_CENTURIES, days % FOUR_CENTURIES);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = match month {
        0..10 => (month + 3, 0),
        _ => (month - 9, 1),
    };
    (era * 400 + year + later, month, day)
}
