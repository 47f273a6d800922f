//! Failed starts of one server, and the pauses after them.

use std::time::Instant;

use punctual::minor;

use super::outcome::Failure;
use crate::limits::Limits;

/// Failed starts of a server since one has succeeded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failures {
    pub(crate) count: u32,
    /// Time before which no client causes another start.
    pub(crate) held_until: Option<Instant>,
    /// Reason of the last failure.
    reason: String,
}

impl Failures {
    /// Records that a start has failed, so that the next one for a client is made after a pause.
    pub(crate) fn note(&mut self, why: &str, limits: &Limits, now: Instant) {
        let doubled = 1_u32.checked_shl(self.count).unwrap_or(u32::MAX);
        self.note_without_pause(why);
        let pause = limits.first_pause.saturating_mul(doubled);
        self.held_until = Some(now + pause.min(limits.longest_pause));
    }

    /// Records that a start has failed, after which the next client need not wait.
    pub(crate) fn note_without_pause(&mut self, why: &str) {
        self.count = self.count.saturating_add(1);
        why.clone_into(&mut self.reason);
    }

    /// Forgets all failures.
    pub(crate) fn forgive(&mut self) {
        *self = Self::default();
    }

    /// Checks whether a client may cause a start of the server `name`, of which so many may fail; 0 is without limit.
    ///
    /// # Errors
    /// STARTS_HELD_BACK, with the reason of the last failure. A client learns so of a failed start, too, whose LocateRequest could not be
    /// answered with the exception, and which has therefore sent its request.
    pub(crate) fn check(&self, name: &str, limit: u32, now: Instant) -> Result<(), Failure> {
        let Self { count, reason, .. } = self;
        let next = if limit > 0 && *count >= limit {
            format!("its limit is {limit}: an administrator has to start it")
        } else if let Some(until) = self.held_until.filter(|until| *until > now) {
            format!("the next one is made in {:.1?}", until.duration_since(now))
        } else {
            return Ok(());
        };
        let why = format!(
            "{count} starts of `{name}` have failed in a row, and {next}; of the last one: {reason}"
        );
        Err(Failure::new(minor::STARTS_HELD_BACK, why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_the_reason_of_the_last_failure() {
        let (mut failures, now) = (Failures::default(), Instant::now());
        assert_eq!(failures.check("plant", 1, now), Ok(()));
        failures.note("no program", &Limits::default(), now);
        for (limit, why) in [
            (0, "the next one is made in 500.0ms"),
            (1, "its limit is 1"),
        ] {
            let refused = failures.check("plant", limit, now).unwrap_err();
            assert_eq!(refused.minor, minor::STARTS_HELD_BACK);
            assert!(refused.reason.contains(why), "{}", refused.reason);
            assert!(refused.reason.contains("no program"), "{}", refused.reason);
        }
        failures.forgive();
        assert_eq!(failures.check("plant", 1, now), Ok(()));
    }
}
