//! Place of a time on the axis.

use crate::time::Time;

/// Least distance of two ticks in pixels.
const TICK: u64 = 80;

/// Axis from time zero to the end of the window.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    pub(super) left: f64,
    pub(super) width: u32,
    pub(super) until: Time,
}

impl Scale {
    /// Returns the place of a time in pixels; times behind the window are at its end.
    pub(super) fn x(&self, time: Time) -> f64 {
        self.left + self.length(time.min(self.until))
    }

    /// Returns the length of a span in pixels.
    pub(super) fn length(&self, span: Time) -> f64 {
        f64::from(self.width) * span.ratio(self.until.max(Time::from_nanos(1)))
    }

    /// Returns the place of the end of the axis.
    pub(super) fn right(&self) -> f64 {
        self.left + f64::from(self.width)
    }

    /// Returns the times of the ticks, from zero.
    pub(super) fn ticks(&self) -> impl Iterator<Item = Time> + use<> {
        let until = self.until;
        let step = self.step();
        let count = until.as_nanos() / step.as_nanos().max(1);
        (0..=count).map(move |tick| step * tick)
    }

    /// Returns the distance of two ticks: 1, 2 or 5 of a power of ten.
    fn step(&self) -> Time {
        let most = u64::from(self.width) / TICK;
        let least = self.until.as_nanos().div_ceil(most.max(1)).max(1);
        let power = 10_u64.saturating_pow(least.ilog10());
        let steps = [1, 2, 5, 10].map(|factor| power.saturating_mul(factor));
        let step = steps.into_iter().find(|&step| step >= least);
        Time::from_nanos(step.unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_far_enough_apart() {
        for (until, step, count) in [
            (1_000, 100, 11),
            (1_500, 200, 8),
            (12_000, 2_000, 7),
            (1, 1, 2),
        ] {
            let scale = Scale {
                left: 0.0,
                width: 800,
                until: Time::from_nanos(until),
            };
            let ticks: Vec<Time> = scale.ticks().collect();
            assert_eq!((ticks[1].as_nanos(), ticks.len()), (step, count));
        }
    }
}
