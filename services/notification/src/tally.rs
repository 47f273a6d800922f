//! Counts of events by what became of them: of a proxy, which are part of its channel's and of the service's.

use std::sync::Arc;

use parking_lot::Mutex;
use punctual_events::Count;

use crate::metrics::Metrics;
use crate::outcome::{OUTCOMES, Outcome};

/// Longest reason that is kept, in characters.
const LONGEST: usize = 500;

/// Number of each outcome.
#[derive(Debug, Default)]
pub(crate) struct Counts([Count; OUTCOMES]);

impl Counts {
    pub(crate) fn of(&self, outcome: Outcome) -> u64 {
        self.0[outcome as usize].get()
    }
}

/// Counts of one proxy.
#[derive(Debug)]
pub(crate) struct Tally {
    own: Counts,
    channel: Arc<Counts>,
    service: Arc<Metrics>,
    last_failure: Mutex<Option<Box<str>>>,
}

impl Tally {
    /// Makes the counts of a new proxy.
    pub(crate) fn new(channel: Arc<Counts>, service: Arc<Metrics>) -> Self {
        Self {
            own: Counts::default(),
            channel,
            service,
            last_failure: Mutex::default(),
        }
    }

    /// Counts events or calls. Does not block.
    pub(crate) fn add(&self, outcome: Outcome, number: usize) {
        if number == 0 {
            return;
        }
        self.own.0[outcome as usize].add(number);
        self.channel.0[outcome as usize].add(number);
        self.service.of(outcome).add(number);
    }

    /// Counts a call that failed and is made again, with the reason.
    pub(crate) fn retried(&self, reason: &dyn std::fmt::Display) {
        // A peer may have chosen a part of it.
        let reason: String = reason.to_string().chars().take(LONGEST).collect();
        *self.last_failure.lock() = Some(reason.into());
        // Afterwards, so that a failure that is counted has its reason.
        self.add(Outcome::Retried, 1);
    }

    /// Returns the number of one outcome at this proxy.
    pub(crate) fn of(&self, outcome: Outcome) -> u64 {
        self.own.of(outcome)
    }

    /// Returns the reason of the last call that failed; empty without one.
    pub(crate) fn last_failure(&self) -> String {
        let last = self.last_failure.lock();
        last.as_deref().unwrap_or_default().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_proxy_counts_is_counted_for_its_channel_and_the_service() {
        let (channel, service) = (Arc::<Counts>::default(), Arc::<Metrics>::default());
        let tallies = [0; 2].map(|_| Tally::new(channel.clone(), service.clone()));
        tallies[0].add(Outcome::Expired, 2);
        tallies[1].add(Outcome::Expired, 3);
        tallies[1].retried(&"the line was cut");
        assert_eq!(tallies[0].of(Outcome::Expired), 2);
        assert_eq!(tallies[0].last_failure(), "");
        assert_eq!(tallies[1].last_failure(), "the line was cut");
        assert_eq!(channel.of(Outcome::Expired), 5);
        assert_eq!(service.expired.get(), 5);
        assert_eq!(
            (channel.of(Outcome::Retried), service.retried.get()),
            (1, 1)
        );
    }
}
