//! Times between attempts to connect again.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

/// Times between attempts: each about twice the one before, between the first and the longest, and chosen at
/// random around that, so that peers of a server that has come back do not all arrive at once.
#[derive(Debug)]
pub(super) struct Backoff {
    next: Duration,
    first: Duration,
    longest: Duration,
    random: RandomState,
    attempts: u64,
}

impl Backoff {
    /// Makes the sequence of pauses between attempts, from the first one.
    pub(super) fn new(first: Duration, longest: Duration) -> Self {
        Self {
            next: first,
            first,
            longest,
            random: RandomState::new(),
            attempts: 0,
        }
    }

    /// Returns the time until the next attempt: between half and all of it.
    pub(super) fn wait(&mut self) -> Duration {
        self.attempts += 1;
        let share = (self.random.hash_one(self.attempts) % 1_000) as u32;
        let wait = self.next / 2 + (self.next / 2_000) * share;
        self.next = (self.next * 2).min(self.longest);
        wait
    }

    /// Begins with the first time again, after an attempt that succeeded.
    pub(super) fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_vary_by_half() {
        let first = Duration::from_millis(100);
        let mut backoff = Backoff::new(first, Duration::from_millis(400));
        for whole in [100, 200, 400, 400] {
            let wait = backoff.wait();
            let whole = Duration::from_millis(whole);
            assert!(wait >= whole / 2 && wait <= whole, "{wait:?} of {whole:?}");
        }
        backoff.reset();
        assert!(backoff.wait() <= first);
    }
}
