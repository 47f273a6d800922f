//! Clock of arrivals and responses: the processor's counter where it runs at one rate, which takes a few instructions;
//! else `CLOCK_MONOTONIC`. Times stay in its ticks until they are read.

use punctual_sys::clock;
use punctual_sys::cycles::{self, Rate};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

const UNKNOWN: u8 = 0;
const COUNTER: u8 = 1;
const MONOTONIC: u8 = 2;

/// Clock that all threads read. It never changes once it is known: so a time is never the difference of two clocks.
static CLOCK: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Returns the ticks since a fixed moment. Enters no kernel.
pub(super) fn now() -> u64 {
    match uses_counter() {
        true => cycles::now(),
        false => clock::nanos(),
    }
}

/// Returns whether the clock is the processor's counter; asks the processor once, which may take a hypervisor some time.
pub(super) fn uses_counter() -> bool {
    // Relaxed: each thread that does not see the value finds out the same.
    let known = CLOCK.load(Ordering::Relaxed);
    if known != UNKNOWN {
        return known == COUNTER;
    }
    let is_counter = cycles::is_invariant();
    let found = if is_counter { COUNTER } else { MONOTONIC };
    CLOCK.store(found, Ordering::Relaxed);
    is_counter
}

/// Length of a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale(Rate);

impl Scale {
    /// Scale of times in nanoseconds.
    pub(super) const NANOS: Self = Self(Rate::new(1.0));

    /// Scale of ticks of this length in nanoseconds.
    #[cfg(test)]
    pub(super) fn of_ticks(nanos: f64) -> Self {
        Self(Rate::new(nanos))
    }

    /// Returns the scale of [`now`]. The first call keeps the processor busy for ten milliseconds, if it is a counter.
    pub(super) fn of_clock() -> Self {
        static RATE: OnceLock<Rate> = OnceLock::new();
        match uses_counter() {
            true => Self(*RATE.get_or_init(Rate::calibrate)),
            false => Self::NANOS,
        }
    }

    /// Returns the time of so many ticks, rounded down.
    pub(super) fn time(self, ticks: u64) -> Duration {
        Duration::from_nanos(self.nanos(ticks))
    }

    /// Returns a time that is no shorter than so many ticks.
    pub(super) fn time_at_least(self, ticks: u64) -> Duration {
        let rounded = self.time(ticks);
        let is_exact = self == Self::NANOS || ticks == 0;
        if is_exact {
            rounded
        } else {
            rounded + Duration::from_nanos(1)
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the conversion saturates"
    )]
    fn nanos(self, ticks: u64) -> u64 {
        self.0.nanos(ticks) as u64
    }

    /// Returns the largest number of ticks that are no longer than a time in nanoseconds.
    pub(super) fn ticks_within(self, nanos: u64) -> u64 {
        self.ticks(nanos, f64::floor)
    }

    /// Returns the smallest number of ticks that are no shorter than a time in nanoseconds; the highest number for it.
    pub(super) fn ticks_for(self, nanos: u64) -> u64 {
        self.ticks(nanos, f64::ceil)
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the conversion saturates, and the counter's rate is less exact than its product"
    )]
    fn ticks(self, nanos: u64, round: impl Fn(f64) -> f64) -> u64 {
        match nanos {
            u64::MAX => u64::MAX,
            _ => round(nanos as f64 / self.0.nanos_a_tick()) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_goes_on_and_its_scale_makes_nanoseconds() {
        let scale = Scale::of_clock();
        let (around, begin) = (clock::nanos(), now());
        let within = clock::nanos();
        while clock::nanos() < within + 20_000_000 {
            std::hint::spin_loop();
        }
        let end = now();
        let measured = scale.time(end - begin).as_nanos();
        let longest = u128::from(clock::nanos() - around);
        assert!(measured >= 19_800_000, "{measured}");
        assert!(measured <= longest + longest / 100, "{measured} {longest}");
    }

    #[test]
    fn bounds_in_ticks_are_rounded_as_they_are_named() {
        let scale = Scale::of_ticks(0.4);
        assert_eq!((scale.ticks_within(1), scale.ticks_for(1)), (2, 3));
        assert_eq!(scale.time(5), Duration::from_nanos(2));
        for bound in [0, 1000, u64::MAX] {
            assert_eq!(Scale::NANOS.ticks_for(bound), bound);
            assert_eq!(scale.ticks_for(bound).min(1), bound.min(1));
        }
        assert_eq!(scale.ticks_within(u64::MAX), u64::MAX);
    }
}
