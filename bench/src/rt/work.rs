//! Work of a servant: consumes processor time.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Consumes the given processor time of this thread. Time in which the thread waits for a processor
/// does not count, so that an upcall costs the same however often it is interrupted.
pub(crate) fn busy(time: Duration) {
    if time.is_zero() {
        return;
    }
    let began = spent();
    while spent().saturating_sub(began) < time {
        std::hint::spin_loop();
    }
}

/// Returns the processor time that the calling thread has used.
fn spent() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // Neither is ever negative.
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanoseconds = u64::try_from(time.tv_nsec).unwrap_or_default();
    Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_its_time_of_the_processor() {
        let began = spent();
        busy(Duration::from_millis(2));
        assert!(spent() - began >= Duration::from_millis(2));
        busy(Duration::ZERO);
    }
}
