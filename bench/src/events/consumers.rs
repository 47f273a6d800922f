//! Consumers of `dispatching`: urgent ones that record when their events come, and others that
//! compute.

use crate::Result;
use crate::peer::nanoseconds_since;
use crate::rt::work;
use punctual_rtevent::{Consumer, Event, Pushed};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Times from push to receipt of all urgent consumers. An event's data are the nanoseconds from the
/// start to its push.
#[derive(Debug)]
pub(super) struct Receipts {
    start: Instant,
    expected: usize,
    times: Mutex<Vec<u64>>,
    complete: Condvar,
}

impl Receipts {
    /// Makes the receipts of so many events.
    pub(super) fn new(start: Instant, expected: usize) -> Self {
        Self {
            start,
            expected,
            times: Mutex::new(Vec::with_capacity(expected)),
            complete: Condvar::new(),
        }
    }

    /// Returns the time that an event pushed now has as its data.
    pub(super) fn now(&self) -> u64 {
        nanoseconds_since(self.start)
    }

    /// Waits until all events have come, at most so long.
    ///
    /// # Errors
    /// Some have not.
    pub(super) fn check(&self, longest: Duration) -> Result<()> {
        match self.wait(longest) {
            come if come >= self.expected => Ok(()),
            come => Err(format!(
                "{come} of {} urgent events came in {longest:?}: try a longer `--pace`",
                self.expected
            )
            .into()),
        }
    }

    /// Waits until all events have come, at most so long; returns how many have.
    fn wait(&self, longest: Duration) -> usize {
        let times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let is_short = |times: &mut Vec<u64>| times.len() < self.expected;
        let waited = self.complete.wait_timeout_while(times, longest, is_short);
        waited.unwrap_or_else(PoisonError::into_inner).0.len()
    }

    /// Removes and returns the times, in the order of their receipt.
    pub(super) fn take(&self) -> Vec<u64> {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut times)
    }

    fn add(&self, times: impl Iterator<Item = u64>) {
        let mut all = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(times);
        if all.len() >= self.expected {
            self.complete.notify_all();
        }
    }
}

/// Urgent consumer.
pub(super) struct Urgent(pub(super) Arc<Receipts>);

impl Consumer<u64> for Urgent {
    fn push(&self, events: &[Event<u64>]) -> Pushed {
        let now = self.0.now();
        let times = events.iter().map(|event| now.saturating_sub(event.data));
        self.0.add(times);
        Pushed::Done
    }
}

/// Consumer that computes for each event, and counts it.
pub(super) struct Computing {
    /// Processor time for an event.
    pub(super) work: Duration,
    /// Events of all such consumers.
    pub(super) served: Arc<AtomicU64>,
}

impl Consumer<u64> for Computing {
    fn push(&self, events: &[Event<u64>]) -> Pushed {
        for _ in events {
            work::busy(self.work);
            // Relaxed: the count publishes no other data.
            self.served.fetch_add(1, Ordering::Relaxed);
        }
        Pushed::Done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_rtevent::Header;

    #[test]
    fn receipts_are_complete_with_the_last_event_and_say_how_many_came_before() {
        let receipts = Arc::new(Receipts::new(Instant::now(), 3));
        let urgent = Urgent(receipts.clone());
        let event = |data| Event::new(Header::new(16, 1), data);
        urgent.push(&[event(0), event(u64::MAX)]);
        assert_eq!(receipts.wait(Duration::ZERO), 2);
        urgent.push(&[event(0)]);
        assert_eq!(receipts.wait(Duration::from_secs(60)), 3);
        let times = receipts.take();
        // An event of the future took no time.
        assert_eq!((times.len(), times[1]), (3, 0));
    }
}
