//! When a log is on duty: between its start and its stop, and within its week mask. All times are UTC.

use crate::clock::SECOND;
use crate::ds_log_admin::{Time24, Time24Interval, TimeInterval, TimeT, WeekMaskItem};

/// Days of the week, each a bit; Sunday is the first.
const ALL_DAYS: u16 = 0b111_1111;

/// Day of the week of 15 October 1582, a Friday, counted from Sunday.
const FIRST_DAY: u64 = 5;

/// Most items of a week mask, and most intervals of an item.
const MOST: usize = 64;

const MINUTES_OF_DAY: u64 = 24 * 60;

/// Reason for which a schedule is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadSchedule {
    /// A time is none of a day.
    Time,
    /// An interval ends before it begins.
    Interval,
    /// A mask names no day, or others than the seven; or it is too long.
    Mask,
}

/// Checks start and stop of a log; 0 leaves either open.
///
/// # Errors
/// The stop is not behind the start.
pub(crate) fn check_interval(interval: &TimeInterval) -> Result<(), BadSchedule> {
    match interval.stop {
        0 => Ok(()),
        stop if stop > interval.start => Ok(()),
        _ => Err(BadSchedule::Interval),
    }
}

/// Checks a week mask.
///
/// # Errors
/// The first mistake.
pub(crate) fn check_week_mask(mask: &[WeekMaskItem]) -> Result<(), BadSchedule> {
    if mask.len() > MOST {
        return Err(BadSchedule::Mask);
    }
    for item in mask {
        let has_bad_days = item.days == 0 || item.days & !ALL_DAYS != 0;
        if has_bad_days || item.intervals.len() > MOST {
            return Err(BadSchedule::Mask);
        }
        item.intervals.iter().try_for_each(check_interval_of_day)?;
    }
    Ok(())
}

fn check_interval_of_day(interval: &Time24Interval) -> Result<(), BadSchedule> {
    let is_time = |time: &Time24| time.hour < 24 && time.minute < 60;
    if !is_time(&interval.start) || !is_time(&interval.stop) {
        return Err(BadSchedule::Time);
    }
    match minute(&interval.start) < end(&interval.stop) {
        true => Ok(()),
        false => Err(BadSchedule::Interval),
    }
}

/// Returns whether a log with this schedule takes records at a time. A mask without items is always on; so is an item
/// without intervals, on its days.
pub(crate) fn is_on(interval: &TimeInterval, mask: &[WeekMaskItem], now: TimeT) -> bool {
    let is_within = now >= interval.start && (interval.stop == 0 || now < interval.stop);
    is_within && (mask.is_empty() || mask.iter().any(|item| includes(item, now)))
}

fn includes(item: &WeekMaskItem, now: TimeT) -> bool {
    let minutes = now / (60 * SECOND);
    let (day, minute_of_day) = (minutes / MINUTES_OF_DAY, minutes % MINUTES_OF_DAY);
    let is_day = item.days & (1 << ((day + FIRST_DAY) % 7)) != 0;
    let mut intervals = item.intervals.iter();
    let includes_minute =
        |one: &Time24Interval| (minute(&one.start)..end(&one.stop)).contains(&minute_of_day);
    is_day && (item.intervals.is_empty() || intervals.any(includes_minute))
}

fn minute(time: &Time24) -> u64 {
    u64::from(time.hour) * 60 + u64::from(time.minute)
}

/// Returns the minute at which an interval ends. 23:59 stands for the end of the day, which has no other name.
fn end(stop: &Time24) -> u64 {
    match minute(stop) {
        last if last == MINUTES_OF_DAY - 1 => MINUTES_OF_DAY,
        minute => minute,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Monday, 6 January 2025, 00:00 UTC.
    const MONDAY: TimeT = 0x01b2_1dd2_1381_4000 + 1_736_121_600 * SECOND;

    fn at(hour: u64, minute: u64) -> TimeT {
        MONDAY + (hour * 60 + minute) * 60 * SECOND
    }

    fn interval(
        (hour, minute): (u16, u16),
        (stop_hour, stop_minute): (u16, u16),
    ) -> Time24Interval {
        Time24Interval {
            start: Time24 { hour, minute },
            stop: Time24 {
                hour: stop_hour,
                minute: stop_minute,
            },
        }
    }

    fn item(days: u16, intervals: Vec<Time24Interval>) -> WeekMaskItem {
        WeekMaskItem { days, intervals }
    }

    const OPEN: TimeInterval = TimeInterval { start: 0, stop: 0 };

    #[test]
    fn a_mask_names_days_and_intervals_of_them() {
        let office = [item(2, vec![interval((8, 30), (17, 0))])];
        for (time, expected) in [
            (at(8, 29), false),
            (at(8, 30), true),
            (at(16, 59), true),
            (at(17, 0), false),
            (at(24 + 9, 0), false),
        ] {
            assert_eq!(is_on(&OPEN, &office, time), expected, "{time}");
        }
    }

    #[test]
    fn days_begin_on_sunday_and_an_item_without_intervals_is_a_whole_day() {
        for day in 0..7 {
            let mask = [item(1 << day, Vec::new())];
            let monday_is_day_one = is_on(&OPEN, &mask, at(12, 0));
            assert_eq!(monday_is_day_one, day == 1, "{day}");
        }
        let evening = [item(2, vec![interval((22, 0), (23, 59))])];
        assert!(is_on(&OPEN, &evening, at(24, 0) - 1));
        assert!(is_on(&OPEN, &[], at(3, 0)));
    }

    #[test]
    fn start_and_stop_bound_a_log() {
        let during = TimeInterval {
            start: at(1, 0),
            stop: at(2, 0),
        };
        assert!(!is_on(&during, &[], at(1, 0) - 1));
        assert!(is_on(&during, &[], at(1, 0)));
        assert!(!is_on(&during, &[], at(2, 0)));
        let later = TimeInterval { stop: 0, ..during };
        assert!(is_on(&later, &[], at(500, 0)));
    }

    #[test]
    fn mistakes_are_told_apart() {
        use BadSchedule::{Interval, Mask, Time};
        let bad = |item| check_week_mask(&[item]);
        assert_eq!(bad(item(0, Vec::new())), Err(Mask));
        assert_eq!(bad(item(128, Vec::new())), Err(Mask));
        assert_eq!(bad(item(1, vec![interval((24, 0), (24, 1))])), Err(Time));
        assert_eq!(bad(item(1, vec![interval((1, 0), (1, 60))])), Err(Time));
        assert_eq!(bad(item(1, vec![interval((2, 0), (2, 0))])), Err(Interval));
        assert_eq!(bad(item(1, vec![interval((3, 0), (2, 0))])), Err(Interval));
        assert_eq!(check_week_mask(&vec![item(1, Vec::new()); 65]), Err(Mask));
        let backwards = TimeInterval { start: 5, stop: 5 };
        assert_eq!(check_interval(&backwards), Err(Interval));
        assert_eq!(check_interval(&TimeInterval { start: 5, stop: 0 }), Ok(()));
    }
}
