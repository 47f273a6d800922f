//! End times of calls, after which requests or replies are too late (CORBA 3.3 part 2, §22.2.4).

use punctual_exec::Deadline;
use std::time::{Duration, SystemTime};

/// Latest delivery times of a request and of its reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EndTimes {
    pub(crate) request: Option<SystemTime>,
    /// Latest delivery of the request, counted from the beginning of each call. The earlier one of
    /// this and the absolute end time applies.
    pub(crate) request_within: Option<Duration>,
    pub(crate) reply: Option<SystemTime>,
}

/// Latest delivery times of the request and the reply of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallEndTimes {
    pub(crate) request: Option<SystemTime>,
    pub(crate) reply: Option<SystemTime>,
}

impl EndTimes {
    pub(crate) fn are_any(&self) -> bool {
        *self != Self::default()
    }

    /// Returns the end times of a call that begins now.
    pub(crate) fn begin(&self) -> CallEndTimes {
        let within = self.request_within;
        let within = within.and_then(|within| SystemTime::now().checked_add(within));
        CallEndTimes {
            request: [self.request, within].into_iter().flatten().min(),
            reply: self.reply,
        }
    }
}

impl CallEndTimes {
    /// Returns the time after which the request is too late.
    pub(crate) fn request_deadline(&self) -> Deadline {
        deadline(self.request)
    }

    /// Returns the time after which the reply is too late.
    pub(crate) fn reply_deadline(&self) -> Deadline {
        deadline(self.reply)
    }
}

/// Converts an end time to a deadline by the monotonic clock, so that setting the system clock does
/// not affect calls in progress.
pub(super) fn deadline(end: Option<SystemTime>) -> Deadline {
    let left = end.map(|end| end.duration_since(SystemTime::now()).unwrap_or_default());
    Deadline::after_optional(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earlier_end_of_a_request_holds() {
        let now = SystemTime::now();
        let (soon, late) = (Duration::from_secs(60), Duration::from_secs(600));
        for (request, within) in [(soon, late), (late, soon)] {
            let ends = EndTimes {
                request: Some(now + request),
                request_within: Some(within),
                reply: None,
            };
            let end = ends.begin().request_deadline().remaining().unwrap();
            assert!(end > Duration::ZERO && end <= soon + Duration::from_secs(5));
        }
    }

    #[test]
    fn an_end_that_has_passed_is_now() {
        let ends = EndTimes {
            reply: Some(SystemTime::UNIX_EPOCH),
            ..EndTimes::default()
        };
        assert!(ends.are_any());
        assert!(ends.begin().reply_deadline().has_passed());
        assert!(!ends.begin().request_deadline().has_passed());
    }
}
