//! Queue order among requests of equal urgency, as their clients allow it (Messaging::QueueOrder; CORBA 3.3 part 2,
//! §22.2.5.8).
//!
//! Successive requests that ask for one order form a run and are sorted within it. Runs are served in the order in
//! which they arrived, so that requests with different orders do not overtake each other.

use super::queue_order::Order;
use std::cmp::Reverse;

/// Order that a request asks for, and its rank in that order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueueRank {
    order: Order,
    /// Rank; requests with a greater rank are served sooner.
    rank: i64,
}

/// Sort key of a request in a queue (run, rank, number); the request with the greatest key is
/// served first.
pub(crate) type QueuePlace = (Reverse<u64>, i64, Reverse<u64>);

/// Generator of sort keys for requests, in the order of their arrival.
#[derive(Debug, Default)]
pub(crate) struct QueuePlaces {
    /// Number of requests that have been given a sort key.
    requests: u64,
    /// Number of runs of requests with the same queue order so far.
    runs: u64,
    last: Order,
}

impl QueueRank {
    pub(crate) fn by_priority(priority: i16) -> Self {
        Self {
            order: Order::Priority,
            rank: priority.into(),
        }
    }

    /// Returns the rank for an end time, in any unit. Requests without an end time get the lowest
    /// rank.
    pub(crate) fn by_deadline(end: Option<u64>) -> Self {
        let end = end.map_or(i64::MAX, |end| i64::try_from(end).unwrap_or(i64::MAX));
        Self {
            order: Order::Deadline,
            rank: -end,
        }
    }
}

impl QueuePlaces {
    /// Returns the sort key of the next request to arrive.
    pub(crate) fn next(&mut self, rank: QueueRank) -> QueuePlace {
        self.requests += 1;
        if self.last != rank.order {
            self.runs += 1;
            self.last = rank.order;
        }
        (Reverse(self.runs), rank.rank, Reverse(self.requests))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the indices of requests with these ranks in the order in which they are served.
    fn served(ranks: &[QueueRank]) -> Vec<usize> {
        let mut places = QueuePlaces::default();
        let mut waiting: Vec<_> = (0..)
            .zip(ranks)
            .map(|(number, one)| (places.next(*one), number))
            .collect();
        waiting.sort_unstable_by(|one, other| other.cmp(one));
        waiting.into_iter().map(|(_, number)| number).collect()
    }

    #[test]
    fn requests_of_one_run_are_in_the_order_that_they_want() {
        assert_eq!(served(&[QueueRank::default(); 3]), [0, 1, 2]);
        let by_priority = [1, 7, -3, 7].map(QueueRank::by_priority);
        assert_eq!(served(&by_priority), [1, 3, 0, 2]);
        let by_deadline = [Some(9), None, Some(3), Some(u64::MAX)].map(QueueRank::by_deadline);
        assert_eq!(served(&by_deadline), [2, 0, 1, 3]);
    }

    #[test]
    fn requests_with_different_orders_do_not_pass_each_other() {
        let (low, high) = (QueueRank::by_priority(1), QueueRank::by_priority(2));
        let temporal = QueueRank::default();
        assert_eq!(served(&[low, temporal, low, high]), [0, 1, 3, 2]);
        let soon = QueueRank::by_deadline(Some(1));
        assert_eq!(served(&[low, high, soon, high]), [1, 0, 2, 3]);
    }
}
