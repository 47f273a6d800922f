//! Clocks of the time stamps of events.

use punctual_sys::clock;
use punctual_sys::discipline::Discipline;
use std::time::{SystemTime, UNIX_EPOCH};

/// Time from 15 October 1582, when TimeBase::TimeT begins, to 1 January 1970, in 100 ns.
const TO_UNIX: u64 = 0x01b2_1dd2_1381_4000;

/// Clock of the times at which a channel receives and sends events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EventClock {
    /// Time of day (`CLOCK_REALTIME`), as TAO has it: UTC, in which a second repeats at a leap second.
    #[default]
    TimeOfDay,
    /// International Atomic Time (`CLOCK_TAI`), which PTP distributes: without leap seconds, and 37 s ahead of UTC since 2017.
    Tai,
}

impl EventClock {
    /// Returns `Tai` if the kernel's clock is synchronised and knows the offset of TAI, else `TimeOfDay`. A system call.
    #[must_use]
    pub fn detected() -> Self {
        Discipline::now().map_or(Self::TimeOfDay, |discipline| Self::of(&discipline))
    }

    /// Returns the clock's time as a TimeT: in 100 ns since 15 October 1582.
    #[must_use]
    pub fn now(self) -> u64 {
        let nanos = match self {
            Self::TimeOfDay => time_of_day(),
            // A kernel without this clock is not synchronised to it.
            Self::Tai => clock::tai_nanos().unwrap_or_else(|_| time_of_day()),
        };
        TO_UNIX.saturating_add(nanos / 100)
    }

    fn of(discipline: &Discipline) -> Self {
        match discipline.has_tai() {
            true => Self::Tai,
            false => Self::TimeOfDay,
        }
    }
}

/// Returns the nanoseconds since the beginning of 1970.
fn time_of_day() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn tai_is_the_clock_of_a_machine_that_is_synchronised_to_it() {
        let clock = |is_synchronised, tai_offset| {
            EventClock::of(&Discipline {
                is_synchronised,
                tai_offset,
                offset: 0,
                estimated_error: Duration::ZERO,
                maximum_error: Duration::ZERO,
            })
        };
        assert_eq!(clock(true, 37), EventClock::Tai);
        assert_eq!(clock(true, 0), EventClock::TimeOfDay);
        assert_eq!(clock(false, 37), EventClock::TimeOfDay);
    }

    #[test]
    fn both_clocks_count_from_1582_and_differ_by_the_kernels_offset() {
        let Ok(discipline) = Discipline::now() else {
            println!("skipped: adjtimex is refused here");
            return;
        };
        let offset = i64::from(discipline.tai_offset) * 10_000_000;
        let [before, tai, after] = [
            EventClock::TimeOfDay.now().saturating_add_signed(offset),
            EventClock::Tai.now(),
            EventClock::TimeOfDay.now().saturating_add_signed(offset),
        ];
        assert!((before..=after).contains(&tai));
        // 440 years, and more than 430, from then to now.
        let years = EventClock::Tai.now() / (365 * 86_400 * 10_000_000);
        assert!((430..600).contains(&years), "{years}");
    }
}
