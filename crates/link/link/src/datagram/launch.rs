//! Launch times of datagrams: periodic one-ways leave the host at multiples of a period, however early or late their
//! thread has sent them (`SO_TXTIME`). The queueing discipline `etf` or `fq` of the device holds them back; others ignore
//! launch times.

use crate::{Cause, LinkError, Phase, Properties};
use punctual_sys::traffic::LaunchClock;
use std::io;
use std::num::NonZeroU32;
use std::time::Duration;

/// Names of the properties that [`launch_times`] reads.
pub(crate) const LAUNCH_PROPERTIES: [&str; 3] =
    ["launch_period_us", "launch_lead_us", "launch_clock"];

/// Time by which a launch is ahead of its send, unless that is set: more than the `delta` of `etf`, which drops what comes
/// later, usually is.
const LEAD: Duration = Duration::from_micros(500);

/// Launch times of a connection's datagrams: multiples of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchTimes {
    /// Distance of launch times, counted from the beginning of the clock.
    pub period: Duration,
    /// Least time from sending a datagram to its launch. Default 500 microseconds.
    pub lead: Duration,
    /// Clock that the queueing discipline goes by.
    pub clock: LaunchClock,
}

impl LaunchTimes {
    /// Returns the launch time of a datagram that is sent now, in nanoseconds of the clock.
    pub(super) fn next(&self) -> io::Result<u64> {
        Ok(self.after(self.clock.now()?))
    }

    fn after(&self, now: u64) -> u64 {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let earliest = now.saturating_add(nanos(self.lead));
        let period = nanos(self.period).max(1);
        earliest.div_ceil(period).saturating_mul(period)
    }
}

/// Values of launch times that properties have, each by itself.
struct Given {
    period: Option<Duration>,
    lead: Option<Duration>,
    clock: Option<LaunchClock>,
}

impl Given {
    fn read(properties: &Properties, phase: Phase) -> Result<Self, LinkError> {
        let micros = |number: u32| Duration::from_micros(number.into());
        let period = properties.parse::<NonZeroU32>(
            "launch_period_us",
            "a number of microseconds, 1 or more",
            phase,
        )?;
        let lead = properties.parse::<u32>("launch_lead_us", "a number of microseconds", phase)?;
        let clock = properties.parse::<Clock>("launch_clock", "tai or monotonic", phase)?;
        Ok(Self {
            period: period.map(|period| micros(period.get())),
            lead: lead.map(micros),
            clock: clock.map(|clock| clock.0),
        })
    }
}

/// Checks the values of launch times, without a period too: a policy may add it to a configured lead and clock.
///
/// # Errors
/// [`Cause::BadProperty`] for invalid text.
pub(crate) fn check_launch_values(properties: &Properties, phase: Phase) -> Result<(), LinkError> {
    Given::read(properties, phase).map(drop)
}

/// Returns the launch times of which the given properties replace some; none without a period.
///
/// # Errors
/// [`Cause::BadProperty`] for invalid text, and for a lead or a clock where no period is known: nothing would obey it.
pub(crate) fn launch_times(
    before: Option<LaunchTimes>,
    properties: &Properties,
    phase: Phase,
) -> Result<Option<LaunchTimes>, LinkError> {
    let given = Given::read(properties, phase)?;
    let Some(period) = given.period.or(before.map(|before| before.period)) else {
        let idle = LAUNCH_PROPERTIES.iter();
        let mut idle = idle.filter_map(|name| Some((name, properties.get(name)?)));
        return match idle.next() {
            None => Ok(None),
            Some((name, value)) => Err(LinkError {
                phase,
                cause: Cause::BadProperty {
                    property: format!("{name}={value}").into(),
                    expected: "launch_period_us beside it",
                },
            }),
        };
    };
    Ok(Some(LaunchTimes {
        period,
        lead: (given.lead).unwrap_or(before.map_or(LEAD, |before| before.lead)),
        clock: (given.clock)
            .unwrap_or(before.map_or(LaunchClock::default(), |before| before.clock)),
    }))
}

struct Clock(LaunchClock);

impl std::str::FromStr for Clock {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "tai" => Ok(Self(LaunchClock::Tai)),
            "monotonic" => Ok(Self(LaunchClock::Monotonic)),
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &[(&str, &str)]) -> Result<Option<LaunchTimes>, LinkError> {
        launch_times(None, &pairs.iter().copied().collect(), Phase::Connect)
    }

    #[test]
    fn launches_are_multiples_of_the_period_and_no_sooner_than_the_lead() {
        let times = with(&[("launch_period_us", "1000"), ("launch_lead_us", "200")]);
        let times = times.unwrap().unwrap();
        assert_eq!(times.clock, LaunchClock::Tai);
        for (now, launch) in [
            (0, 1_000_000),
            (799_999, 1_000_000),
            (800_000, 1_000_000),
            (800_001, 2_000_000),
            (5_000_000, 6_000_000),
        ] {
            assert_eq!(times.after(now), launch, "{now}");
        }
        assert_eq!(with(&[]).unwrap(), None);
        assert_eq!(with(&[("dscp", "EF")]).unwrap(), None);
    }

    #[test]
    fn a_lead_and_a_clock_without_a_period_are_refused_and_with_that_of_the_options_taken() {
        for (name, value) in [("launch_lead_us", "200"), ("launch_clock", "monotonic")] {
            let error = with(&[(name, value)]).unwrap_err().to_string();
            assert!(error.contains(&format!("{name}={value}")), "{error}");
            assert!(error.contains("launch_period_us"), "{error}");
        }
        let alone = [("launch_lead_us", "200"), ("launch_clock", "monotonic")];
        check_launch_values(&alone.into_iter().collect(), Phase::Connect).unwrap();
        let before = with(&[("launch_period_us", "1000")]).unwrap();
        let properties = [("launch_lead_us", "200")].into_iter().collect();
        let times = launch_times(before, &properties, Phase::Connect).unwrap();
        assert_eq!(times.unwrap().lead, Duration::from_micros(200));
        assert_eq!(times.unwrap().period, Duration::from_millis(1));
    }

    #[test]
    fn a_period_of_nothing_and_a_clock_that_is_none_are_refused() {
        for pair in [
            ("launch_period_us", "0"),
            ("launch_period_us", "-1"),
            ("launch_lead_us", "soon"),
            ("launch_clock", "wall"),
        ] {
            let error = with(&[pair]).unwrap_err();
            assert!(matches!(error.cause, Cause::BadProperty { .. }), "{error}");
            check_launch_values(&[pair].into_iter().collect(), Phase::Connect).unwrap_err();
        }
    }
}
