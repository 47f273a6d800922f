//! The processor's own time counter: the cheapest clock there is, for measurements in nanoseconds.
//!
//! On x86-64 it is the time stamp counter, on aarch64 the virtual counter (`cntvct_el0`), elsewhere
//! `CLOCK_MONOTONIC`. Reading it enters no kernel and never waits: the processor may read it some
//! instructions early or late, which a fence would prevent at twice the price.
//!
//! All processors of a machine must count alike, at a rate that neither frequency scaling nor sleep
//! changes. That holds for `cntvct_el0` by definition, and for *invariant* time stamp counters,
//! which x86-64 processors have had since about 2010; [`is_invariant`] asks the processor. Linux
//! keeps its own clock by the counter, and sets the counters of all processors alike when the
//! machine starts.
//!
//! The one reason for `unsafe` here is that reading a register is an intrinsic or an instruction.

use crate::clock;
use std::time::Duration;

/// Returns the current value of the processor's cycle counter.
#[inline]
#[must_use]
#[cfg(target_arch = "x86_64")]
pub fn now() -> u64 {
    // SAFETY: every x86-64 processor has the instruction. It touches no memory. The kernel could
    // forbid it (`PR_SET_TSC`); then a signal ends the process, and nothing is undefined.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Returns the current value of the processor's cycle counter.
#[inline]
#[must_use]
#[cfg(target_arch = "aarch64")]
pub fn now() -> u64 {
    let ticks: u64;
    // SAFETY: Linux lets every process read the register, which touches neither memory nor flags.
    unsafe {
        core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags));
    }
    ticks
}

/// Returns the current value of the processor's cycle counter.
#[inline]
#[must_use]
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn now() -> u64 {
    clock::nanos()
}

/// Returns whether the counter runs at one constant rate on all processors.
#[must_use]
#[cfg(target_arch = "x86_64")]
pub fn is_invariant() -> bool {
    const HIGHEST: u32 = 0x8000_0000;
    const POWER: u32 = 0x8000_0007;
    const INVARIANT: u32 = 1 << 8;
    // SAFETY: each x86-64 processor has the instruction. It is a safe function only from Rust 1.94 on.
    #[allow(unused_unsafe)]
    let leaf = |number| unsafe { core::arch::x86_64::__cpuid(number) };
    leaf(HIGHEST).eax >= POWER && leaf(POWER).edx & INVARIANT != 0
}

/// Returns whether the counter runs at one constant rate on all processors.
#[must_use]
#[cfg(not(target_arch = "x86_64"))]
pub const fn is_invariant() -> bool {
    true
}

/// Length of a tick of the processor's cycle counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    nanos_a_tick: f64,
}

/// Duration of the calibration: about 100,000 times the 100 ns within which the two clocks are
/// read, so that the error of the rate stays near 10 ppm.
const CALIBRATION: Duration = Duration::from_millis(10);
/// Number of readings of both clocks at each end; the closest pair counts.
const READINGS: u32 = 16;

impl Rate {
    /// Measures the rate by `CLOCK_MONOTONIC`. Keeps the processor busy for ten milliseconds.
    // A function of its own: those who count instructions leave it out by its name.
    #[inline(never)]
    #[must_use]
    pub fn calibrate() -> Self {
        let begin = both();
        let length = CALIBRATION.as_nanos();
        let end = loop {
            let now = both();
            if u128::from(now.nanos - begin.nanos) >= length {
                break now;
            }
        };
        let ticks = end.ticks.wrapping_sub(begin.ticks).max(1);
        Self {
            nanos_a_tick: float(end.nanos - begin.nanos) / float(ticks),
        }
    }

    /// Makes a rate from the known length of a tick in nanoseconds.
    #[must_use]
    pub const fn new(nanos_a_tick: f64) -> Self {
        Self { nanos_a_tick }
    }

    /// Converts ticks of the cycle counter to nanoseconds.
    #[must_use]
    pub fn nanos(self, ticks: u64) -> f64 {
        float(ticks) * self.nanos_a_tick
    }

    /// Returns the length of one tick in nanoseconds.
    #[must_use]
    pub const fn nanos_a_tick(self) -> f64 {
        self.nanos_a_tick
    }
}

/// Reading of the counter and of `CLOCK_MONOTONIC` at one moment.
struct Moment {
    ticks: u64,
    nanos: u64,
}

/// Reads both clocks several times and returns the reading with the fewest ticks in between, which
/// no interruption has widened.
fn both() -> Moment {
    let mut closest = (u64::MAX, Moment { ticks: 0, nanos: 0 });
    for _ in 0..READINGS {
        let before = now();
        let nanos = clock::nanos();
        let took = now().wrapping_sub(before);
        if took < closest.0 {
            let ticks = before.wrapping_add(took / 2);
            closest = (took, Moment { ticks, nanos });
        }
    }
    closest.1
}

#[allow(clippy::cast_precision_loss)]
fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_never_goes_back_on_a_thread() {
        let mut last = now();
        for _ in 0..100_000 {
            let next = now();
            assert!(next >= last, "{last} {next}");
            last = next;
        }
    }

    #[test]
    fn time_by_the_counter_is_time_by_the_clock() {
        if !is_invariant() {
            println!("skipped: this processor's counter changes its rate");
            return;
        }
        let rate = Rate::calibrate();
        let around = clock::nanos();
        let ticks = now();
        let within = clock::nanos();
        while clock::nanos() - within < 20_000_000 {
            std::hint::spin_loop();
        }
        let within = float(clock::nanos() - within);
        let counted = rate.nanos(now() - ticks);
        let around = float(clock::nanos() - around);
        // One interval lies within the other, however often the thread is interrupted; the
        // remaining difference is the calibration's error.
        assert!(within * 0.99 <= counted, "{within} {counted}");
        assert!(counted <= around * 1.01, "{counted} {around}");
    }

    #[test]
    fn what_was_counted_on_another_processor_is_not_of_the_future() {
        if !is_invariant() {
            println!("skipped: this processor's counter changes its rate");
            return;
        }
        for processor in crate::processor::allowed().unwrap() {
            let before = now();
            let there = std::thread::spawn(move || {
                crate::processor::pin_to(processor).unwrap();
                now()
            });
            let there = there.join().unwrap();
            let after = now();
            assert!(before <= there && there <= after, "{processor}");
        }
    }
}
