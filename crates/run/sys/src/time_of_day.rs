//! Time of day, for moments that travel between hosts. Nothing waits by it.

use rustix::time::{ClockId, clock_gettime};

/// Returns the nanoseconds of the time of day since the beginning of 1970, as of the clock's last tick: 0 before. Jumps as
/// the clock is set. Enters no kernel.
#[inline]
#[must_use]
pub fn coarse_nanos() -> u64 {
    let now = clock_gettime(ClockId::RealtimeCoarse);
    // The clock may be set to a time before 1970.
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    let nanos = u64::try_from(now.tv_nsec).unwrap_or_default();
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn it_is_the_time_that_the_standard_library_reads() {
        let own = Duration::from_nanos(coarse_nanos());
        let others = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        // Generous: the machine may be busy.
        assert!(own.abs_diff(others.unwrap()) < Duration::from_secs(60));
    }
}
