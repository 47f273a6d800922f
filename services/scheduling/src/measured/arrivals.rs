//! Period and jitter within which jobs arrived, bursts included.

use super::nanos::nanos;
use crate::time::Time;
use serde::Deserialize;

/// Number of jobs whose mean distance may be the period.
const BLOCK: usize = 64;

/// Period and jitter within which all jobs came, bursts included: any `n` that followed one another took at least
/// `n - 1` periods less the jitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Arrivals {
    /// Period; zero if all jobs came at once.
    #[serde(deserialize_with = "nanos")]
    pub period: Time,
    /// Jitter, which may be longer.
    #[serde(deserialize_with = "nanos")]
    pub jitter: Time,
}

impl Arrivals {
    /// Returns the period and the jitter of jobs that arrived at these times, which are in order: the shortest mean
    /// distance of 64, counted from each 64th, and the smallest jitter for it. `None` of fewer than two.
    #[must_use]
    pub fn of(times: &[Time]) -> Option<Self> {
        let last = times.len().checked_sub(1).filter(|last| *last > 0)?;
        let ends = (0..last)
            .step_by(BLOCK)
            .map(|begin| (begin, (begin + BLOCK).min(last)));
        let is_whole = |(begin, end): &(usize, usize)| *begin == 0 || end - begin == BLOCK;
        let means = ends.filter(is_whole).filter_map(|(begin, end)| {
            let span = *times.get(end)? - *times.get(begin)?;
            span.as_nanos().checked_div((end - begin) as u64)
        });
        let period = Time::from_nanos(means.min()?);
        let jitter = jitter(times, period);
        Some(Self { period, jitter })
    }

    /// Returns a period and a jitter of the jobs of two operations together, which come at any time beside one another.
    ///
    /// In a time `t` there are at most `(t + J) / T + 1` jobs of either.
    pub(super) fn united(self, other: Self) -> Self {
        let nanos = |time: Time| u128::from(time.as_nanos());
        let (one, two) = (nanos(self.period), nanos(other.period));
        let both = one.saturating_add(two).max(1);
        // Rounded down: a shorter period takes no longer jitter.
        let period = one * two / both;
        let late = |arrivals: Self| {
            (nanos(arrivals.jitter) * period).div_ceil(nanos(arrivals.period).max(1))
        };
        let jitter = period
            .saturating_add(late(self))
            .saturating_add(late(other));
        let time = |nanos: u128| Time::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        Self {
            period: time(period),
            jitter: time(jitter),
        }
    }

    /// Returns the period and the jitter with one job more, at any time.
    pub(super) fn with_one(self) -> Self {
        Self {
            jitter: self.jitter + self.period,
            ..self
        }
    }
}

/// Returns the smallest jitter for a period: any `n` jobs that follow one another took at least `n - 1` periods less it.
pub(super) fn jitter(times: &[Time], period: Time) -> Time {
    let (mut jitter, mut expected) = (Time::ZERO, Time::ZERO);
    for time in times {
        jitter = jitter.max(expected - *time);
        expected = expected.max(*time) + period;
    }
    jitter
}
