//! The monotonic clock as of its last tick: cheaper to read than the exact one, and at most a tick behind
//! it (1 to 10 ms, `CLOCK_MONOTONIC_COARSE`). For what asks how long ago something was, roughly.

use rustix::time::{ClockId, clock_gettime};

/// Milliseconds since some moment before the process began. Enters no kernel.
#[inline]
#[must_use]
pub fn coarse_millis() -> u64 {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    // The clock counts from the machine's start: neither part is ever negative.
    now.tv_sec.cast_unsigned() * 1000 + now.tv_nsec.cast_unsigned() / 1_000_000
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
