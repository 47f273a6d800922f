//! Maximum urgency first (Stewart and Khosla 1991).

use std::cmp::{Ordering, Reverse};

use super::{Dispatching, Strategy};
use crate::assignment::Candidate;

/// Maximum urgency first (Stewart and Khosla 1991): one level for each criticality, the highest
/// first, served by laxity.
///
/// Protects critical operations in an overload: whatever the others do, the critical ones meet their
/// deadlines if they fit by themselves. Costs queues ordered by laxity; and an uncritical operation
/// of a short deadline may miss it where EDF would not. Needs up to five levels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Muf;

impl Strategy for Muf {
    fn name(&self) -> &'static str {
        "MUF"
    }

    fn level_order(&self, one: &Candidate, other: &Candidate) -> Ordering {
        Reverse(one.criticality).cmp(&Reverse(other.criticality))
    }

    fn dispatching(&self, _: &Candidate) -> Dispatching {
        Dispatching::Laxity
    }
}
