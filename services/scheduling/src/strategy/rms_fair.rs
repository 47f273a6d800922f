//! Rate monotonic scheduling with fair admission (Gill, Levine and Schmidt 2001).

use std::cmp::{Ordering, Reverse};

use super::{Dispatching, Limit, Rate, Rms, Strategy};
use crate::assignment::Candidate;

/// Rate monotonic scheduling (see [`Rms`]) with fair admission by rising rate index: every operation
/// gets its lowest rate before any gets a higher one; at each index the shortest periods go first.
///
/// As in TAO, this strategy alone disregards criticality in admission: an overload may leave out a
/// critical operation of a long period. [`MufFair`](super::MufFair) does not.
#[derive(Clone, Copy, Debug, Default)]
pub struct RmsFair;

impl Strategy for RmsFair {
    fn name(&self) -> &'static str {
        "RMS_FAIR"
    }

    fn level_order(&self, one: &Candidate, other: &Candidate) -> Ordering {
        Rms.level_order(one, other)
    }

    fn dispatching(&self, candidate: &Candidate) -> Dispatching {
        Rms.dispatching(candidate)
    }

    fn limit(&self) -> Limit<'static> {
        Limit::default()
    }

    fn admission_order(&self, one: &Rate<'_>, other: &Rate<'_>) -> Ordering {
        let key = |rate: &Rate<'_>| {
            let one = rate.candidate;
            (rate.index, one.task.period, Reverse(one.importance))
        };
        key(one).cmp(&key(other))
    }
}
