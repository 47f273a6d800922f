//! How requests stand that wait with others of the same thread priority: in the order that their clients allow
//! (Messaging::QueueOrder; CORBA 3.3 part 2, §22.2.5.8).
//!
//! Requests that one after the other want the same order make a run, within which they are in that order. Runs stand in the
//! order in which they came, so that requests with different orders do not pass each other.

use std::cmp::Reverse;

/// What a request says of its place among others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    order: By,
    /// The greater, the sooner.
    rank: i64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum By {
    #[default]
    Arrival,
    Priority,
    Deadline,
}

/// The place of a request: the greatest is served first.
pub(crate) type QueuePlace = (Reverse<u64>, i64, Reverse<u64>);

/// Gives requests their places, as they come.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// How many there ever were, and how many runs.
    requests: u64,
    runs: u64,
    last: By,
}

impl Standing {
    pub(crate) fn by_priority(priority: i16) -> Self {
        Self {
            order: By::Priority,
            rank: priority.into(),
        }
    }

    /// By its end, in whatever unit; one without an end is the last.
    pub(crate) fn by_deadline(end: Option<u64>) -> Self {
        let end = end.map_or(i64::MAX, |end| i64::try_from(end).unwrap_or(i64::MAX));
        Self {
            order: By::Deadline,
            rank: -end,
        }
    }
}

impl Places {
    /// That of the next one.
    pub(crate) fn next(&mut self, standing: Standing) -> QueuePlace {
        self.requests += 1;
        if self.last != standing.order {
            self.runs += 1;
            self.last = standing.order;
        }
        (Reverse(self.runs), standing.rank, Reverse(self.requests))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order in which requests are served.
    fn served(standings: &[Standing]) -> Vec<usize> {
        let mut places = Places::default();
        let mut waiting: Vec<_> = (0..)
            .zip(standings)
            .map(|(number, one)| (places.next(*one), number))
            .collect();
        waiting.sort_unstable_by(|one, other| other.cmp(one));
        waiting.into_iter().map(|(_, number)| number).collect()
    }

    #[test]
    fn requests_of_one_run_are_in_the_order_that_they_want() {
        assert_eq!(served(&[Standing::default(); 3]), [0, 1, 2]);
        let by_priority = [1, 7, -3, 7].map(Standing::by_priority);
        assert_eq!(served(&by_priority), [1, 3, 0, 2]);
        let by_deadline = [Some(9), None, Some(3), Some(u64::MAX)].map(Standing::by_deadline);
        assert_eq!(served(&by_deadline), [2, 0, 1, 3]);
    }

    #[test]
    fn requests_with_different_orders_do_not_pass_each_other() {
        let (low, high) = (Standing::by_priority(1), Standing::by_priority(2));
        let temporal = Standing::default();
        assert_eq!(served(&[low, temporal, low, high]), [0, 1, 3, 2]);
        let soon = Standing::by_deadline(Some(1));
        assert_eq!(served(&[low, high, soon, high]), [1, 0, 2, 3]);
    }
}
