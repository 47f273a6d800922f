//! Batch of calls that a client process makes, and its outcome, which is returned as numbers.

use crate::Result;
use crate::experiment::Pair;
use crate::peer::nanoseconds;
use crate::protocol::Order;
use crate::statistics::Moments;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Batch of calls of the high client while a number of low clients call, at full load or paced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Batch {
    /// Number of low-priority clients that take part in the batch.
    pub(super) low: u16,
    /// Number of timed calls that the high-priority client makes.
    pub(super) calls: u32,
    /// Number of warm-up calls of the high client ahead of the timed ones.
    pub(super) warm_up: u32,
    /// Microseconds from the start of a call of the high client to the start of the next; 0:
    /// without a pause.
    pub(super) pace: u64,
    /// The same of each low client.
    pub(super) low_pace: u64,
    /// Number of calls of each low client; 0: as many as it makes until the high client has
    /// finished.
    pub(super) low_calls: u32,
    /// Milliseconds after which all clients stop, even if calls are left.
    pub(super) limit: u64,
}

/// Results of one batch of calls by clients of high and low priority.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    /// Time from the start of the high client's first timed call to the end of its last.
    pub(super) took: Duration,
    /// Nanoseconds of each timed call of the high client.
    pub(super) high: Vec<u64>,
    /// Times of each low client's calls; if the low clients run until the high client has finished,
    /// only calls made while its timed calls ran.
    pub(super) low: Vec<Moments>,
}

/// Makes the client of a pair run a batch.
///
/// # Errors
/// A call fails, or the processes are gone.
pub(super) fn perform(pair: &mut Pair, batch: &Batch) -> Result<Outcome> {
    Outcome::of(&pair.ask(Order(*batch))?)
}

impl Batch {
    /// Returns the time limit after which a process that has not answered counts as failed.
    pub(super) fn watchdog(self) -> Duration {
        Duration::from_millis(self.limit) + Duration::from_secs(4)
    }
}

impl Outcome {
    /// Returns the outcome as a list of numbers: the duration, the number of low clients, the three
    /// moments of each of them, the samples of the high client.
    pub(super) fn numbers(&self) -> Vec<u64> {
        let took = nanoseconds(self.took);
        let low = self.low.iter();
        let low = low.flat_map(|one| [one.calls, one.sum.to_bits(), one.squares.to_bits()]);
        let head = [took, self.low.len() as u64];
        head.into_iter()
            .chain(low)
            .chain(self.high.iter().copied())
            .collect()
    }

    /// Reads an outcome from a list of numbers (see [`Self::numbers`]).
    ///
    /// # Errors
    /// There are too few.
    pub(super) fn of(numbers: &[u64]) -> Result<Self> {
        let short = || "a client told less than it did";
        let ([took, clients], rest) = numbers.split_first_chunk().ok_or_else(short)?;
        let clients = usize::try_from(*clients)?;
        let low = clients.checked_mul(3).ok_or_else(short)?;
        let (low, high) = rest.split_at_checked(low).ok_or_else(short)?;
        let (low, _) = low.as_chunks();
        let low = low.iter().map(|&[calls, sum, squares]| Moments {
            calls,
            sum: f64::from_bits(sum),
            squares: f64::from_bits(squares),
        });
        Ok(Self {
            took: Duration::from_nanos(*took),
            high: high.to_vec(),
            low: low.collect(),
        })
    }

    /// Returns the merged moments of all low clients' calls.
    pub(super) fn low_in_all(&self) -> Moments {
        let low = self.low.iter().copied();
        low.fold(Moments::default(), Moments::and)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_read_back_as_it_was_told() {
        let outcome = Outcome {
            took: Duration::from_secs(2),
            high: vec![5, 7],
            low: vec![Moments::from_iter([100, 300]), Moments::from_iter([200])],
        };
        let numbers = outcome.numbers();
        assert_eq!(Outcome::of(&numbers).unwrap(), outcome);
        assert!(Outcome::of(&numbers[..5]).is_err());
        assert!(Outcome::of(&[1, u64::MAX]).is_err());
        assert_eq!(outcome.low_in_all().mean(), Some(200.0));
    }
}
