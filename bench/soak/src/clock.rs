//! Time-of-day clock, stepped for one process.
//!
//! Stepping `CLOCK_REALTIME` itself would affect all processes of the machine, and a time namespace
//! has clocks of its own for `CLOCK_MONOTONIC` and `CLOCK_BOOTTIME` only. So this program defines
//! `clock_gettime` itself, which the linker then uses instead of the C library's: all code in this
//! process that asks the library for the time of day, including the standard library's
//! `SystemTime`, sees it stepped. Code that asks the kernel directly does not; `cargo xtask layers`
//! refuses code of the ORB that reads that clock.
#![allow(unsafe_code)]

use crate::random::Random;
use crate::work::{Load, Tally};
use rustix::time::ClockId;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

/// Size of a step in either direction, in seconds.
const STEP_S: i64 = 3600;

/// Offset in seconds that is added to the real time of day.
static OFFSET: AtomicI64 = AtomicI64::new(0);

/// Replaces the C library's function: the time of day has the offset added.
///
/// # Safety
/// `time` must be valid for writes, as for the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> i32 {
    let known = match clock {
        libc::CLOCK_REALTIME => ClockId::Realtime,
        libc::CLOCK_REALTIME_COARSE => ClockId::RealtimeCoarse,
        libc::CLOCK_MONOTONIC => ClockId::Monotonic,
        libc::CLOCK_MONOTONIC_COARSE => ClockId::MonotonicCoarse,
        libc::CLOCK_BOOTTIME => ClockId::Boottime,
        other => {
            // SAFETY: this is the library's own call, with the arguments of its caller.
            let done = unsafe { libc::syscall(libc::SYS_clock_gettime, other, time) };
            return if done == 0 { 0 } else { -1 };
        }
    };
    let mut now = rustix::time::clock_gettime(known);
    if matches!(known, ClockId::Realtime | ClockId::RealtimeCoarse) {
        now.tv_sec += OFFSET.load(Ordering::Relaxed);
    }
    let now = libc::timespec {
        tv_sec: now.tv_sec,
        tv_nsec: now.tv_nsec,
    };
    // SAFETY: `time` is valid for writes, as this function requires.
    unsafe { time.write(now) };
    0
}

/// Steps the clock back and forth under load, and checks each time that the step took effect.
pub(crate) fn step_now_and_then(load: &Load, tally: &Tally, seed: u64) {
    let work = tally.work("clock steps");
    let mut random = Random::new(seed, "clock");
    while load.begin() {
        let before = (OFFSET.load(Ordering::Relaxed), SystemTime::now());
        let offset = STEP_S * [-1, 0, 1][random.below(3)];
        OFFSET.store(offset, Ordering::Relaxed);
        if offset > before.0 + STEP_S / 2 && SystemTime::now() < before.1 {
            tally.fault("clock steps: the time of day went on where it should have been stepped");
        }
        work.record_done();
        load.end();
        std::thread::sleep(Duration::from_millis(500 + random.below(1500) as u64));
    }
    OFFSET.store(0, Ordering::Relaxed);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn the_time_of_day_is_stepped_and_the_monotonic_clock_is_not() {
        let (day, monotonic) = (SystemTime::now(), Instant::now());
        OFFSET.store(STEP_S, Ordering::Relaxed);
        let stepped = SystemTime::now().duration_since(day).unwrap();
        OFFSET.store(0, Ordering::Relaxed);
        assert!(stepped >= Duration::from_secs(3600));
        assert!(monotonic.elapsed() < Duration::from_secs(600));
    }
}
