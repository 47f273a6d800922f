//! Criticality first, importance only among equals.

use std::cmp::{Ordering, Reverse};

use super::{Dispatching, Dms, Strategy};
use crate::assignment::Candidate;

/// Criticality first (Gill, Levine and Schmidt 2001): static levels by criticality, and within each
/// criticality by `D - J` as [`Dms`]. Importance decides only between operations that are equal in
/// both: they share a level.
///
/// Protects critical operations from the overruns of others, without queues that are ordered at run
/// time, at the price of utilisation: an uncritical operation of a short deadline may miss it where
/// it would not under [`Dms`]. Needs a level for each deadline of each criticality.
#[derive(Clone, Copy, Debug, Default)]
pub struct Criticality;

impl Strategy for Criticality {
    fn name(&self) -> &'static str {
        "CRITICALITY"
    }

    fn level_order(&self, one: &Candidate, other: &Candidate) -> Ordering {
        let by_criticality = Reverse(one.criticality).cmp(&Reverse(other.criticality));
        by_criticality.then_with(|| Dms.level_order(one, other))
    }

    fn dispatching(&self, _: &Candidate) -> Dispatching {
        Dispatching::Static
    }
}
