//! Maximum urgency first with fair admission (Gill, Levine and Schmidt 2001).

use std::cmp::{Ordering, Reverse};

use super::{Dispatching, Limit, Muf, Rate, Strategy};
use crate::assignment::Candidate;

/// Maximum urgency first (see [`Muf`]) with fair admission by rising rate index: every operation gets
/// its lowest rate before any gets a higher one; at each index the most critical go first.
///
/// Suits operations that may run at several rates: an overload lowers the rates of all before it
/// leaves one out. With one rate for each operation it admits as MUF does.
#[derive(Clone, Copy, Debug, Default)]
pub struct MufFair;

impl Strategy for MufFair {
    fn name(&self) -> &'static str {
        "MUF_FAIR"
    }

    fn level_order(&self, one: &Candidate, other: &Candidate) -> Ordering {
        Muf.level_order(one, other)
    }

    fn dispatching(&self, candidate: &Candidate) -> Dispatching {
        Muf.dispatching(candidate)
    }

    fn limit(&self) -> Limit<'static> {
        Limit::default()
    }

    fn admission_order(&self, one: &Rate<'_>, other: &Rate<'_>) -> Ordering {
        let key = |rate: &Rate<'_>| {
            let one = rate.candidate;
            let criticality = Reverse(one.criticality);
            (
                rate.index,
                criticality,
                one.task.period,
                Reverse(one.importance),
            )
        };
        key(one).cmp(&key(other))
    }
}
