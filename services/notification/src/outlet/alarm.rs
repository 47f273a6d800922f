//! Alarm of one outlet: the timers that are to wake it.

use std::time::{Duration, Instant};

/// Longest time of one timer. An outlet that has ended, and events that it held, are kept no longer by its timers.
const LONGEST: Duration = Duration::from_secs(60);

/// Time at which the next timer of an outlet wakes it. One timer serves all later times, so that their number does not
/// grow with that of events.
#[derive(Debug, Default)]
pub(super) struct Alarm(Option<Instant>);

impl Alarm {
    /// Plans that the outlet is woken at a time, or earlier. Returns the time to set a timer to; `None` if one wakes it
    /// before.
    pub(super) fn plan(&mut self, at: Instant, now: Instant) -> Option<Duration> {
        let time = at.saturating_duration_since(now).min(LONGEST);
        let at = now + time;
        if self.0.is_some_and(|planned| planned <= at) {
            return None;
        }
        self.0 = Some(at);
        Some(time)
    }

    /// Notes that a timer has woken the outlet.
    pub(super) fn ring(&mut self, now: Instant) {
        self.0 = self.0.filter(|planned| *planned > now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_timer_serves_all_later_times_and_none_is_long() {
        let now = Instant::now();
        let after = |seconds| now + Duration::from_secs(seconds);
        let mut alarm = Alarm::default();
        assert_eq!(alarm.plan(after(3600), now), Some(LONGEST));
        assert_eq!(alarm.plan(after(7200), now), None);
        assert_eq!(alarm.plan(after(5), now), Some(Duration::from_secs(5)));
        assert_eq!(alarm.plan(after(5), now), None);
        // A timer that was set for a later time does not count.
        alarm.ring(after(4));
        assert_eq!(alarm.plan(after(5), after(4)), None);
        alarm.ring(after(5));
        assert_eq!(alarm.plan(after(7), after(5)), Some(Duration::from_secs(2)));
    }
}
