//! Monotonic clock, exact and as of its last tick, and the clock of TAI. The second is cheaper to read, and at most a
//! tick behind (1 to 10 ms, `CLOCK_MONOTONIC_COARSE`), for rough measurements of elapsed time.

use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, DynamicClockId, Timespec, clock_gettime, clock_gettime_dynamic};
use std::io;

/// Returns the nanoseconds since a fixed moment before the process began. Enters no kernel.
#[inline]
#[must_use]
pub fn nanos() -> u64 {
    read(ClockId::Monotonic)
}

/// Returns the nanoseconds of [`nanos`] as of the clock's last tick.
#[inline]
#[must_use]
pub fn coarse_nanos() -> u64 {
    read(ClockId::MonotonicCoarse)
}

/// Returns the nanoseconds of International Atomic Time since the beginning of 1970 (`CLOCK_TAI`): the time of day without
/// leap seconds, if the kernel knows its offset ([`Discipline::has_tai`](crate::discipline::Discipline::has_tai)), else the
/// time of day itself. Enters no kernel.
///
/// # Errors
/// The kernel has no such clock, as those before Linux 3.10.
pub fn tai_nanos() -> io::Result<u64> {
    Ok(in_nanos(clock_gettime_dynamic(DynamicClockId::Tai)?))
}

/// Returns the milliseconds since a fixed moment before the process began, as of the clock's last
/// tick. Enters no kernel.
#[inline]
#[must_use]
pub fn coarse_millis() -> u64 {
    coarse_nanos() / 1_000_000
}

/// Blocks the calling thread until a moment of [`nanos`], or returns at once if it has passed. Uses an
/// absolute time, so that a thread that is preempted before it sleeps is not late.
pub fn sleep_until(at: u64) {
    let at = Timespec {
        tv_sec: (at / 1_000_000_000).cast_signed(),
        tv_nsec: (at % 1_000_000_000).cast_signed(),
    };
    // A signal interrupts the sleep.
    while clock_nanosleep_absolute(ClockId::Monotonic, &at) == Err(Errno::INTR) {}
}

#[inline]
fn read(clock: ClockId) -> u64 {
    in_nanos(clock_gettime(clock))
}

#[inline]
fn in_nanos(now: Timespec) -> u64 {
    // The clocks count from the machine's start, or from 1970: neither part is ever negative.
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn it_goes_on_with_the_exact_clock() {
        let (begin, exact) = (coarse_millis(), Instant::now());
        while coarse_millis() < begin + 20 {
            std::thread::yield_now();
        }
        assert!(exact.elapsed() >= Duration::from_millis(9));
    }
}
