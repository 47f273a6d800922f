//! Minimum laxity first (Mok 1983).

use std::cmp::Ordering;

use super::{Dispatching, Strategy};
use crate::assignment::Candidate;

/// Minimum laxity first (Mok 1983): one level, served by the time that an operation can still wait.
///
/// Optimal on one processor with preemption, as EDF is, and it sees a miss before the deadline has
/// passed. Costs a queue ordered by laxity, good estimates of execution times, and more changes
/// between operations of nearly equal laxity than EDF. In an overload any operation may miss.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mlf;

impl Strategy for Mlf {
    fn name(&self) -> &'static str {
        "MLF"
    }

    fn level_order(&self, _: &Candidate, _: &Candidate) -> Ordering {
        Ordering::Equal
    }

    fn dispatching(&self, _: &Candidate) -> Dispatching {
        Dispatching::Laxity
    }
}
