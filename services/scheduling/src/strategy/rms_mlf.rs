//! Static queues for critical rates, a laxity queue for the rest (Gill, Levine and Schmidt 2001).

use std::cmp::Ordering;

use super::{Dispatching, Strategy};
use crate::assignment::Candidate;
use crate::level::Level;

/// Rate monotonic levels for critical operations, and one level below them, served by laxity, for the
/// rest (Gill, Levine and Schmidt 2001). Critical are the criticalities HIGH and VERY_HIGH.
///
/// Optimal for the critical operations as RMS is, and isolates them from the others, which use the
/// time that is left as MLF does. Costs a queue ordered by laxity for the uncritical ones alone.
/// Needs a level for each critical period, and one more.
///
/// TAO separates VERY_HIGH from HIGH, and each criticality of the rest, by levels of their own; here
/// the critical operations are in one rate monotonic order, and the rest in one queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct RmsMlf;

impl Strategy for RmsMlf {
    fn name(&self) -> &'static str {
        "RMS_MLF"
    }

    fn level_order(&self, one: &Candidate, other: &Candidate) -> Ordering {
        match (is_critical(one), is_critical(other)) {
            (true, true) => one.task.period.cmp(&other.task.period),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => Ordering::Equal,
        }
    }

    fn dispatching(&self, candidate: &Candidate) -> Dispatching {
        if is_critical(candidate) {
            Dispatching::Static
        } else {
            Dispatching::Laxity
        }
    }
}

fn is_critical(candidate: &Candidate) -> bool {
    candidate.criticality >= Level::High
}
